/// What a recording keeps of one request for a push: nothing that says whom it was for or what was in it.
package struct RecordedPush: Sendable, Equatable {
    /// What `apns-expiration` was.
    package enum Expiration: UInt8, Sendable {
        case absent = 0
        /// 0: try once.
        case once = 1
        /// Anything else: a time.
        case time = 2
    }

    /// When it began to come, ns since the recording began.
    package var time: UInt64 = 0
    /// Keyed hash of the device token; 0: there was none.
    package var device: UInt64 = 0
    /// Keyed hash of `apns-collapse-id`; 0: there was none.
    package var collapseID: UInt64 = 0
    /// Of the thread that served it. As read from a file: of all, from 0 in the order of their first pushes.
    package var connection: UInt32 = 0
    /// Bytes of the payload, at most `largest`.
    package var size: UInt32 = 0
    /// Its place among the recording's topics; 0: none, or one too many.
    package var topic: UInt16 = 0
    /// Of the answer; 0: it was never answered.
    package var status: UInt16 = 0
    /// Its place among the recording's push types; `none`: not one of them.
    package var type: UInt8 = 0
    /// 10, 5 or 1; 0: something else.
    package var priority: UInt8 = 0
    package var expiration = Expiration.absent
    /// `apns-push-type` and `apns-priority` were given.
    package var givesType = false
    package var givesPriority = false
    /// Its place among the recording's reasons; `none`: accepted, or never answered.
    package var reason: UInt8 = 255

    package static let none: UInt8 = 255
    /// What a larger payload is recorded as, bytes.
    package static let largest: UInt32 = 65_535
    /// Bytes of one in a file.
    static let length = 40

    package init() {}

    /// Little-endian, in the order of the table of `RecordingFile`.
    func write(to bytes: UnsafeMutableRawPointer) {
        bytes.storeBytes(of: time.littleEndian, as: UInt64.self)
        bytes.storeBytes(of: device.littleEndian, toByteOffset: 8, as: UInt64.self)
        bytes.storeBytes(of: collapseID.littleEndian, toByteOffset: 16, as: UInt64.self)
        bytes.storeBytes(of: connection.littleEndian, toByteOffset: 24, as: UInt32.self)
        bytes.storeBytes(of: size.littleEndian, toByteOffset: 28, as: UInt32.self)
        bytes.storeBytes(of: topic.littleEndian, toByteOffset: 32, as: UInt16.self)
        bytes.storeBytes(of: status.littleEndian, toByteOffset: 34, as: UInt16.self)
        let given: UInt8 = (givesType ? 16 : 0) | (givesPriority ? 32 : 0)
        bytes.storeBytes(of: type, toByteOffset: 36, as: UInt8.self)
        bytes.storeBytes(of: priority, toByteOffset: 37, as: UInt8.self)
        bytes.storeBytes(of: expiration.rawValue | given, toByteOffset: 38, as: UInt8.self)
        bytes.storeBytes(of: reason, toByteOffset: 39, as: UInt8.self)
    }

    /// - Returns: nil for what no push is written as.
    init?(_ bytes: UnsafeRawBufferPointer) {
        func number<Number: FixedWidthInteger>(_ place: Int, _: Number.Type) -> Number {
            Number(littleEndian: bytes.loadUnaligned(fromByteOffset: place, as: Number.self))
        }
        (time, device, collapseID) = (number(0, UInt64.self), number(8, UInt64.self), number(16, UInt64.self))
        (connection, size) = (number(24, UInt32.self), number(28, UInt32.self))
        (topic, status) = (number(32, UInt16.self), number(34, UInt16.self))
        (type, priority, reason) = (bytes[36], bytes[37], bytes[39])
        let kinds = bytes[38]
        guard let expiration = Expiration(rawValue: kinds & 15), kinds & 192 == 0, [0, 1, 5, 10].contains(priority),
            size <= Self.largest, time <= Self.latest
        else { return nil }
        self.expiration = expiration
        (givesType, givesPriority) = (kinds & 16 != 0, kinds & 32 != 0)
    }

    /// Ten years, ns: no recording is longer.
    private static let latest: UInt64 = 315_360_000_000_000_000
}
