import Transport

/// Sends pushes whose payload follows from their number, and remembers what it was told of each.
final class NumberedDriver: PushDriver {
    let count: UInt64
    private(set) var taken: UInt64 = 0
    /// Connections that were opened.
    private(set) var opened = 0
    /// By number: how many connections had been opened when it was last put on one.
    private(set) var generation: [UInt64: Int] = [:]
    /// Written in the generation it was put on a connection: numbers, in order.
    private(set) var written: [Int: [UInt64]] = [:]
    private(set) var requeued: [UInt64] = []
    private(set) var accepted: [UInt64] = []
    private(set) var failed: [UInt64: FailureCause] = [:]
    /// By number, how often it ended.
    private(set) var ends: [UInt64: Int] = [:]
    /// When the last push was written.
    private(set) var lastTime: UInt64 = 0
    private(set) var isTimeInOrder = true

    init(_ count: UInt64) { self.count = count }

    static let largest = 4_096

    /// 1 to 4,096 bytes: a piece of the pattern, another one for each number.
    static func payload(_ number: UInt64) -> ArraySlice<UInt8> {
        let size = 1 + Int((number &* 0x9E37_79B9_7F4A_7C15) >> 52)
        let start = Int(number &* 37 % 4_096)
        return pattern[start..<(start + size)]
    }

    /// No two places in it look the same: a byte, and the number of its place.
    private static let pattern = (0..<4_096).flatMap { [UInt8(truncatingIfNeeded: $0), UInt8($0 >> 4 & 0xFF)] }

    func written(in generation: Int) -> Set<UInt64> { Set(written[generation] ?? []) }

    /// Every push ended, and once.
    var isBalanced: Bool { ends.count == Int(count) && ends.values.allSatisfy { $0 == 1 } }

    override func take(now: UInt64, into ticket: inout PushTicket) -> Supply {
        guard taken < count else { return .finished }
        ticket = PushTicket(sequence: taken, due: now)
        taken += 1
        return .push
    }

    override func compose(_ ticket: borrowing PushTicket, connection: Int, into request: inout PushRequest) {
        generation[ticket.sequence] = opened
        let text = Array(String(ticket.sequence).utf8)
        request.token.update(from: text, count: text.count)
        request.tokenLength = text.count
        let payload = Self.payload(ticket.sequence)
        payload.withUnsafeBufferPointer { request.payload.update(from: $0.baseAddress!, count: $0.count) }
        request.payloadLength = payload.count
    }

    override func written(_ ticket: borrowing PushTicket, started: UInt64, at time: UInt64) {
        written[generation[ticket.sequence] ?? 0, default: []].append(ticket.sequence)
        if time < lastTime || time < started { isTimeInOrder = false }
        lastTime = time
    }

    override func finished(
        _ ticket: borrowing PushTicket, outcome: PushOutcome, connection: Int, started: UInt64, written: UInt64,
        at time: UInt64, body: UnsafeBufferPointer<UInt8>
    ) {
        ends[ticket.sequence, default: 0] += 1
        switch outcome {
        case .accepted: accepted.append(ticket.sequence)
        case .rejected: break
        case .failed(let cause): failed[ticket.sequence] = cause
        }
    }

    override func requeued(_ ticket: borrowing PushTicket) { requeued.append(ticket.sequence) }

    override func connection(_ index: Int, _ event: ConnectionEvent) { if case .opened = event { opened += 1 } }
}
