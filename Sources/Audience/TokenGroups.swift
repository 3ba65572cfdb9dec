import Glibc

/// Rows that have the same token: installations of one device. Digits a to f are the same large and small.
enum TokenGroups {
    @inline(__always)
    static func hash(_ base: UnsafePointer<UInt8>, _ length: Int) -> UInt32 {
        TagName.key(ByteHash.of(base, length, setting: 0x20))
    }

    @inline(__always)
    static func order(
        _ left: UnsafePointer<UInt8>, _ leftLength: Int, _ right: UnsafePointer<UInt8>, _ rightLength: Int
    ) -> Int {
        if leftLength != rightLength { return leftLength - rightLength }
        for index in 0..<leftLength {
            let difference = Int(left[index] | 0x20) - Int(right[index] | 0x20)
            if difference != 0 { return difference }
        }
        return 0
    }

    /// Groups of at least two rows: pairs of a group's number and a row, both ascending.
    static func find(
        _ pairs: GrowingColumn<UInt64>, _ tokens: GrowingColumn<UInt64>, _ file: MappedFile
    ) -> GrowingColumn<UInt64> {
        let groups = GrowingColumn<UInt64>()
        var number: UInt32 = 0
        func order(_ left: UInt32, _ right: UInt32) -> Int {
            let (left, right) = (tokens.base[Int(left)], tokens.base[Int(right)])
            return Self.order(
                file.base + IndexPlace.start(left), IndexPlace.length(left), file.base + IndexPlace.start(right),
                IndexPlace.length(right))
        }
        var start = 0
        var compared = 0
        while start < pairs.count {
            var end = start + 1
            let key = NumberPairs.key(pairs.base[start])
            while end < pairs.count, NumberPairs.key(pairs.base[end]) == key { end += 1 }
            if end - start > 1 {
                // Of ten million tokens 12,000 have the hash of another one, and each that is looked at brings hundreds of KiB around
                // it into this process' memory.
                compared += 1
                if compared & 0x3F == 0 { file.leave(before: file.size) }
                // Other tokens may have the same hash: sorted by their digits the same ones are side by side.
                let rows = (start..<end).map { NumberPairs.row(pairs.base[$0]) }.sorted {
                    let order = order($0, $1)
                    return order != 0 ? order < 0 : $0 < $1
                }
                var first = 0
                while first < rows.count {
                    var next = first + 1
                    while next < rows.count, order(rows[first], rows[next]) == 0 { next += 1 }
                    if next - first > 1 {
                        for index in first..<next { groups.append(NumberPairs.pair(number, rows[index])) }
                        number += 1
                    }
                    first = next
                }
            }
            start = end
        }
        return groups
    }
}
