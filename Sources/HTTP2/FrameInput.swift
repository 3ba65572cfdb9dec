import Glibc

/// A complete frame; the payload is valid as long as the bytes it lies in.
struct FrameView {
    var type: UInt8 = 0
    var flags: UInt8 = 0
    var stream: Int32 = 0
    var payload = UnsafePointer<UInt8>(bitPattern: 1)!
    var length = 0

    /// Where the payload begins and ends without padding (RFC 9113 sections 6.1 and 6.2); nil when the padding is too long.
    @inline(__always)
    func unpadded() -> (Int, Int)? {
        if flags & Frame.padded == 0 { return (0, length) }
        guard length > 0, Int(payload[0]) < length else { return nil }
        return (1, length &- Int(payload[0]))
    }
}

/// Memory for a frame in pieces; as large as the largest there was.
private struct PieceMemory {
    private(set) var memory: UnsafeMutablePointer<UInt8>?
    private(set) var capacity = 0

    mutating func ensure(_ size: Int, keeping count: Int) -> UnsafeMutablePointer<UInt8> {
        if let memory, size <= capacity { return memory }
        capacity = max(512, size + size / 2)
        let larger = UnsafeMutablePointer<UInt8>.allocate(capacity: capacity)
        if let memory {
            larger.update(from: memory, count: count)
            memory.deallocate()
        }
        memory = larger
        return larger
    }

    mutating func release() {
        memory?.deallocate()
        memory = nil
        capacity = 0
    }
}

/// Cuts what a peer sends into frames (RFC 9113 section 4.1), and gathers header blocks that come in pieces. A frame that came in
/// pieces is put together here; all others are looked at where they lie.
struct FrameInput: ~Copyable {
    enum Step {
        case frame
        case needsMore
        case oversized(type: UInt8, stream: Int32, length: Int)
        case notHTTP2
    }

    /// The largest payload a frame may have, bytes.
    var maxFrame: Int
    private var prefaceLeft: Int
    private var bytes = UnsafePointer<UInt8>(bitPattern: 1)!
    private var count = 0
    private var offset = 0
    /// A frame's beginning. Two memories in turn: what is put together may still be looked at when the next is kept.
    private var kept = PieceMemory()
    private var other = PieceMemory()
    private var keptCount = 0

    // A header block in pieces.
    private(set) var blockStream: Int32 = 0
    private var blockEndsStream = false
    private var blockBytes: [UInt8] = []
    /// CONTINUATION frames of the block, and those of them that carry nothing.
    private(set) var blockPieces = 0
    private(set) var emptyPieces = 0
    static let largestBlock = 65_536

    /// - Parameter hasPreface: the peer is a client, who begins with the connection preface (RFC 9113 section 3.4).
    init(maxFrame: Int = 16_384, hasPreface: Bool) {
        self.maxFrame = maxFrame
        prefaceLeft = hasPreface ? Frame.preface.count : 0
    }

    deinit {
        kept.memory?.deallocate()
        other.memory?.deallocate()
    }

    /// Bytes of memory for frames and header blocks in pieces.
    var capacity: Int { kept.capacity + other.capacity + blockBytes.capacity }

    /// Gives back what no frame in pieces lies in; what frames that were told of lay in is then gone.
    mutating func shrink() {
        if keptCount == 0 { kept.release() }
        other.release()
    }

    mutating func begin(_ bytes: UnsafePointer<UInt8>, _ count: Int) {
        self.bytes = bytes
        self.count = count
        offset = 0
    }

    @inline(__always)
    mutating func next(_ frame: inout FrameView) -> Step {
        if prefaceLeft > 0 || keptCount > 0 {
            if let step = nextUnusual(&frame) { return step }
        }
        let left = count &- offset
        if left < Frame.headerLength { return .needsMore }
        let start = bytes + offset
        Self.read(start, &frame)
        if frame.length > maxFrame {
            return .oversized(type: frame.type, stream: frame.stream, length: frame.length)
        }
        if left < Frame.headerLength &+ frame.length { return .needsMore }
        frame.payload = start + Frame.headerLength
        offset &+= Frame.headerLength &+ frame.length
        return .frame
    }

