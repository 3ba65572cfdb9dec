import Glibc

/// The header blocks that a connection's requests repeat byte for byte, but for the value of `:path`: what clients send that have all other
/// fields in their table. While the table is what it was, such a block says what it said before, and need not be decoded again. One that
/// has come twice in a row is kept.
///
/// Bounded: `most` blocks, of at most `RepeatedBlock.mostBytes` before the path and as many behind it.
///
/// Cost: a few comparisons a block. One that has to be decoded is `server-push` of `make bench-instructions`, one that repeats another is
/// part of `client-and-mock`.
struct RepeatedBlocks: ~Copyable {
    static let most = 4

    private let blocks: UnsafeMutablePointer<RepeatedBlock>
    /// The last block that was not kept.
    private var candidate = RepeatedBlock()
    /// Where the last one was found that was, and where the next goes.
    private var last = 0
    private var next = 0
    private var kept = 0
    /// Blocks in a row that were none of these.
    private var misses = 0
    /// From so many on, only the first two of so many are looked at: their client repeats nothing.
    private static let patience = 16

    init() {
        blocks = .allocate(capacity: Self.most)
        blocks.initialize(repeating: RepeatedBlock(), count: Self.most)
    }

    deinit {
        release()
        blocks.deallocate()
    }

    private func release() {
        for place in 0..<Self.most { blocks[place].release() }
        candidate.release()
    }

    mutating func forget() {
        release()
        blocks.update(repeating: RepeatedBlock(), count: Self.most)
        candidate = RepeatedBlock()
        (next, kept, misses) = (0, 0, 0)
    }

    /// The path of a block that repeats one of those that are kept.
    ///
    /// - Parameters:
    ///   - most: what the size of its fields may be.
    ///   - place: is set to the number of the one that it repeats, below `most`.
    /// - Returns: nil when it is another block, or the path is not one that HTTP/2 allows.
    @inline(__always)
    mutating func repeated(
        _ bytes: UnsafePointer<UInt8>, _ count: Int, _ decoder: HPACKDecoder, most: Int, _ place: inout Int
    ) -> UnsafeBufferPointer<UInt8>? {
        if let path = blocks[last].repeated(bytes, count, decoder, most: most) {
            place = last
            misses = 0
            return path
        }
        return other(bytes, count, decoder, most: most, &place)
    }

    private mutating func other(
        _ bytes: UnsafePointer<UInt8>, _ count: Int, _ decoder: HPACKDecoder, most: Int, _ place: inout Int
    ) -> UnsafeBufferPointer<UInt8>? {
        for number in 0..<kept {
            if let path = blocks[number].repeated(bytes, count, decoder, most: most) {
                (last, misses) = (number, 0)
                place = number
                return path
            }
        }
        return nil
    }

    /// A block that is none of these is about to be decoded: whether it may become one of them.
    mutating func isPromising() -> Bool {
        misses &+= 1
        return misses < Self.patience || misses & (Self.patience - 1) < 2
    }

    /// Where a block is to be kept; nil when it has not come twice.
    mutating func place(
        for block: RepeatedBlock, _ bytes: UnsafePointer<UInt8>, _ count: Int, _ decoder: HPACKDecoder
    ) -> Int? {
        guard candidate.repeated(bytes, count, decoder, most: .max) != nil else {
            candidate.release()
            candidate = block
            return nil
        }
        return next
    }

    mutating func keep(_ block: RepeatedBlock, at place: Int) {
        blocks[place].release()
        blocks[place] = block
        next = (place + 1) % Self.most
        kept = max(kept, place + 1)
    }

    func contentLength(at place: Int) -> Int64 { blocks[place].contentLength }
}

/// One of them.
struct RepeatedBlock {
    /// Of what comes before the path's length, and of what is behind its value.
    static let mostBytes = 512
    /// So many at both ends of a block are compared in a few steps.
    private static let step = 16

    /// Sixteen bytes, those that count at one end.
    private struct Piece {
        private var words: (UInt64, UInt64) = (0, 0)
        private var masks: (UInt64, UInt64) = (0, 0)

        init() {}

        /// Fewer than sixteen.
        init(few bytes: UnsafePointer<UInt8>, _ count: Int) {
            withUnsafeMutableBytes(of: &words) {
                $0.copyMemory(from: UnsafeRawBufferPointer(start: bytes, count: count))
            }
        }

        func isAt(few bytes: UnsafePointer<UInt8>, _ count: Int) -> Bool {
            withUnsafeBytes(of: words) { memcmp($0.baseAddress!, bytes, count) == 0 }
        }

