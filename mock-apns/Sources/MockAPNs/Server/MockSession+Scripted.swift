import HTTP2
import Payloads

/// What fault rules do to requests, besides letting their answers wait.
extension MockSession {
    private func subject(_ state: RequestState, _ kind: FaultRule.Request) -> FaultSubject {
        FaultSubject(
            request: state, kind: kind, environment: environment, connection: token,
            team: worker.dice.script.asksForTeams ? team : nil)
    }

    /// Of the key of the connection's provider token.
    private var team: String? { client.keyID.flatMap { worker.checks.tokens.account($0)?.identity.teamID } }

    var scripts: ScriptedStreams {
        if let scripted { return scripted }
        let made = ScriptedStreams()
        scripted = made
        return made
    }

    // MARK: Pushes

    /// A push that is right, while there are rules.
    func acceptByRules(_ state: RequestState, _ trace: (run: RunID, sequence: UInt64)?) {
        guard let choice = worker.dice.choose(subject(state, .push), now: worker.now) else {
            return deliver(state, trace, nil)
        }
        if let batch = choice.rule.batch { return hold(state, choice, batch) }
        // GOAWAY ends the streams that it does not name, and what was known of them.
        let stream = state.stream
        if let goAway = choice.rule.goAway, self.goAway(goAway, [stream]) < stream { return }
        carryOut(choice, on: state, trace)
    }

    /// A push that is wrong, while there are rules: it only takes as long as others.
    func rejectByRules(_ state: RequestState, _ answer: PushAnswer) {
        let dice = worker.dice
        conclude(state, answer, dice.rule(for: subject(state, .push), age: dice.age(worker.now)))
    }

    private func carryOut(
        _ choice: FaultChoice, on state: RequestState, _ trace: (run: RunID, sequence: UInt64)?
    ) {
        let rule = choice.rule
        sendPings(rule)
        switch choice.fate {
        case .normal: deliver(state, trace, rule)
        case .rejected(let reason):
            if let seconds = rule.retryAfter { retry(state, reason, after: seconds) }
            // Who is told so has to come with another one.
            if reason == .expiredProviderToken { worker.checks.allowNewToken(&client) }
            conclude(state, .rejected(reason), rule)
        case .silent:
            if worker.deliver(state, trace) == nil { worker.tickOff(trace, state) }
            worker.noteUnanswered(state, .silent, connection: token, environment)
            MockStatistics.increment(worker.statistics.silenced)
        case .reset:
            worker.noteUnanswered(state, .reset, connection: token, environment)
            MockStatistics.increment(worker.statistics.reset)
            submitReset(stream: state.stream, code: rule.resetCode)
        case .answered: answer(state, trace, rule, by: rule.answer!)
        case .closed:
            worker.noteUnanswered(state, .closed, connection: token, environment)
            MockStatistics.increment(worker.statistics.unhandled)
            cutOff(rule.close!)
        }
    }

    /// Gives a push to its device, and answers it.
    private func deliver(
        _ state: RequestState, _ trace: (run: RunID, sequence: UInt64)?, _ rule: FaultRule?
    ) {
        if isTooMany(rule) { return conclude(state, .rejected(.serviceUnavailable), rule) }
        if let reason = worker.deliver(state, trace) { return conclude(state, .rejected(reason), rule) }
        worker.tickOff(trace, state)
        conclude(state, .accepted, rule)
    }

    private func answer(
        _ state: RequestState, _ trace: (run: RunID, sequence: UInt64)?, _ rule: FaultRule, by raw: RawAnswer
    ) {
        if isTooMany(rule) { return conclude(state, .rejected(.serviceUnavailable), rule) }
        if raw.status == 200 {
            if let reason = worker.deliver(state, trace) { return conclude(state, .rejected(reason), rule) }
            worker.tickOff(trace, state)
        }
        scripts.answers[state.stream] = .init(raw: raw, code: rule.resetCode)
        conclude(state, raw.status == 200 ? .accepted : .raw(raw.status), rule)
    }

    /// The answer would have to wait, and as many as may do already.
    private func isTooMany(_ rule: FaultRule?) -> Bool {
        guard let rule, rule.latency != .none else { return false }
        return !worker.hasRoomForAnswers
    }

