import Transport

/// Sends one push, and is content with one connection.
final class OnePush: PushDriver {
    var isTaken = false
    var outcomes: [String] = []
    var requeues = 0
    var events: [String] = []
    var faults: [String] = []
    var problems: [String] = []
    var stop: RunControl

    init(_ control: RunControl) { stop = control }

    override func take(now: UInt64, into ticket: inout PushTicket) -> Supply {
        if isTaken { return .finished }
        isTaken = true
        ticket = PushTicket(sequence: 0, due: now)
        return .push
    }
    override func compose(_ ticket: borrowing PushTicket, connection: Int, into request: inout PushRequest) {
        request.tokenLength = 1
        request.token[0] = 0x61
        request.payload[0] = 0x62
        request.payloadLength = 1
    }
    override func finished(
        _ ticket: borrowing PushTicket, outcome: PushOutcome, connection: Int, started: UInt64, written: UInt64,
        at time: UInt64,
        body: UnsafeBufferPointer<UInt8>
    ) { outcomes.append("\(outcome)") }
    override func requeued(_ ticket: borrowing PushTicket) { requeues += 1 }
    override func connectionProblem(_ text: String) { problems.append(text) }
    override func streamFault(_ text: String) { faults.append(text) }
    override func connection(_ index: Int, _ event: ConnectionEvent) {
        events.append("\(event)")
        // One connection is enough to see.
        if event == .lost || event == .connectFailed { stop.ask(.abort) }
    }
}
