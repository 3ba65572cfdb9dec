import Glibc

/// Pairs of a key (a hash, a moment) and a row, each in one UInt64 with the key on top, so that sorting them sorts by key and
/// then by row.
enum NumberPairs {
    @inline(__always)
    static func pair(_ key: UInt32, _ row: UInt32) -> UInt64 { UInt64(key) << 32 | UInt64(row) }

    @inline(__always)
    static func key(_ pair: UInt64) -> UInt32 { UInt32(truncatingIfNeeded: pair >> 32) }

    @inline(__always)
    static func row(_ pair: UInt64) -> UInt32 { UInt32(truncatingIfNeeded: pair) }

    /// Sorts by key; pairs of the same key keep their order (rows come ascending). Radix sort, three passes of 11 bits, memory for
    /// as many pairs again.
    static func sort(_ pairs: GrowingColumn<UInt64>) {
        let count = pairs.count
        guard count > 1 else { return }
        let other = GrowingColumn<UInt64>(capacity: count)
        var from = pairs.base
        var to = other.extend(count)
        withUnsafeTemporaryAllocation(of: Int.self, capacity: 2048) { places in
            guard let places = places.baseAddress else { return }
            for shift in [32, 43, 54] as [UInt64] {
                places.initialize(repeating: 0, count: 2048)
                for index in 0..<count { places[Int((from[index] >> shift) & 2047)] += 1 }
                var sum = 0
                for digit in 0..<2048 {
                    let here = places[digit]
                    places[digit] = sum
                    sum += here
                }
                for index in 0..<count {
                    let digit = Int((from[index] >> shift) & 2047)
                    to[places[digit]] = from[index]
                    places[digit] += 1
                }
                swap(&from, &to)
            }
        }
        // After three passes the sorted ones are in the other memory.
        memcpy(pairs.base, from, count * 8)
    }

    /// The first of the sorted pairs that is not below `bound`.
    static func lowerBound(_ pairs: UnsafeBufferPointer<UInt64>, _ bound: UInt64) -> Int {
        var low = 0
        var high = pairs.count
        while low < high {
            let middle = low + (high - low) / 2
            if pairs[middle] < bound { low = middle + 1 } else { high = middle }
        }
        return low
    }

    /// Those with a key.
    static func range(_ pairs: UnsafeBufferPointer<UInt64>, key: UInt32) -> Range<Int> {
        let start = lowerBound(pairs, pair(key, 0))
        let end = key == .max ? pairs.count : lowerBound(pairs, pair(key + 1, 0))
        return start..<max(start, end)
    }
}
