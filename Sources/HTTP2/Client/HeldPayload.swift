/// A payload, or the rest of one, that flow control holds back.
struct HeldPayload {
    private let bytes: UnsafeMutablePointer<UInt8>
    private let count: Int
    private var offset = 0

    /// Takes a copy of the bytes; for the caller to `release`.
    static func make(_ bytes: UnsafePointer<UInt8>, count: Int) -> UnsafeMutablePointer<HeldPayload> {
        let copy = UnsafeMutablePointer<UInt8>.allocate(capacity: count)
        copy.update(from: bytes, count: count)
        let held = UnsafeMutablePointer<HeldPayload>.allocate(capacity: 1)
        held.initialize(to: HeldPayload(bytes: copy, count: count))
        return held
    }

    static func release(_ held: UnsafeMutablePointer<HeldPayload>) {
        held.pointee.bytes.deallocate()
        held.deallocate()
    }

    private init(bytes: UnsafeMutablePointer<UInt8>, count: Int) {
        self.bytes = bytes
        self.count = count
    }

    /// Bytes not yet sent.
    var rest: Int { count - offset }

    /// Moves the next `count` bytes to `buffer`.
    mutating func send(_ count: Int, into buffer: UnsafeMutablePointer<UInt8>) {
        buffer.update(from: bytes + offset, count: count)
        offset += count
    }
}
