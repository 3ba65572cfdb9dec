/// What is to happen, the earliest first; what is due at the same time, in the order in which it was put in. A heap of
/// which each event has four below it: of a hundred thousand half as many are moved, each from another place of memory.
struct EventHeap {
    enum Kind: UInt8 {
        /// A thread has finished what it was doing.
        case threadDone
        /// A worker that had nothing to do has a push due.
        case wake
        /// Pushes have come to the server.
        case atServer
        /// The server answers.
        case answer
        /// Answers have come to the client.
        case atClient
        /// The server lets the client send more.
        case window
        /// It allows a connection fewer streams, or as many as before.
        case streams
        /// It has ended a connection, and the client hears of it.
        case goAway
    }

    struct Event {
        /// Nanoseconds.
        var time: Double
        var order: UInt64
        /// First of a list of pushes, or −1.
        var head: Int32
        /// Connection or thread.
        var place: Int32
        var count: Int32
        var kind: Kind
    }

    private var events: [Event] = []
    private var order: UInt64 = 0

    var isEmpty: Bool { events.isEmpty }
    var count: Int { events.count }
    /// When the next is due, ns.
    var next: Double? { events.first?.time }
    var taken: UInt64 { order &- UInt64(events.count) }

    @inline(__always)
    private static func isBefore(_ one: Event, _ other: Event) -> Bool {
        one.time < other.time || one.time == other.time && one.order < other.order
    }

    mutating func put(_ kind: Kind, at time: Double, place: Int32, head: Int32 = -1, count: Int32 = 0) {
        let event = Event(time: time, order: order, head: head, place: place, count: count, kind: kind)
        order &+= 1
        var hole = events.count
        events.append(event)
        events.withUnsafeMutableBufferPointer { events in
            while hole > 0 {
                let parent = (hole &- 1) >> 2
                guard Self.isBefore(event, events[parent]) else { break }
                events[hole] = events[parent]
                hole = parent
            }
            events[hole] = event
        }
    }

    /// The caller has checked `isEmpty`.
    mutating func take() -> Event {
        let last = events.removeLast()
        guard !events.isEmpty else { return last }
        return events.withUnsafeMutableBufferPointer { events in
            let first = events[0]
            let count = events.count
            var hole = 0
            while true {
                let below = 4 &* hole &+ 1
                guard below < count else { break }
                var child = below
                for other in below &+ 1..<max(below &+ 1, min(below &+ 4, count))
                where Self.isBefore(events[other], events[child]) { child = other }
                guard Self.isBefore(events[child], last) else { break }
                events[hole] = events[child]
                hole = child
            }
            events[hole] = last
            return first
        }
    }
}
