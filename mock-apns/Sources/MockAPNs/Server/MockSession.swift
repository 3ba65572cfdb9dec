import Glibc
import HTTP2
import Measurement
import Networking
import Payloads

/// The HTTP/2 side of one connection: gathers requests, has them judged, answers, ticks them off.
///
/// Cost a push: copying the headers that are looked at (about 150 bytes), one walk over the payload, one bit in the ledger.
final class MockSession: ServerSession {
    unowned(unsafe) let worker: MockWorker
    /// The same, for the calls of every push: without counting a reference.
    private let uncountedWorker: Unmanaged<MockWorker>
    let token: UInt64
    private let role: ListenerRole
    /// Requests are kept for whoever asks, with all their headers.
    private let keepsHeaders: Bool
    /// More than one stream is allowed.
    private var isOpenedUp: Bool
    /// Of this connection.
    @exclusivity(unchecked) private(set) var requests: UInt64 = 0
    @exclusivity(unchecked) private(set) var accepted: UInt64 = 0
    @exclusivity(unchecked) private(set) var rejected: UInt64 = 0
    /// Streams begun and not over.
    @exclusivity(unchecked) private(set) var openStreams = 0
    /// Of these, those whose request is not complete.
    @exclusivity(unchecked) private var unfinished = 0
    /// What GOAWAY named as the last stream handled.
    @exclusivity(unchecked) var lastHandled = Int32.max
    @exclusivity(unchecked) var client: RequestChecks.Client
    /// Requests' memory for the next ones, and whose payload may still be in the read buffer.
    @exclusivity(unchecked) private var states = RequestStates()
    private static let names = names { KnownHeader.mark($0, $1) }
    /// What requests that repeat their header fields have of them.
    private let patterns: [HeaderPattern]
    /// The same, for the calls of every push: without counting a reference.
    private let uncountedPatterns: UnsafeMutablePointer<Unmanaged<HeaderPattern>>
    private var patternsTaken: UInt32 = 0
    /// The `authorization` value last found valid here.
    @exclusivity(unchecked) private var knownToken: UnsafeMutablePointer<UInt8>?
    @exclusivity(unchecked) private var knownTokenLength = 0
    /// Samples of push times whose answers are to be written.
    @exclusivity(unchecked) private var leaving: [Int] = []
    /// Answers that are to be written, to pushes that were read at the same time, and when that was.
    @exclusivity(unchecked) private var unwritten: UInt64 = 0
    @exclusivity(unchecked) private var unwrittenSince: UInt64 = 0
    /// The last header block that came in pieces, and when it began.
    @exclusivity(unchecked) private var headers: (stream: Int32, begunAt: UInt64) = (0, 0)
    /// Bodies of answers being sent, by stream.
    @exclusivity(unchecked) var pendingBodies: [Int32: [UInt8]] = [:]
    /// nil: 4xx answers cost the client nothing.
    @exclusivity(unchecked) private var penalty: Penalty?
    /// What fault rules still have to do here; nil: none had anything.
    @exclusivity(unchecked) var scripted: ScriptedStreams?
    /// The last stream that a GOAWAY has named.
    var lastNamed: Int32?
    /// How a fault rule ends the connection, once all there is for the client is written.
    var closing: FaultRule.Closing?

    init(_ worker: MockWorker, token: UInt64, role: ListenerRole, certificate: PeerCertificate?) {
        self.worker = worker
        uncountedWorker = .passUnretained(worker)
        patterns = (0..<ServerSession.mostRepeated).map { _ in HeaderPattern() }
        uncountedPatterns = .allocate(capacity: patterns.count)
        for (place, pattern) in patterns.enumerated() {
            (uncountedPatterns + place).initialize(to: .passUnretained(pattern))
        }
        self.token = token
        self.role = role
        keepsHeaders = worker.keepsPushes
        var settings = worker.sessionSettings
        // RFC 9113 has no such rule; Apple's service does: "Establishing a token-based connection to APNs".
        isOpenedUp = worker.configuration.allStreamsAtOnce || certificate != nil || worker.checks.tokens.isOff
        if !isOpenedUp { settings.maxConcurrentStreams = 1 }
        penalty = worker.dice.plan.connections.penalty.map {
            Penalty($0, streams: worker.configuration.maxConcurrentStreams)
        }
        client = RequestChecks.Client(environment: role.environment, certificate: certificate)
        super.init(settings: settings, isTraced: worker.log.tracesFrames, names: Self.names)
        bodyRoom = Self.mostOutput
    }

