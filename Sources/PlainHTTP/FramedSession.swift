import HTTP2
import Networking

/// The HTTP/2 side of one connection: gathers requests, and sends their answers as far as the client's windows allow.
final class FramedSession: ServerSession {
    /// By their streams.
    private var requests: [Int32: FramedRequest] = [:]
    /// Complete, and not taken; some may be gone.
    private var complete: [Int32] = []
    private var taken = 0
    /// Bytes of memory of all requests and answers.
    private(set) var held = 0
    /// Bytes of them that are answers, given and not sent.
    private(set) var unsentAnswers = 0
    /// Refused, and not counted.
    private(set) var refused: UInt64 = 0
    /// When the header block began that is not whole.
    private var headersBegan: UInt64 = 0
    private let limits: PlainLimits
    var now: UInt64

    /// Streams at once.
    private static let mostStreams: UInt32 = 100
    private static let names = names { FramedRequest.classify($0, $1) }
    /// What a request takes besides its texts, bytes.
    private static let requestSize = 512

    init(limits: PlainLimits, now: UInt64) {
        self.limits = limits
        self.now = now
        var settings = SessionSettings()
        settings.maxConcurrentStreams = Self.mostStreams
        settings.connectionWindow = 1 << 20
        super.init(settings: settings, names: Self.names)
    }

    override var monotonicSeconds: Double { Double(now) * 1e-9 }
    var isEmpty: Bool { requests.isEmpty }
    var hasComplete: Bool { taken < complete.count }

    private func hold(_ request: FramedRequest, _ bytes: Int) {
        request.held += bytes
        held += bytes
    }

    // MARK: Receiving

    override func didBeginHeaders(stream: Int32) { headersBegan = now }

    override func didBeginRequest(stream: Int32) -> UInt {
        let request = FramedRequest(stream: stream, due: now + limits.request)
        requests[stream] = request
        hold(request, Self.requestSize)
        return UInt(stream)
    }

    override func didReceiveHeader(context: UInt, _ field: HPACKField) -> Bool {
        if let request = requests[Int32(context)] { hold(request, request.take(field, limits: limits)) }
        return true
    }

    override func didReceiveData(stream: Int32, context: UInt, _ bytes: UnsafePointer<UInt8>, _ count: Int) {
        guard let request = requests[stream], request.state == .gathering else { return }
        let before = request.body.count
        request.append(UnsafeBufferPointer(start: bytes, count: count), limits: limits)
        hold(request, request.body.count - before)
        if request.problem != nil { refuse(request) }
    }

    override func didEnd(stream: Int32, context: UInt) {
        guard let request = requests[stream], request.state == .gathering else { return }
        if request.problem == nil {
            // It waits for its turn, however long that takes.
            request.state = .taken
            request.due = .max
            complete.append(stream)
        } else {
            refuse(request)
        }
    }

    override func didClose(stream: Int32, context: UInt, code: ErrorCode) {
        guard let request = requests.removeValue(forKey: stream) else { return }
        held -= request.held
        unsentAnswers -= request.answer.count - request.sent
        // By the session, for its fields or its length.
        if request.state == .gathering, code == .protocolError || code == .internalError { refused += 1 }
    }

    /// A client that is still sending is let to read the answer before its stream is reset: curl 7.88 else never sees it.
    private func refuse(_ request: FramedRequest) {
        guard let problem = request.problem else { return }
        refused += 1
        respond(.text(problem.text, status: problem.status), to: request)
        request.due = now + limits.parting
    }

    /// The next request that is complete.
    func take() -> (stream: Int32, request: PlainRequest)? {
        while taken < complete.count {
            let stream = complete[taken]
            taken += 1
            if let request = requests[stream] {
                let length = request.body.count
                defer { hold(request, -length) }
                return (stream, request.request())
            }
        }
        complete.removeAll(keepingCapacity: true)
        taken = 0
        return nil
    }

    func takeRefused() -> UInt64 {
        defer { refused = 0 }
        return refused
    }

    // MARK: Answering

    /// - Returns: false when the stream is gone.
    func respond(_ response: PlainResponse, stream: Int32) -> Bool {
        guard let request = requests[stream], request.state == .taken else { return false }
        respond(response, to: request)
        return true
    }

    private func respond(_ response: PlainResponse, to request: FramedRequest) {
        var fields = [("content-type", response.type)]
        if response.status != 204 { fields.append(("content-length", "\(response.body.count)")) }
        for field in response.fields {
            let parts = field.split(separator: ":", maxSplits: 1)
            guard parts.count == 2 else { continue }
            fields.append((String(parts[0]), String(parts[1].drop { $0 == " " })))
        }
        let block = ResponseBlock(
            capacity: fields.reduce(16) { $0 + $1.0.utf8.count + $1.1.utf8.count + 12 })
        block.addStatus(response.status)
        for (name, value) in fields { block.add(name, value) }
        request.state = .answered
        request.due = now + limits.answer
        let hasBody = !request.isHead && !response.body.isEmpty
        if hasBody {
            request.answer = response.body
            unsentAnswers += response.body.count
            hold(request, response.body.count)
        }
        submitResponse(block, stream: request.stream, hasBody: hasBody)
    }

    override func nextData(
        stream: Int32, buffer: UnsafeMutablePointer<UInt8>, capacity: Int, isLast: inout Bool
    ) -> Int {
        guard let request = requests[stream] else {
            isLast = true
            return 0
        }
        let count = min(capacity, request.answer.count - request.sent)
        request.answer.withUnsafeBufferPointer { buffer.update(from: $0.baseAddress! + request.sent, count: count) }
        request.sent += count
        unsentAnswers -= count
        isLast = request.sent == request.answer.count
        return count
    }

    /// Has the time of an answer to be given up.
    func leaveUnanswered(_ stream: Int32) { requests[stream]?.due = now + limits.answer }

    // MARK: Time passes

    /// When the time of a request, or of a header block, is over next; `.max`: never.
    var nextDue: UInt64 {
        requests.values.reduce(isInHeaders ? headersBegan + limits.request : .max) { min($0, $1.due) }
    }

    /// Answers requests that were not complete in time, and resets answers that were not read.
    ///
    /// - Returns: false when a header block is not whole in time: nothing else can be said until it is (RFC 9113 section 6.10).
    func endOverdue() -> Bool {
        if isInHeaders, now >= headersBegan + limits.request {
            refused += 1
            return false
        }
        for request in requests.values.filter({ $0.due <= now }).sorted(by: { $0.stream < $1.stream }) {
            if request.state == .gathering {
                request.refuse(408, "the request was not complete within \(limits.request / 1_000_000_000) s")
                refuse(request)
            } else {
                submitReset(stream: request.stream, code: request.problem == nil ? .cancel : .noError)
            }
        }
        return true
    }
}