    /// The rule's own rejection says when to try again.
    private func retry(_ state: RequestState, _ reason: Reason, after seconds: UInt64) {
        var raw = RawAnswer(status: reason.status)
        raw.headers = [.init("content-type", "application/json"), .init("retry-after", String(seconds))]
        raw.body = worker.answers.body(.rejected(reason)) ?? []
        scripts.answers[state.stream] = .init(raw: raw)
    }

    /// Answers now, or when the latency is over; 503 where too many answers wait.
    private func conclude(_ state: RequestState, _ answer: PushAnswer, _ rule: FaultRule?) {
        let isTooMany = isTooMany(rule)
        if isTooMany { scripted?.answers[state.stream] = nil }
        let answer = isTooMany ? .rejected(.serviceUnavailable) : answer
        worker.note(state, answer, connection: token, environment)
        guard let rule, rule.latency != .none, !isTooMany else { return respond(state, answer, worker) }
        worker.answerLater(answer, state, connection: token, rule)
    }

    private func sendPings(_ rule: FaultRule) {
        for _ in 0..<rule.pings { submitPing(worker.dice.seed()) }
    }

    // MARK: Channels

    /// A broadcast or a management request, while there are rules; they are asked before it is judged.
    ///
    /// - Parameter perform: judges and does what it asks for.
    /// - Returns: false when no rule is for it.
    func answerByRules(_ state: RequestState, _ kind: FaultRule.Request, _ perform: () -> ChannelAnswer) -> Bool {
        guard let choice = worker.dice.choose(subject(state, kind), now: worker.now) else { return false }
        MockStatistics.increment(worker.statistics.channelRequests)
        let stream = state.stream
        if let goAway = choice.rule.goAway, self.goAway(goAway, [stream], arePushes: false) < stream {
            MockStatistics.increment(worker.statistics.channelScripted)
            return true
        }
        let rule = choice.rule
        sendPings(rule)
        if choice.fate.isWithoutAnswer { MockStatistics.increment(worker.statistics.channelScripted) }
        var answer: ChannelAnswer
        switch choice.fate {
        case .normal: answer = perform()
        case .rejected(let reason):
            answer = .rejected(reason)
            answer.headers.append(("apns-request-id", worker.channelRequests.requestID(state)))
        case .silent:
            _ = perform()
            return true
        case .reset:
            submitReset(stream: state.stream, code: rule.resetCode)
            return true
        case .answered:
            let raw = rule.answer!
            // As with pushes, only what is answered as done is done, and what cannot be done is refused.
            answer = raw.isSuccess ? perform() : ChannelAnswer(status: raw.status)
            if !raw.isSuccess { MockStatistics.increment(worker.statistics.channelScripted) }
            if answer.reason != nil { break }
            let identifier = answer.headers.first { $0.name == "apns-request-id" }?.value
            var complete = raw
            if raw.hasIdentifier {
                complete.headers.append(
                    .init("apns-request-id", identifier ?? worker.channelRequests.requestID(state)))
            }
            giveChannelAnswer(complete, to: state, rule)
            return true
        case .closed:
            cutOff(rule.close!)
            return true
        }
        if let reason = answer.reason {
            worker.statistics.count(channel: reason)
            if let seconds = rule.retryAfter, choice.fate == .rejected(reason) {
                answer.headers.append(("retry-after", String(seconds)))
            }
        }
        var raw = RawAnswer(status: answer.status)
        raw.headers = answer.headers.map { .init($0.name, $0.value) }
        raw.body = answer.body
        giveChannelAnswer(raw, to: state, rule)
        return true
    }

    private func giveChannelAnswer(_ raw: RawAnswer, to state: RequestState, _ rule: FaultRule) {
        scripts.answers[state.stream] = .init(raw: raw, code: rule.resetCode, isOfChannel: true)
        // No push: nothing is counted of it, and it costs the client no penalty.
        let answer = PushAnswer.raw(raw.status)
        if rule.latency != .none, worker.hasRoomForAnswers {
            return worker.answerLater(answer, state, connection: token, rule)
        }
        _ = respondByScript(state, answer)
    }

    // MARK: Answers

