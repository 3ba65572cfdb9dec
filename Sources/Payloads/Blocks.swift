/// Copying short texts: whole blocks instead of a call to memcpy with a length it must branch on.
enum Blocks {
    static let size = 64

    /// Copies `count` bytes, rounded up to blocks and at least one: up to 64 bytes beyond the source are read, as many
    /// beyond the target written.
    @inline(__always)
    static func copy(_ source: UnsafePointer<UInt8>, _ count: Int, to target: UnsafeMutablePointer<UInt8>) {
        let from = UnsafeRawPointer(source)
        let to = UnsafeMutableRawPointer(target)
        var offset = 0
        repeat {
            to.storeBytes(
                of: from.loadUnaligned(fromByteOffset: offset, as: SIMD64<UInt8>.self), toByteOffset: offset,
                as: SIMD64<UInt8>.self)
            offset &+= size
        } while offset < count
    }
}
