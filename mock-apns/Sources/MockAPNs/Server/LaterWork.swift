import Networking

/// What a worker is to do for its connections later, each at its time.
///
/// The answer to a stream that is over gives its place back at once. What is left of it is removed when its time has come, or when
/// there is more of that than of answers that wait: the memory is bounded by those, and removing costs each a few steps.
struct LaterWork {
    enum Item: Sendable {
        case answer(PushAnswer, connection: UInt64, stream: Int32)
        case link(connection: UInt64, time: UInt64)
        case script(ScriptedWork, connection: UInt64)
    }

    private var queue = DueQueue<Item>()
    /// Answers whose streams are open, and those whose streams are over.
    private(set) var waiting = 0
    private var abandoned = 0
    private static let fewAbandoned = 1000

    var isEmpty: Bool { queue.isEmpty }
    var nextDue: UInt64? { queue.nextDue }

    mutating func add(_ answer: PushAnswer, connection: UInt64, stream: Int32, due: UInt64) {
        waiting += 1
        queue.add(.answer(answer, connection: connection, stream: stream), due: due)
    }

    mutating func add(link connection: UInt64, at time: UInt64) {
        queue.add(.link(connection: connection, time: time), due: time)
    }

    mutating func add(_ work: ScriptedWork, connection: UInt64, due: UInt64) {
        queue.add(.script(work, connection: connection), due: due)
    }

    mutating func take(now: UInt64) -> Item? { queue.take(now: now) }

    /// An answer that was taken was given, or its stream was over.
    mutating func didEnd(isGiven: Bool) {
        if isGiven { waiting -= 1 } else { abandoned -= 1 }
    }

    /// The stream of an answer that waits is over.
    ///
    /// - Parameter isWaiting: whether the answer to this stream of this connection still waits.
    mutating func abandon(isWaiting: (UInt64, Int32) -> Bool) {
        waiting -= 1
        abandoned += 1
        guard abandoned > max(waiting, Self.fewAbandoned) else { return }
        queue.removeAll {
            guard case .answer(_, let connection, let stream) = $0 else { return false }
            return !isWaiting(connection, stream)
        }
        abandoned = 0
    }
}
