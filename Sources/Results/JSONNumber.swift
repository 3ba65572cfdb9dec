/// A number in a JSON text, with the names it stands under.
struct JSONNumber {
    /// Its bytes.
    let range: Range<Int>
    /// Bytes of the last name before it, and of the outermost object's name it stands under; empty: none.
    let name: Range<Int>
    let section: Range<Int>

    /// All of them in order, those in strings left out.
    static func all(_ bytes: [UInt8]) -> [JSONNumber] {
        bytes.withUnsafeBufferPointer { all($0) }
    }

    private static func isPart(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "+"), UInt8(ascii: "."),
            UInt8(ascii: "e"), UInt8(ascii: "E"):
            true
        default: false
        }
    }

    private static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 }

    private static func all(_ bytes: UnsafeBufferPointer<UInt8>) -> [JSONNumber] {
        var found: [JSONNumber] = []
        var (name, section) = (0..<0, 0..<0)
        var depth = 0
        var place = 0
        while place < bytes.count {
            switch bytes[place] {
            case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
            case UInt8(ascii: "}"), UInt8(ascii: "]"): depth -= 1
            case UInt8(ascii: "\""):
                let text = string(bytes, from: place + 1)
                place = text.upperBound
                var next = place + 1
                while next < bytes.count, isSpace(bytes[next]) { next += 1 }
                guard next < bytes.count, bytes[next] == UInt8(ascii: ":") else { break }
                name = text
                if depth == 1 { section = text }
            case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"):
                var end = place + 1
                while end < bytes.count, isPart(bytes[end]) { end += 1 }
                found.append(JSONNumber(range: place..<end, name: name, section: section))
                place = end
                continue
            default: break
            }
            place += 1
        }
        return found
    }

    /// Up to its closing quotation mark, or the end.
    private static func string(_ bytes: UnsafeBufferPointer<UInt8>, from begin: Int) -> Range<Int> {
        var place = begin
        while place < bytes.count, bytes[place] != UInt8(ascii: "\"") {
            place += bytes[place] == UInt8(ascii: "\\") ? 2 : 1
        }
        return begin..<min(place, bytes.count)
    }

    /// From 1.
    static func line(_ place: Int, of bytes: [UInt8]) -> Int { 1 + bytes[..<place].count { $0 == 0x0A } }
}
