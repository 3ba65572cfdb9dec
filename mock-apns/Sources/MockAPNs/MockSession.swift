import Glibc
import HTTP2
import Measurement
import Networking
import Payloads

/// The HTTP/2 side of one connection: gathers requests, has them judged, answers, ticks them off.
///
/// Cost a push: nghttp2's stream handling (about 2 µs), copying the headers that are looked at (about 200 bytes), one walk
/// over the payload, one bit in the ledger.
final class MockSession: HTTP2Session {
    private let worker: MockWorker
    private var client: RequestChecks.Client
    /// Requests being received, by place; up to `keptStates` of those finished are kept for the next ones.
    private var states: [RequestState?] = []
    private static let keptStates = 64
    private var freePlaces: [Int] = []
    private var currentStream: Int32 = 0
    private var current: RequestState?
    /// Requests whose payload is still in the read buffer.
    private var borrowing: [RequestState] = []
    /// The `authorization` value last found valid here.
    private var knownToken: UnsafeMutablePointer<UInt8>?
    private var knownTokenLength = 0
    /// Bodies of error answers being sent, by stream.
    private var pendingBodies: [Int32: Int] = [:]

    init(_ worker: MockWorker, settings: SessionSettings, certificateTopic: String?) {
        self.worker = worker
        client = RequestChecks.Client(
            certificateTopic: certificateTopic, isAuthenticationOff: worker.configuration.identities.isEmpty)
        super.init(.server, settings: settings)
    }

    deinit { knownToken?.deallocate() }

    /// The read buffer is about to change.
    func keepBorrowed() {
        guard !borrowing.isEmpty else { return }
        for state in borrowing where state.stream != 0 { state.keepBorrowed() }
        borrowing.removeAll(keepingCapacity: true)
    }

    // MARK: Receiving

    override func didBeginHeaders(stream: Int32) {
        // Trailers of a request already known change nothing.
        if context(stream: stream) != 0 { return }
        let place: Int
        if let free = freePlaces.popLast() {
            place = free
        } else {
            states.append(nil)
            place = states.count - 1
        }
        setContext(UInt(place + 1), stream: stream)
        let state = states[place] ?? RequestState()
        states[place] = state
        state.stream = stream
        currentStream = stream
        current = state
    }

    @inline(__always)
    private func state(_ stream: Int32) -> RequestState? {
        if stream == currentStream { return current }
        let place = Int(bitPattern: context(stream: stream)) - 1
        guard place >= 0 else { return nil }
        currentStream = stream
        current = states[place]
        return current
    }

    override func didReceiveHeader(
        stream: Int32, name: UnsafePointer<UInt8>, nameLength: Int, value: UnsafePointer<UInt8>, valueLength: Int
    ) -> Bool {
        guard let header = KnownHeader.named(name, nameLength), let state = state(stream) else { return true }
        if header == .authorization, valueLength == knownTokenLength, let knownToken,
            memcmp(knownToken, value, valueLength) == 0
        {
            state.note(.authorization)
            state.hasKnownToken = true
            return true
        }
        if header == .authorization { state.hasKnownToken = false }
        state.set(header, value, valueLength)
        // Far more than APNs' headers can take: such a request is reset.
        return !state.isOverflowing
    }

    override func didEndHeaders(stream: Int32, endsStream: Bool) {
        if endsStream, let state = state(stream) { answer(state) }
    }

    override func didReceiveData(stream: Int32, bytes: UnsafePointer<UInt8>, count: Int) {
        guard let state = state(stream) else { return }
        if state.append(bytes, count) { borrowing.append(state) }
    }

    override func didEndData(stream: Int32) {
        if let state = state(stream) { answer(state) }
    }

    override func didClose(stream: Int32, code: ErrorCode) {
        let place = Int(bitPattern: context(stream: stream)) - 1
        if !pendingBodies.isEmpty { pendingBodies[stream] = nil }
        guard place >= 0 else { return }
        if stream == currentStream {
            currentStream = 0
            current = nil
        }
        // Also lets go of what `borrowing` may still hold.
        states[place]?.reset()
        if freePlaces.count >= Self.keptStates { states[place] = nil }
        freePlaces.append(place)
    }

    // MARK: Answering

    private func answer(_ state: RequestState) {
        MockStatistics.increment(worker.statistics.requests)
        var verified: (UnsafeRawBufferPointer, Int64)?
        let answer = worker.checks.judge(state, client: client, unixTime: worker.unixTime) { verified = ($0, $1) }
        if let (token, issuedAt) = verified { remember(token, issuedAt) }
        let identifier = state.has(.identifier) ? state.value(.identifier) : nil
        switch answer {
        case .accepted(let trace):
            MockStatistics.increment(worker.statistics.accepted)
            worker.tickOff(trace)
            submitResponse(
                worker.answers.block(nil, requestIdentifier: identifier), stream: state.stream, hasBody: false)
        case .rejected(let reason):
            worker.statistics.count(reason)
            pendingBodies[state.stream] = reason.rawValue
            let echoed = identifier.flatMap { RequestChecks.isUUID($0) ? $0 : nil }
            submitResponse(
                worker.answers.block(reason, requestIdentifier: echoed), stream: state.stream, hasBody: true)
        }
    }

    private func remember(_ token: UnsafeRawBufferPointer, _ issuedAt: Int64) {
        knownToken?.deallocate()
        let copy = UnsafeMutablePointer<UInt8>.allocate(capacity: token.count)
        copy.update(from: token.baseAddress!.assumingMemoryBound(to: UInt8.self), count: token.count)
        knownToken = copy
        knownTokenLength = token.count
        client.knownTokenIssuedAt = issuedAt
    }

    override func nextData(
        stream: Int32, buffer: UnsafeMutablePointer<UInt8>, capacity: Int, isLast: inout Bool
    ) -> Int {
        guard let reason = pendingBodies.removeValue(forKey: stream) else {
            isLast = true
            return 0
        }
        let body = worker.answers.bodies[reason]
        // Flow control may allow less than these few bytes only if the client set absurd windows: then it gets no body.
        let count = min(capacity, body.count)
        buffer.update(from: body, count: count)
        isLast = true
        return count
    }
}
