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
