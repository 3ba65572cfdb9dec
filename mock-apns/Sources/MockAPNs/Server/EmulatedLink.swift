/// A network to emulate: what a client far away would see. Times are nanoseconds.
public struct LinkSettings: Sendable, Equatable {
    /// Round-trip time: half of it each way.
    public var roundTrip: UInt64 = 0
    /// Each piece is late by a random time up to this; order is kept.
    public var jitter: UInt64 = 0
    /// Bytes a second each way; nil: unlimited.
    public var bandwidth: Double?

    public init() {}

    public var isPerfect: Bool { self == LinkSettings() }
}

/// One direction of an emulated link: bytes go in, and come out when a real link would have carried them.
///
/// The link serialises at `bandwidth`, then delays. Payload bytes are counted, not what TLS, TCP and IP add (about 3 %).
/// Bounded: `isFull` once more is on its way than the link holds plus `slack`; the owner then stops putting bytes in,
/// as a sender does whose window is closed.
struct DelayLine {
    private struct Piece {
        let due: UInt64
        let bytes: [UInt8]
    }

    private let delay: UInt64
    private let jitter: UInt64
    private let bandwidth: Double?
    private let pieceSize: Int
    private let capacity: Int
    private var random: UInt64
    private var pieces: [Piece] = []
    private var head = 0
    private var freeAt: UInt64 = 0
    private var lastDue: UInt64 = 0
    /// Bytes on their way.
    private(set) var queued = 0
    /// What a sender may have on its way beyond what the link holds, bytes: the size of ordinary TCP buffers.
    static let slack = 4 << 20

    /// - Parameters:
    ///   - delay, jitter: nanoseconds one way.
    ///   - bandwidth: bytes a second.
    init(delay: UInt64, jitter: UInt64 = 0, bandwidth: Double? = nil, seed: UInt64) {
        self.delay = delay
        self.jitter = jitter
        self.bandwidth = bandwidth
        random = seed
        // Pieces of about 2 ms on the wire, at least an Ethernet frame.
        pieceSize = bandwidth.map { max(1448, min(65_536, Int($0 * 0.002))) } ?? 65_536
        let inside = bandwidth.map { Int(min($0 * Double(delay) * 1e-9, 1e9)) } ?? 0
        // A slow link has small buffers: a quarter of a second's worth.
        let slack = bandwidth.map { min(Self.slack, max(65_536, Int($0 / 4))) } ?? 4 * Self.slack
        capacity = inside + slack
    }

    var isEmpty: Bool { head == pieces.count }
    var isFull: Bool { queued >= capacity }

    /// When the next bytes come out; nil when none are on their way.
    var nextDue: UInt64? { isEmpty ? nil : pieces[head].due }

    /// - Parameter now: nanoseconds of the monotonic clock.
    mutating func put(_ bytes: UnsafePointer<UInt8>, count: Int, now: UInt64) {
        var offset = 0
        while offset < count {
            let size = min(pieceSize, count - offset)
            var due = now
            if let bandwidth {
                freeAt = max(freeAt, now) + UInt64(Double(size) / bandwidth * 1e9)
                due = freeAt
            }
            due += delay
            if jitter > 0 {
                random = random &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
                due += (random >> 33) % (jitter + 1)
            }
            lastDue = max(lastDue, due)
            pieces.append(
                Piece(due: lastDue, bytes: Array(UnsafeBufferPointer(start: bytes + offset, count: size))))
            offset += size
        }
        queued += count
    }

    /// The next bytes if they are due.
    mutating func take(now: UInt64) -> [UInt8]? {
        guard head < pieces.count, pieces[head].due <= now else { return nil }
        let bytes = pieces[head].bytes
        head += 1
        queued -= bytes.count
        if head == pieces.count {
            pieces.removeAll(keepingCapacity: head < 1024)
            head = 0
        } else if head >= 1024, head * 2 >= pieces.count {
            pieces.removeFirst(head)
            head = 0
        }
        return bytes
    }
}