    deinit {
        for context in contexts { Unmanaged<RequestState>.fromOpaque(Self.pointer(context)).release() }
        uncountedPatterns.deallocate()
        knownToken?.deallocate()
    }

    var environment: PushEnvironment { client.environment }

    /// A request that is not over keeps its payload, which lies in the read buffer.
    func keepPayload(_ state: RequestState) {
        state.keepBorrowed()
        states.note(state)
    }

    /// The read buffer is about to change.
    func keepBorrowed() { states.keepBorrowed() }

    /// What was answered since the last call is about to be written.
    @inline(__always)
    func willWrite() {
        if unwritten > 0 { noteAnswers(at: worker.loop.now) }
        guard !leaving.isEmpty else { return }
        worker.noteDepartures(leaving)
        leaving.removeAll(keepingCapacity: true)
    }

    private func noteAnswers(at now: UInt64) {
        worker.statistics.answerTimes.note(unwritten, now > unwrittenSince ? now - unwrittenSince : 0)
        unwritten = 0
    }

    // MARK: Receiving

    /// A stream's context is its request, retained until the stream closes.
    @inline(__always)
    private static func pointer(_ context: UInt) -> UnsafeMutableRawPointer {
        UnsafeMutableRawPointer(bitPattern: context)!
    }

    @inline(__always)
    func withState<Result>(_ context: UInt, _ body: (RequestState) -> Result) -> Result {
        Unmanaged<RequestState>.fromOpaque(Self.pointer(context))._withUnsafeGuaranteedRef(body)
    }

    override func didBeginHeaders(stream: Int32) { headers = (stream, worker.now) }

    /// When the header block began that is not whole yet; nil when there is none.
    var unfinishedHeadersSince: UInt64? { isInHeaders ? headers.begunAt : nil }

    /// Memory for a request that begins.
    @inline(__always)
    private func begin(_ stream: Int32) -> Unmanaged<RequestState> {
        let state = states.take()
        state._withUnsafeGuaranteedRef {
            $0.stream = stream
            $0.begunAt =
                headers.stream == stream ? headers.begunAt : uncountedWorker._withUnsafeGuaranteedRef { $0.now }
        }
        openStreams &+= 1
        unfinished &+= 1
        return state
    }

    override func didBeginRequest(stream: Int32) -> UInt {
        let state = begin(stream)
        state._withUnsafeGuaranteedRef { $0.beginHeaders() }
        return UInt(bitPattern: state.toOpaque())
    }

    override func didRepeatRequest(stream: Int32, headers number: Int, path: UnsafeBufferPointer<UInt8>) -> UInt {
        let state = begin(stream)
        state._withUnsafeGuaranteedRef { state in
            uncountedPatterns[number]._withUnsafeGuaranteedRef { state.repeatHeaders($0, path: path) }
        }
        return UInt(bitPattern: state.toOpaque())
    }

    override func didEndHeaders(context: UInt, _ number: Int) -> Bool {
        withState(context) {
            states.note($0)
            // The first request with a token has yet to show that it is valid.
            guard !keepsHeaders, !$0.hasDuplicates, $0.hasKnownToken || !$0.has(.authorization) else { return false }
            patternsTaken = patternsTaken == .max ? 1 : patternsTaken + 1
            guard patterns[number].take($0, number: patternsTaken) else { return false }
            $0.isLike(patterns[number])
            return true
        }
    }

