/// The number in a JSON text that its field does not take: out of range, or not whole.
///
/// Foundation's decoder does not say which it is. A text in which all numbers up to that one are 0 is the first that is taken: found by
/// halving.
struct MisfitNumber: CustomStringConvertible {
    /// From 1.
    let line: Int
    let text: String
    /// Of its field; empty: it has none.
    let name: String

    var description: String {
        "line \(line)\(name.isEmpty ? "" : ", \"\(name)\""): \(text) does not fit there: out of range, or not whole"
    }

    /// Larger texts take too long to read again and again, bytes.
    private static let most = 2_000_000

    /// - Parameter isRefused: whether a number of a text does not fit.
    static func find(_ bytes: [UInt8], isRefused: ([UInt8]) -> Bool) -> MisfitNumber? {
        guard bytes.count <= most else { return nil }
        let all = JSONNumber.all(bytes)
        let numbers = all.map(\.range)
        var (taken, refused) = (numbers.count, 0)
        while taken - refused > 1 {
            let middle = refused + (taken - refused) / 2
            if isRefused(zeroed(bytes, numbers[..<middle])) { refused = middle } else { taken = middle }
        }
        guard taken > 0, !isRefused(zeroed(bytes, numbers[(taken - 1)..<taken])) else { return nil }
        let place = numbers[taken - 1]
        return MisfitNumber(
            line: JSONNumber.line(place.lowerBound, of: bytes),
            text: String(decoding: bytes[place].prefix(40), as: UTF8.self),
            name: String(decoding: bytes[all[taken - 1].name], as: UTF8.self))
    }

    /// The same text with other numbers: 0 and spaces.
    private static func zeroed(_ bytes: [UInt8], _ numbers: ArraySlice<Range<Int>>) -> [UInt8] {
        var bytes = bytes
        for number in numbers {
            for place in number { bytes[place] = UInt8(ascii: " ") }
            bytes[number.lowerBound] = UInt8(ascii: "0")
        }
        return bytes
    }
}
