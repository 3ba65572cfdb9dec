import CVector
import Foundation

/// A random UUID (RFC 9562 version 4).
struct RandomUUID: Hashable, Sendable {
    let high: UInt64
    let low: UInt64
}

extension RandomUUID {
    /// nil: it is no UUID's text.
    init?(_ text: String) {
        guard let uuid = UUID(uuidString: text)?.uuid else { return nil }
        (high, low) = withUnsafeBytes(of: uuid) {
            (
                UInt64(bigEndian: $0.loadUnaligned(as: UInt64.self)),
                UInt64(bigEndian: $0.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
            )
        }
    }

    /// Writes its 36 characters, lower case.
    @inline(__always)
    func write(to text: UnsafeMutablePointer<UInt8>) {
        var digits = SIMD32<UInt8>()
        withUnsafeMutableBytes(of: &digits) { digits in
            pushload_write_hex(high, low, digits.baseAddress!.assumingMemoryBound(to: UInt8.self))
            let text = UnsafeMutableRawPointer(text)
            // 8-4-4-4-12.
            text.storeBytes(of: digits.loadUnaligned(as: UInt64.self), as: UInt64.self)
            text.storeBytes(
                of: digits.loadUnaligned(fromByteOffset: 8, as: UInt32.self), toByteOffset: 9, as: UInt32.self)
            text.storeBytes(
                of: digits.loadUnaligned(fromByteOffset: 12, as: UInt32.self), toByteOffset: 14, as: UInt32.self)
            text.storeBytes(
                of: digits.loadUnaligned(fromByteOffset: 16, as: UInt32.self), toByteOffset: 19, as: UInt32.self)
            text.storeBytes(
                of: digits.loadUnaligned(fromByteOffset: 20, as: UInt64.self), toByteOffset: 24, as: UInt64.self)
            text.storeBytes(
                of: digits.loadUnaligned(fromByteOffset: 28, as: UInt32.self), toByteOffset: 32, as: UInt32.self)
            text.storeBytes(of: 0x2D, toByteOffset: 8, as: UInt8.self)
            text.storeBytes(of: 0x2D, toByteOffset: 13, as: UInt8.self)
            text.storeBytes(of: 0x2D, toByteOffset: 18, as: UInt8.self)
            text.storeBytes(of: 0x2D, toByteOffset: 23, as: UInt8.self)
        }
    }

    /// Lower case.
    var text: String {
        var bytes = UUID().uuid
        withUnsafeMutableBytes(of: &bytes) {
            $0.storeBytes(of: high.bigEndian, as: UInt64.self)
            $0.storeBytes(of: low.bigEndian, toByteOffset: 8, as: UInt64.self)
        }
        return UUID(uuid: bytes).uuidString.lowercased()
    }
}