    override func didReceiveHeader(context: UInt, _ field: HPACKField) -> Bool {
        if keepsHeaders { keep(field, context) }
        guard let header = KnownHeader(mark: field.mark) else { return true }
        let (value, length) = (field.value, field.valueLength)
        if header == .authorization, length == knownTokenLength, let knownToken, memcmp(knownToken, value, length) == 0
        {
            withState(context) {
                $0.note(.authorization)
                $0.hasKnownToken = true
            }
            return true
        }
        return withState(context) {
            if header == .authorization { $0.hasKnownToken = false }
            $0.set(header, value, length)
            // Far more than APNs' headers can take: such a request is answered 431.
            return !$0.isOverflowing
        }
    }

    /// Out of the way of servers that keep nothing.
    @inline(never)
    private func keep(_ field: HPACKField, _ context: UInt) { withState(context) { $0.headers.add(field) } }

    /// RFC 6585 section 5. Not a push that could be judged: it is counted as `oversized` alone.
    override func didReceiveTooManyHeaders(stream: Int32, context: UInt) -> Bool {
        withState(context) {
            $0.isJudged = true
            states.note($0)
        }
        unfinished &-= 1
        MockStatistics.increment(worker.statistics.bounds.oversized)
        worker.log.debug(
            "connection \(token), stream \(stream): more than \(RequestState.headerCapacity) bytes of headers")
        let block = ResponseBlock(capacity: 16)
        block.addStatus(431)
        submitResponse(block, stream: stream, hasBody: false)
        return true
    }

    override func didReceiveData(stream: Int32, context: UInt, _ bytes: UnsafePointer<UInt8>, _ count: Int) {
        withState(context) {
            guard !$0.isJudged else { return }
            if $0.append(bytes, count) { states.borrows($0) } else { states.note($0) }
        }
    }

    override func didEnd(stream: Int32, context: UInt) {
        withState(context) { state in
            if !state.isJudged { uncountedWorker._withUnsafeGuaranteedRef { answer(state, $0) } }
        }
    }

    override func didClose(stream: Int32, context: UInt, code: ErrorCode) {
        if !pendingBodies.isEmpty { pendingBodies[stream] = nil }
        openStreams &-= 1
        withState(context) { state in
            if !state.isJudged { unfinished &-= 1 }
            if state.isWaiting || state.isHeld { abandonAnswer(state) }
            if let scripted { scripted.forget(stream) }
            state.reset()
        }
        states.give(Unmanaged.fromOpaque(Self.pointer(context)))
    }

    // MARK: Answering

    private func answer(_ state: RequestState, _ worker: MockWorker) {
        // Above what GOAWAY named: not handled, the client sends it again elsewhere.
        guard state.stream <= lastHandled else { return }
        state.isJudged = true
        unfinished &-= 1
        requests += 1
        if worker.hasNamespaces { worker.enter(state, client, role) }
        if role.isManagement {
            manage(state)
        } else {
            judge(state, worker)
        }
        if worker.hasNamespaces { worker.leave() }
        state.dropBody()
        if let limit = worker.dice.plan.connections.goAwayAfter, requests == limit { goAway(.shutdown) }
    }

    private func judge(_ state: RequestState, _ worker: MockWorker) {
        let verdict =
            worker.isShuttingDown
            ? .broken(.shutdown)
            : worker.judge(state, client: &client)
        if client.hasNewToken { remember(state.value(.authorization)) }
        switch verdict {
        case .accepted(let trace): accept(state, trace, worker)
        case .rejected(let answer):
            if answer.reason == .badPath || answer.reason == .methodNotAllowed || answer.reason == .shutdown,
                isBroadcast(state)
            {
                broadcast(state)
            } else {
                MockStatistics.increment(worker.statistics.requests)
                if !worker.dice.isIdle { return rejectByRules(state, answer) }
                worker.note(state, answer, connection: token, environment)
                respond(state, answer, worker)
            }
        }
    }

