import HTTP2

/// All header fields of one request, in their order and as they came, in one piece of memory: for each two lengths of two bytes, low
/// byte first, then name and value. Bounded: fields beyond `capacity` bytes are only counted.
struct HeaderRecord: Sendable {
    static let capacity = 16_384
    private static let usual = 768

    private var bytes: [UInt8] = []
    /// Fields that had no room.
    private(set) var lost = 0

    mutating func add(_ field: HPACKField) {
        let (name, value) = (field.nameLength, field.valueLength)
        guard bytes.count + name + value + 4 <= Self.capacity else {
            lost += 1
            return
        }
        if bytes.isEmpty { bytes.reserveCapacity(Self.usual) }
        for length in [name, value] {
            bytes.append(UInt8(truncatingIfNeeded: length))
            bytes.append(UInt8(truncatingIfNeeded: length >> 8))
        }
        bytes.append(contentsOf: UnsafeBufferPointer(start: field.name, count: name))
        bytes.append(contentsOf: UnsafeBufferPointer(start: field.value, count: value))
    }

    /// Bytes of memory.
    var held: Int { bytes.capacity }

    mutating func reset() {
        guard !bytes.isEmpty || lost > 0 else { return }
        // Kept requests share the memory.
        bytes = []
        lost = 0
    }

    /// Names and values. What is not UTF-8 in them is replaced.
    var fields: [(name: String, value: String)] {
        var fields: [(name: String, value: String)] = []
        var place = 0
        while place + 4 <= bytes.count {
            let name = Int(bytes[place]) | Int(bytes[place + 1]) << 8
            let value = Int(bytes[place + 2]) | Int(bytes[place + 3]) << 8
            place += 4
            fields.append(
                (
                    String(decoding: bytes[place..<place + name], as: UTF8.self),
                    String(decoding: bytes[place + name..<place + name + value], as: UTF8.self)
                ))
            place += name + value
        }
        return fields
    }
}
