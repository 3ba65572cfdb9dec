/// An answer's header block as HPACK bytes (RFC 7541): static entries and literals without indexing, so that it is the same
/// whatever the client's table holds. Values of fixed length can be set before each use.
public final class ResponseBlock {
    let bytes: UnsafeMutablePointer<UInt8>
    private(set) var count = 0
    private let capacity: Int

    /// - Parameter capacity: bytes; every name and value, and 12 a field.
    public init(capacity: Int) {
        self.capacity = capacity
        bytes = .allocate(capacity: capacity)
    }

    deinit { bytes.deallocate() }

    /// `:status`, first of all.
    public func addStatus(_ status: Int) {
        let known = [200: 0x88, 204: 0x89, 206: 0x8A, 304: 0x8B, 400: 0x8C, 404: 0x8D, 500: 0x8E]
        if let entry = known[status] {
            put(UInt8(entry))
        } else {
            // Literal without indexing, name of static entry 8.
            put(0x08)
            putText(Array(String(status).utf8))
        }
    }

    public func add(_ name: String, _ value: String) {
        put(0x00)
        putText(Array(name.utf8))
        putText(Array(value.utf8))
    }

    /// Adds a field whose value, always `length` bytes, `set` gives; returns its place.
    public func addVariable(_ name: String, length: Int) -> Int {
        put(0x00)
        putText(Array(name.utf8))
        putText([UInt8](repeating: 0x2D, count: length))
        return count - length
    }

    @inline(__always)
    public func set(_ place: Int, _ value: UnsafePointer<UInt8>, _ length: Int) {
        (bytes + place).update(from: value, count: length)
    }

    /// Where a variable's value lies.
    public func value(at place: Int) -> UnsafeMutablePointer<UInt8> { bytes + place }

    private func put(_ byte: UInt8) {
        precondition(count < capacity, "a header block of \(capacity) bytes is full")
        bytes[count] = byte
        count += 1
    }

    private func putText(_ text: [UInt8]) {
        var rest = text.count
        if rest < 127 {
            put(UInt8(rest))
        } else {
            put(0x7F)
            rest -= 127
            while rest >= 128 {
                put(UInt8(rest & 127) | 128)
                rest >>= 7
            }
            put(UInt8(rest))
        }
        for byte in text { put(byte) }
    }
}