    /// The push is right; what happens to it may still be something else.
    private func accept(_ state: RequestState, _ trace: (run: RunID, sequence: UInt64)?, _ worker: MockWorker) {
        MockStatistics.increment(worker.statistics.requests)
        if !worker.dice.isIdle { return acceptByRules(state, trace) }
        var answer = PushAnswer.accepted
        if let reason = worker.deliver(state, trace) {
            answer = .rejected(reason)
        } else {
            worker.tickOff(trace, state)
        }
        worker.note(state, answer, connection: token, environment)
        respond(state, answer, worker)
    }

    /// An answer whose time has come.
    ///
    /// - Returns: false when the stream is over.
    func respond(stream: Int32, _ answer: PushAnswer) -> Bool {
        let context = context(stream: stream)
        guard context != 0 else { return false }
        withState(context) {
            $0.isWaiting = false
            let state = $0
            worker.again(state) {
                let isCounted =
                    !worker.isBeforeReset(state) && scripted?.answers[state.stream]?.isOfChannel != true
                respond(state, answer, worker, isTimed: isCounted)
            }
        }
        return true
    }

    /// The answer to a request on `stream` waits for its time.
    func isWaiting(_ stream: Int32) -> Bool {
        let context = context(stream: stream)
        return context != 0 && withState(context) { $0.isWaiting }
    }

    /// The connection is over: no answer of it waits any more.
    func abandonAnswers() {
        for context in contexts { withState(context) { if $0.isWaiting || $0.isHeld { abandonAnswer($0) } } }
    }

    private func abandonAnswer(_ state: RequestState) {
        worker.again(state) {
            if state.isHeld, !worker.isBeforeReset(state) {
                worker.noteUnanswered(state, .abandoned, connection: token, environment)
            }
            if scripted?.answers[state.stream]?.isOfChannel != true {
                MockStatistics.increment(worker.statistics.abandoned)
            }
            if state.isWaiting { worker.noteAbandoned(state) }
        }
        if state.isWaiting {
            state.isWaiting = false
            worker.abandonAnswer()
        }
        state.isHeld = false
    }

    /// - Parameter isTimed: the time it took is noted: it is a push's, and of after the last reset.
    func respond(_ state: RequestState, _ answer: PushAnswer, _ worker: MockWorker, isTimed: Bool = true) {
        if isTimed {
            if state.begunAt != unwrittenSince {
                if unwritten > 0 { noteAnswers(at: worker.now) }
                unwrittenSince = state.begunAt
            }
            unwritten &+= 1
        }
        if penalty != nil, answer.rawStatus == 0 { penalise(answer.reason) }
        if scripted != nil, respondByScript(state, answer) { return }
        count(answer, state, worker)
        let identifier = state.has(.identifier) ? state.value(.identifier) : nil
        let echoed = identifier.flatMap { RequestChecks.isUUID($0) ? $0 : nil }
        if answer.reason != nil { pendingBodies[state.stream] = worker.answers.body(answer) }
        let block = worker.answers.block(
            answer.reason, requestIdentifier: echoed, drawn: state.drawnIdentifier, unique: state.uniqueIdentifier,
            environment: environment)
        block._withUnsafeGuaranteedRef {
            submitResponse($0, stream: state.stream, hasBody: answer.reason != nil)
        }
    }

    /// What an answer by hand says is no mistake of the client's, and does not come here.
    ///
    /// - Parameter reason: of the answer that is being given; nil: accepted.
    private func penalise(_ reason: Reason?) {
        switch penalty!.note(reason) {
        case .none: break
        case .streams(let limit):
            if limit < worker.configuration.maxConcurrentStreams {
                MockStatistics.increment(worker.statistics.bounds.slowed)
            }
            worker.log.debug("connection \(token): \(limit) streams, by its penalty")
            // One that has not sent a valid token yet has one stream.
            if isOpenedUp { submitSettings([(Frame.Setting.maxConcurrentStreams, limit)]) }
        case .goAway:
            guard let reason, lastHandled == .max else { return }
            MockStatistics.increment(worker.statistics.bounds.cutOff)
            worker.log.debug("connection \(token): told to go away, by its penalty")
            goAway(reason)
        }
    }

