/// Pushes to be sent again, oldest first. Bounded by the pushes in flight.
package struct RetryQueue {
    private(set) var tickets: [PushTicket] = []
    private var head = 0

    init() {}

    package var isEmpty: Bool { head == tickets.count }
    package var count: Int { tickets.count - head }

    var first: PushTicket? { isEmpty ? nil : tickets[head] }

    package mutating func append(_ ticket: PushTicket) { tickets.append(ticket) }

    @inline(__always)
    package mutating func popFirst() -> PushTicket? { isEmpty ? nil : takeFirst() }

    private mutating func takeFirst() -> PushTicket {
        let ticket = tickets[head]
        head += 1
        if head == tickets.count {
            tickets.removeAll(keepingCapacity: true)
            head = 0
        } else if head >= 1024, head * 2 >= tickets.count {
            // Never empty while a server goes on refusing: what is over may not pile up.
            tickets.removeFirst(head)
            head = 0
        }
        return ticket
    }
}