    /// Gives the answer that a rule has for this request.
    ///
    /// - Returns: false when there is none.
    func respondByScript(_ state: RequestState, _ answer: PushAnswer) -> Bool {
        guard let scripted, let own = scripted.answers.removeValue(forKey: state.stream) else { return false }
        if !own.isOfChannel { count(answer, state, worker) }
        let (raw, stream) = (own.raw, state.stream)
        let block = block(raw, own.isOfChannel ? nil : identifier(for: state, raw))
        if raw.isPlain {
            if !raw.body.isEmpty { pendingBodies[stream] = raw.body }
            submitResponse(block, stream: stream, hasBody: !raw.body.isEmpty)
        } else if raw.isAfterReset {
            submitReset(stream: stream, code: own.code)
            submitLate(block, body: raw.body, stream: stream)
        } else {
            submitHead(block, stream: stream)
            scripted.bodies[stream] = .init(raw, code: own.code, startedAt: worker.now)
            continueBody(stream)
        }
        return true
    }

    /// The `apns-id` that an answer gets; nil: none, or its headers have one.
    private func identifier(for state: RequestState, _ raw: RawAnswer) -> String? {
        guard raw.hasIdentifier, !raw.headers.contains(where: { $0.name == "apns-id" }) else { return nil }
        return worker.answers.identifier(of: state)
    }

    private func block(_ raw: RawAnswer, _ identifier: String?) -> ResponseBlock {
        let block = ResponseBlock(capacity: 80 + Self.size(raw.headers))
        block.addStatus(raw.status)
        if let identifier { block.add("apns-id", identifier) }
        for field in raw.headers { block.add(field.name, field.value) }
        return block
    }

    private static func size(_ fields: [RawAnswer.Field]) -> Int {
        fields.reduce(0) { $0 + $1.name.utf8.count + $1.value.utf8.count + 12 }
    }

    private func continueBody(_ stream: Int32) {
        guard let scripted, var body = scripted.bodies[stream] else { return }
        let owed = body.owed(worker.now)
        let before = body.sent
        if owed > body.sent {
            guard let count = submitPiece(body.answer.body[body.sent..<owed], stream: stream) else {
                return scripted.forget(stream)
            }
            body.sent += count
        }
        guard body.sent == body.answer.body.count else {
            let isStuck = owed > before && body.sent == before
            body.stuckSince = isStuck ? body.stuckSince ?? worker.now : nil
            if let since = body.stuckSince, isTooLate(since) { return endStuck(stream) }
            let pause = body.pause(isStuck: isStuck)
            scripted.bodies[stream] = body
            return worker.doLater(.body(stream: stream), connection: token, after: pause)
        }
        scripted.bodies[stream] = nil
        switch body.answer.ending {
        case .stream:
            let trailers = body.answer.trailers
            guard !trailers.isEmpty else { return submitEnd(trailers: nil, stream: stream) }
            let block = ResponseBlock(capacity: Self.size(trailers))
            for field in trailers { block.add(field.name, field.value) }
            submitEnd(trailers: block, stream: stream)
        case .reset: submitReset(stream: stream, code: body.code)
        case .never: break
        }
    }

    /// The client has not opened its window for so long.
    private func isTooLate(_ since: UInt64) -> Bool {
        let limit = worker.configuration.writeTimeout
        return limit > 0 && worker.now > since && worker.now - since > limit
    }

    private func endStuck(_ stream: Int32) {
        MockStatistics.increment(worker.statistics.bounds.heldBack)
        worker.log.debug("connection \(token), stream \(stream): the window for its answer is not opened")
        submitReset(stream: stream, code: .cancel)
    }

    // MARK: The connection

    /// Ends the connection once what was answered before is written; nothing after it is handled.
    private func cutOff(_ how: FaultRule.Closing) {
        closing = how
        lastHandled = 0
    }

    /// Requests wait to be handled, in a batch or one alone; those that GOAWAY does not name are not.
    ///
    /// - Parameter streams: theirs, ascending.
    /// - Returns: the last stream that is handled.
    private func goAway(_ order: FaultRule.GoAway, _ streams: [Int32], arePushes: Bool = true) -> Int32 {
        let last = last(order, streams)
        // While a second one is to come, no other is sent.
        let limit = scripted?.secondGoAway == nil ? min(last ?? .max, lastHandled) : lastHandled
        // Nothing is known of them any more once GOAWAY has ended their streams.
        for stream in streams where stream > limit && arePushes {
            withState(context(stream: stream)) {
                endHolding($0)
                worker.noteUnanswered($0, .unhandled, connection: token, environment)
            }
            MockStatistics.increment(worker.statistics.unhandled)
        }
        if order.isTwice, scripts.secondGoAway == nil, lastHandled == .max {
            scripts.secondGoAway = (order, last)
            // What the second will not name is left as it is until then.
            if let last { lastHandled = last }
            submitGoAway(code: .noError, lastStream: .max, debugData: debugData(order))
            worker.doLater(.secondGoAway, connection: token, after: order.pause)
        } else if scripted?.secondGoAway == nil {
            sendGoAway(order, last: last ?? lastStream)
        }
        return limit
    }