    /// Notes what a push is answered, as it is.
    @inline(__always)
    func count(_ answer: PushAnswer, _ state: RequestState, _ worker: MockWorker) {
        if let reason = answer.reason {
            rejected += 1
            worker.statistics.count(reason)
        } else if answer.rawStatus != 0 {
            rejected += 1
            worker.statistics.count(rawStatus: Int(answer.rawStatus))
        } else {
            accepted += 1
            if state.timesSample >= 0 { leaving.append(state.timesSample) }
            MockStatistics.increment(worker.statistics.accepted)
            worker.statistics.count(state.pushType)
        }
    }

    private func manage(_ state: RequestState) {
        let perform = { [self] in
            let answer = worker.channelRequests.manage(state, client: &client, unixTime: worker.unixTime)
            if client.hasNewToken { remember(state.value(.authorization)) }
            return answer
        }
        if !worker.dice.isIdle, answerByRules(state, .management, perform) { return }
        respond(state, perform())
    }

    private func isBroadcast(_ state: RequestState) -> Bool {
        RequestChecks.hasPrefix(state.value(.path), ChannelRequests.broadcastPath)
    }

    private func broadcast(_ state: RequestState) {
        if worker.isShuttingDown { return respond(state, .rejected(.shutdown)) }
        let perform = { [self] in
            let answer = worker.channelRequests.broadcast(
                state, client: &client, unixTime: worker.unixTime, milliseconds: worker.unixMilliseconds
            ) { worker.hub.post([$0]) }
            if client.hasNewToken { remember(state.value(.authorization)) }
            return answer
        }
        if !worker.dice.isIdle, answerByRules(state, .broadcast, perform) { return }
        respond(state, perform())
    }

    private func respond(_ state: RequestState, _ answer: ChannelAnswer) {
        MockStatistics.increment(worker.statistics.channelRequests)
        if let reason = answer.reason { worker.statistics.count(channel: reason) }
        let size = answer.headers.reduce(16) { $0 + $1.name.utf8.count + $1.value.utf8.count + 12 }
        let block = ResponseBlock(capacity: size)
        block.addStatus(answer.status)
        for header in answer.headers { block.add(header.name, header.value) }
        if !answer.body.isEmpty { pendingBodies[state.stream] = answer.body }
        submitResponse(block, stream: state.stream, hasBody: !answer.body.isEmpty)
    }

    private func openUp() {
        isOpenedUp = true
        let limit = penalty?.streams ?? worker.configuration.maxConcurrentStreams
        submitSettings([(Frame.Setting.maxConcurrentStreams, limit)])
    }

    /// Keeps the token that was just found valid; the connection's first one opens it up.
    func remember(_ token: UnsafeRawBufferPointer) {
        client.hasNewToken = false
        forgetHeaders()
        if !isOpenedUp { openUp() }
        knownToken?.deallocate()
        let copy = UnsafeMutablePointer<UInt8>.allocate(capacity: token.count)
        copy.update(from: token.baseAddress!.assumingMemoryBound(to: UInt8.self), count: token.count)
        knownToken = copy
        knownTokenLength = token.count
    }

    // MARK: Memory

    /// Bytes of memory that wait for the client, about: for the rest of its requests, or to be taken by it.
    var held: Int {
        var total = inputCapacity + waitingOutput
        if unfinished > Self.fewUnfinished || !pendingBodies.isEmpty || scripted?.isBusy == true {
            total += states.held
            for body in pendingBodies.values { total += body.capacity }
        }
        return total
    }
    private static let fewUnfinished = 16
    /// Bytes of answers for a client that takes none, from which on bodies wait.
    private static let mostOutput = 1 << 18

