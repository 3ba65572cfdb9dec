/// Texts that rows are put together from, one after the other in one block of memory, which it owns.
final class RowPieces: @unchecked Sendable {
    /// Where a text is.
    struct Piece {
        let start: UInt32
        let length: UInt32
    }

    private let base: UnsafeMutablePointer<UInt8>

    /// - Parameter bytes: all texts, below 4 GiB.
    init(_ bytes: [UInt8]) {
        base = .allocate(capacity: max(bytes.count, 1))
        bytes.withUnsafeBufferPointer { source in
            if let start = source.baseAddress { base.update(from: start, count: bytes.count) }
        }
    }

    deinit { base.deallocate() }

    /// Copies a text without its first `skipped` bytes; returns how many bytes.
    @inline(__always)
    func write(_ piece: Piece, skipping skipped: Int = 0, into output: UnsafeMutablePointer<UInt8>) -> Int {
        let length = Int(piece.length) &- skipped
        output.update(from: base + (Int(piece.start) &+ skipped), count: length)
        return length
    }

    /// Collects the texts.
    struct Builder {
        private(set) var bytes: [UInt8] = []

        mutating func add(_ text: some Sequence<UInt8>) -> Piece {
            let start = bytes.count
            bytes += text
            return Piece(start: UInt32(start), length: UInt32(bytes.count - start))
        }
    }
}

/// One of several texts, each with its share; or the text for none of them.
struct PieceChoice {
    /// Of 2^64 random numbers, how many fall on a text or one before it.
    private let limits: [UInt64]
    private let isFull: Bool
    /// The last one is that of none.
    let pieces: [RowPieces.Piece]

    init(_ shares: [Double], pieces: [RowPieces.Piece], none: RowPieces.Piece) {
        var sum = 0.0
        limits = shares.map { share in
            sum += share
            return sum >= 0.999_999 ? .max : UInt64(sum * 0x1p64)
        }
        isFull = sum >= 0.999_999
        self.pieces = pieces + [none]
    }

    /// The place of the text, that of none being the last.
    @inline(__always)
    func place(_ random: UInt64) -> Int {
        var low = 0
        var high = limits.count
        while low < high {
            let middle = (low &+ high) &>> 1
            if random < limits[middle] { high = middle } else { low = middle &+ 1 }
        }
        return isFull && low == limits.count ? low &- 1 : low
    }
}