        /// - Parameter isLast: the last ones of the sixteen count, not the first ones.
        init(_ bytes: UnsafePointer<UInt8>, _ count: Int, isLast: Bool) {
            var mask = InlineArray<16, UInt8>(repeating: 0)
            for place in 0..<count { mask[isLast ? 15 - place : place] = 0xFF }
            masks = mask.span.withUnsafeBytes {
                ($0.loadUnaligned(as: UInt64.self), $0.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
            }
            words = Self.load(bytes)
        }

        @inline(__always)
        private static func load(_ bytes: UnsafePointer<UInt8>) -> (UInt64, UInt64) {
            let bytes = UnsafeRawPointer(bytes)
            return (bytes.loadUnaligned(as: UInt64.self), bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
        }

        @inline(__always)
        func isAt(_ bytes: UnsafePointer<UInt8>) -> Bool {
            let other = Self.load(bytes)
            return (other.0 ^ words.0) & masks.0 | (other.1 ^ words.1) & masks.1 == 0
        }
    }

    /// All of them, where there are more than are compared so: of clients that spell their token out. Whoever holds the block calls
    /// `release`.
    private var long: UnsafeMutablePointer<UInt8>?
    private var first16 = Piece()
    private var last16 = Piece()
    /// Bytes before the path's length, and behind its value; with an indexed path all of them are before it.
    private var before = 0
    private var behind = 0
    /// The path where it is indexed, too; nil: it is a literal, its length a byte.
    private var path: UnsafeBufferPointer<UInt8>?
    /// The literal is coded with Huffman.
    private var isCoded = false
    /// Of the decoder's table, when the block was read; -1: there is none.
    private(set) var version = -1
    /// From content-length, -1: none.
    private(set) var contentLength: Int64 = -1
    /// Of the fields in the sense of RFC 9113 section 10.5.1, without the path's value.
    private var size = 0

    init() {}

    /// A block whose fields are all right.
    ///
    /// - Parameters:
    ///   - path: its field `:path`, and where that begins in the block.
    ///   - size: of all its fields.
    ///   - decoder: has read it, and changed nothing for it.
    /// - Returns: nil when it is not to be known again.
    init?(
        _ block: UnsafePointer<UInt8>, _ count: Int, path: HPACKField, at place: Int, size: Int, contentLength: Int64,
        _ decoder: HPACKDecoder
    ) {
        let first = block[place]
        if first & 0xE0 == 0 {
            // A literal that is not put into the table, whose name is an index of four bits (RFC 7541 section 6.2.2).
            guard first & 0x0F != 0, first & 0x0F != 0x0F, place &+ 2 <= count else { return nil }
            let length = Int(block[place &+ 1] & 0x7F)
            guard length > 0, length < 0x7F, place &+ 2 &+ length <= count else { return nil }
            isCoded = block[place &+ 1] >= 0x80
            before = place &+ 1
            behind = count &- before &- 1 &- length
        } else {
            guard decoder.isInTable(path.value) else { return nil }
            before = count
            self.path = UnsafeBufferPointer(start: path.value, count: path.valueLength)
        }
        guard before <= Self.mostBytes, behind <= Self.mostBytes else { return nil }
        if before > Self.step || behind > Self.step {
            let memory = UnsafeMutablePointer<UInt8>.allocate(capacity: before &+ behind)
            memory.update(from: block, count: before)
            (memory + before).update(from: block + (count &- behind), count: behind)
            long = memory
        }
        if count >= Self.step {
            first16 = Piece(block, min(before, Self.step), isLast: false)
            last16 = Piece(block + (count &- Self.step), min(behind, Self.step), isLast: true)
        } else {
            guard self.path != nil else { return nil }
            first16 = Piece(few: block, count)
        }
        self.contentLength = contentLength
        self.size = size &- path.valueLength
        version = decoder.version
    }

    /// The path of a block that repeats this one; valid until the decoder is asked for anything.
    @inline(__always)
    func repeated(
        _ block: UnsafePointer<UInt8>, _ count: Int, _ decoder: HPACKDecoder, most: Int
    ) -> UnsafeBufferPointer<UInt8>? {
        guard decoder.version == version, count >= before &+ behind else { return nil }
        guard count >= Self.step else {
            guard let path, count == before, size &+ path.count <= most, first16.isAt(few: block, count) else {
                return nil
            }
            return path
        }
        guard first16.isAt(block), last16.isAt(block + (count &- Self.step)), long == nil || isLong(block, count) else {
            return nil
        }
        if let path { return count == before && size &+ path.count <= most ? path : nil }
        let length = count &- before &- 1 &- behind
        guard length > 0, length < 0x7F, Int(block[before]) == length | (isCoded ? 0x80 : 0) else { return nil }
        let value = block + (before &+ 1)
        if isCoded { return coded(value, length, decoder, most: most) }
        guard size &+ length <= most, FieldValue.isValid(value, length) else { return nil }
        return UnsafeBufferPointer(start: value, count: length)
    }

    @inline(never)
    private func isLong(_ block: UnsafePointer<UInt8>, _ count: Int) -> Bool {
        memcmp(long!, block, before) == 0 && memcmp(long! + before, block + (count &- behind), behind) == 0
    }

    func release() { long?.deallocate() }

    @inline(never)
    private func coded(
        _ text: UnsafePointer<UInt8>, _ length: Int, _ decoder: HPACKDecoder, most: Int
    ) -> UnsafeBufferPointer<UInt8>? {
        guard let value = decoder.decodedValue(HeaderMark.path, text, length), value.count > 0,
            size &+ value.count <= most, FieldValue.isValid(value.baseAddress!, value.count)
        else { return nil }
        return value
    }
}