    /// Bytes kept for the next requests.
    var spareMemory: Int { states.memory }

    /// Some was asked: of the memory for requests as much is kept as these need at once.
    func settleMemory() {
        states.settle()
        states.keepBorrowed()
    }

    /// Nothing was asked for a while.
    func giveBackMemory() {
        states.dropAll()
        forgetHeaders()
        for pattern in patterns { pattern.forget() }
        rest()
    }

    // MARK: Time passes

    /// GOAWAY naming what has been begun; that is still answered, and nothing after it. Its debug data says why, as the body
    /// of an answer would ("Handling notification responses from APNs").
    func goAway(_ reason: Reason) {
        guard lastHandled == .max else { return }
        lastHandled = lastStream
        lastNamed = lastStream
        submitGoAway(code: .noError, debugData: reason.body(timestamp: 0))
    }

    /// Told to go away, and every stream begun before is over; or cut off.
    var isDone: Bool {
        lastHandled != .max && (openStreams == 0 && scripted?.secondGoAway == nil || closing != nil)
    }

    /// An answer waits for its time, or for others to be answered with.
    var hasAnswersDue: Bool {
        scripted?.isBusy == true || contexts.contains { withState($0) { $0.isWaiting } }
    }

    /// Answers requests that were begun before `limit` and are not complete. Their streams are to be reset with NO_ERROR once
    /// the answers are written, so that the client stops sending (RFC 9113 section 8.1).
    func endUnfinished(begunBefore limit: UInt64) -> [Int32] {
        var ended: [Int32] = []
        for context in contexts {
            withState(context) { state in
                guard state.begunAt < limit else { return }
                if isAnsweredEarly(stream: state.stream) { ended.append(state.stream) }
                guard !state.isJudged else { return }
                state.isJudged = true
                unfinished &-= 1
                requests += 1
                ended.append(state.stream)
                if worker.hasNamespaces { worker.enter(state, client, role) }
                giveUp(state)
                if worker.hasNamespaces { worker.leave() }
            }
        }
        return ended
    }

    /// The rest of a request does not come.
    private func giveUp(_ state: RequestState) {
        if role.isManagement || isBroadcast(state) { return respond(state, ChannelAnswer.rejected(.idleTimeout)) }
        let answer = PushAnswer.rejected(.idleTimeout)
        MockStatistics.increment(worker.statistics.requests)
        worker.note(state, answer, connection: token, environment)
        respond(state, answer, worker)
    }

    func change(_ change: ConnectionFaults.SettingsChange) {
        if change.maxConcurrentStreams != nil { isOpenedUp = true }
        let settings = [
            (Frame.Setting.headerTableSize, change.headerTableSize),
            (Frame.Setting.maxConcurrentStreams, change.maxConcurrentStreams),
            (Frame.Setting.initialWindowSize, change.streamWindow),
            (Frame.Setting.maxFrameSize, change.maxFrameSize),
        ]
        submitSettings(settings.compactMap { setting in setting.1.map { (setting.0, $0) } })
    }

    override var monotonicSeconds: Double { Double(worker.loop.now) * 1e-9 }

    override func didTransfer(_ frame: FrameSummary, isSent: Bool) {
        worker.log.frame(frame, isSent: isSent, connection: token)
    }

    override func nextData(
        stream: Int32, buffer: UnsafeMutablePointer<UInt8>, capacity: Int, isLast: inout Bool
    ) -> Int {
        guard let body = pendingBodies[stream] else {
            isLast = true
            return 0
        }
        let count = min(capacity, body.count)
        buffer.update(from: body, count: count)
        // Flow control may let out less than all of it.
        isLast = count == body.count
        pendingBodies[stream] = isLast ? nil : Array(body[count...])
        return count
    }
}