    private func debugData(_ order: FaultRule.GoAway) -> [UInt8] {
        order.debug.map { Array($0.utf8) } ?? Reason.shutdown.body(timestamp: 0)
    }

    /// A later GOAWAY may only name a lower stream (RFC 9113 section 6.8): one that names none is not sent.
    private func sendGoAway(_ order: FaultRule.GoAway, last: Int32) {
        guard lastNamed.map({ last < $0 }) ?? true else { return }
        lastNamed = last
        lastHandled = min(lastHandled, last)
        submitGoAway(code: order.code, lastStream: last, debugData: debugData(order))
    }

    // MARK: Batches

    private func hold(_ state: RequestState, _ choice: FaultChoice, _ batch: FaultRule.Batch) {
        keepPayload(state)
        let key = ScriptedStreams.BatchKey(namespace: state.namespace, ruling: worker.rulings, rule: choice.number)
        state.isHeld = true
        state.restarts = worker.restarts
        let held = scripts.hold(state.stream, choice, in: key)
        if held.held.count >= batch.count { return release(key) }
        if held.held.count == 1 {
            worker.doLater(
                .batch(key, serial: held.serial), connection: token, after: batch.within)
        }
    }

    /// Handles what was held, in the order that its rule asks for.
    private func release(_ key: ScriptedStreams.BatchKey) {
        guard let batch = scripted?.batches.removeValue(forKey: key), let rule = batch.held.last?.choice.rule else {
            return
        }
        var held = batch.held.filter { context(stream: $0.stream) != 0 }
        if let goAway = rule.goAway, !held.isEmpty {
            let last = self.goAway(goAway, held.map(\.stream).sorted())
            held.removeAll { $0.stream > last }
        }
        switch rule.batch?.order {
        case .reversed: held.reverse()
        case .shuffled: worker.dice.shuffle(&held)
        case .sent, nil: break
        }
        for push in held where context(stream: push.stream) != 0 {
            withState(context(stream: push.stream)) { handleHeld($0, push.choice) }
        }
    }

    /// The last stream that GOAWAY is to name; nil: the last one begun.
    ///
    /// - Parameter streams: of the batch, or the one request's, ascending.
    private func last(_ order: FaultRule.GoAway, _ streams: [Int32]) -> Int32? {
        switch order.last {
        case .begun: return nil
        case .below(let count): return max(0, streams[streams.count - 1] - 2 * count)
        case .stream(let last): return last
        case .kept(0): return max(0, streams[0] - 2)
        case .kept(let count): return streams[min(count, streams.count) - 1]
        }
    }

    /// A push that was held is judged again: what was found of it then is not kept.
    private func handleHeld(_ state: RequestState, _ choice: FaultChoice) {
        endHolding(state)
        let verdict = worker.judge(state, client: &client)
        if client.hasNewToken { remember(state.value(.authorization)) }
        switch verdict {
        case .accepted(let trace): carryOut(choice, on: state, trace)
        case .rejected(let answer): conclude(state, answer, choice.rule)
        }
    }

    /// A held push of before a reset counts as one of after it, wholly.
    private func endHolding(_ state: RequestState) {
        if state.isHeld, worker.isBeforeReset(state) { MockStatistics.increment(worker.statistics.requests) }
        state.isHeld = false
    }

    // MARK: Time passes

    func doScripted(_ work: ScriptedWork) {
        switch work {
        case .body(let stream): continueBody(stream)
        case .batch(let key, let serial):
            guard let batch = scripted?.batches[key], batch.serial == serial else { return }
            if worker.hasNamespaces { worker.enter(namespace: key.namespace) }
            release(key)
            if worker.hasNamespaces { worker.leave() }
        case .secondGoAway:
            guard let second = scripted?.secondGoAway else { return }
            scripted!.secondGoAway = nil
            sendGoAway(second.order, last: second.last ?? lastStream)
        }
    }
}
