/// One direction of a connection: bytes on their way, bytes that have arrived, and its end.
final class VirtualPipe {
    private struct Piece {
        let due: UInt64
        let bytes: [UInt8]
    }

    let capacity: Int
    private var pieces: [Piece] = []
    private var head = 0
    private var onTheWay = 0
    private var arrived: [UInt8] = []
    private var offset = 0
    private var lastDue: UInt64 = 0
    private var endDue = UInt64.max
    /// Nothing arrives before.
    private(set) var frozenUntil: UInt64 = 0
    /// The writer's end has come through.
    private(set) var hasEnded = false

    init(capacity: Int) { self.capacity = capacity }

    /// Bytes that can be read.
    var unread: Int { arrived.count - offset }
    /// Bytes that can be written; what a network puts in may exceed the capacity.
    var room: Int { max(0, capacity - onTheWay - unread) }

    func put(_ bytes: [UInt8], due: UInt64) {
        lastDue = max(lastDue, due)
        onTheWay += bytes.count
        pieces.append(Piece(due: lastDue, bytes: bytes))
    }

    /// The writer's side is closed, behind all that was put.
    func end(due: UInt64) {
        guard endDue == .max else { return }
        lastDue = max(lastDue, due)
        endDue = lastDue
    }

    func freeze(until time: UInt64) { frozenUntil = max(frozenUntil, time) }

    /// What is on its way is lost.
    func cut() {
        pieces = []
        head = 0
        onTheWay = 0
        endDue = .max
    }

    /// When something arrives next; `.max`: nothing will.
    var nextDue: UInt64 {
        let due = head < pieces.count ? pieces[head].due : hasEnded ? .max : endDue
        return due == .max ? .max : max(due, frozenUntil)
    }

    /// - Returns: true when something arrived.
    func deliver(_ now: UInt64) -> Bool {
        guard nextDue <= now else { return false }
        while head < pieces.count, pieces[head].due <= now {
            arrived += pieces[head].bytes
            onTheWay -= pieces[head].bytes.count
            head += 1
        }
        if head == pieces.count {
            pieces.removeAll(keepingCapacity: true)
            head = 0
            if endDue <= now { hasEnded = true }
        }
        return true
    }

    /// Moves up to `count` arrived bytes, at least one there is, to `buffer`.
    func read(_ count: Int, into buffer: UnsafeMutablePointer<UInt8>) -> Int {
        let taken = min(count, unread)
        arrived.withUnsafeBufferPointer { buffer.update(from: $0.baseAddress! + offset, count: taken) }
        offset += taken
        if offset == arrived.count {
            arrived.removeAll(keepingCapacity: true)
            offset = 0
        } else if offset > 65_536 {
            arrived.removeFirst(offset)
            offset = 0
        }
        return taken
    }
}