    @inline(__always)
    private static func read(_ start: UnsafePointer<UInt8>, _ frame: inout FrameView) {
        let word = Frame.read32(start)
        frame.length = Int(word >> 8)
        frame.type = UInt8(truncatingIfNeeded: word)
        frame.flags = start[4]
        frame.stream = Int32(bitPattern: Frame.read32(start + 5) & 0x7FFF_FFFF)
    }

    /// The preface, or a frame of which part came before; nil when the next one lies in the new bytes.
    private mutating func nextUnusual(_ frame: inout FrameView) -> Step? {
        if prefaceLeft > 0 {
            let length = min(prefaceLeft, count - offset)
            let place = Frame.preface.count - prefaceLeft
            for index in 0..<length where bytes[offset + index] != Frame.preface[place + index] { return .notHTTP2 }
            prefaceLeft -= length
            offset += length
            if prefaceLeft > 0 { return .needsMore }
        }
        guard keptCount > 0 else { return nil }
        fill(to: Frame.headerLength)
        if keptCount < Frame.headerLength { return .needsMore }
        Self.read(kept.memory!, &frame)
        if frame.length > maxFrame {
            keptCount = 0
            return .oversized(type: frame.type, stream: frame.stream, length: frame.length)
        }
        fill(to: Frame.headerLength + frame.length)
        if keptCount < Frame.headerLength + frame.length { return .needsMore }
        frame.payload = UnsafePointer(kept.memory!) + Frame.headerLength
        keptCount = 0
        swap(&kept, &other)
        return .frame
    }

    private mutating func fill(to length: Int) {
        let missing = min(length - keptCount, count - offset)
        guard missing > 0 else { return }
        (kept.ensure(length, keeping: keptCount) + keptCount).update(from: bytes + offset, count: missing)
        keptCount += missing
        offset += missing
    }

    /// Keeps what is left for the next time.
    mutating func keep() {
        let left = count - offset
        guard left > 0 else { return }
        (kept.ensure(keptCount + left, keeping: keptCount) + keptCount).update(from: bytes + offset, count: left)
        keptCount += left
        offset = count
    }

    // MARK: Header blocks in pieces

    var isInBlock: Bool { blockStream != 0 }

    /// The stream of a header block that has begun and not ended; nil when there is none.
    var unfinishedHeaders: Int32? {
        if isInBlock { return blockStream }
        guard keptCount >= Frame.headerLength, let memory = kept.memory, memory[3] == Frame.headers else { return nil }
        return Int32(bitPattern: Frame.read32(memory + 5) & 0x7FFF_FFFF)
    }

    mutating func beginBlock(_ stream: Int32, _ endsStream: Bool, _ bytes: UnsafePointer<UInt8>, _ count: Int) {
        blockStream = stream
        blockEndsStream = endsStream
        blockBytes = Array(UnsafeBufferPointer(start: bytes, count: count))
        blockPieces = 0
        emptyPieces = 0
    }

    /// - Returns: false when there are more bytes than are taken. How many pieces there may be is the session's business.
    mutating func appendToBlock(_ bytes: UnsafePointer<UInt8>, _ count: Int) -> Bool {
        blockPieces += 1
        if count == 0 { emptyPieces += 1 }
        guard blockBytes.count + count <= Self.largestBlock else { return false }
        blockBytes.append(contentsOf: UnsafeBufferPointer(start: bytes, count: count))
        return true
    }

    mutating func endBlock() -> (stream: Int32, endsStream: Bool, bytes: [UInt8]) {
        let block = (blockStream, blockEndsStream, blockBytes)
        blockStream = 0
        blockBytes = []
        return block
    }
}
