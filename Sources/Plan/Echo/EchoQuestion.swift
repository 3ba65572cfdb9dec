import Devices
import Harness

/// What is asked about the requests that devices make of their backend.
struct EchoQuestion {
    /// As it was named: `on`, or a file.
    var name: String
    var model: DeviceModel
    var pushes: EchoPushes
    /// From a request being made to its answer being there, ns.
    var backendTime = TimeDistribution.constant(0)
    /// Of the body of an answer to a fetch or a download, bytes; nil: not asked.
    var body: Double?
    /// When the fan-out begins, nanoseconds since midnight UTC.
    var timeOfDay: UInt64 = 12 * 3_600_000_000_000
    /// Of the devices, the payloads, and the backend's times.
    var seed: UInt64 = 1
    /// Devices that are simulated first, and at most.
    var fewest = 50_000
    var most = 500_000

    /// Midnight of a day, nanoseconds since 1970: 1 January 2026.
    static let day: UInt64 = 1_767_225_600_000_000_000
    var begin: UInt64 { Self.day + min(timeOfDay, 86_400_000_000_000) }
}

/// The pushes of a fan-out, one for each device.
struct EchoPushes {
    let count: UInt64
    /// Makes the push of a number below `count`, at UNIX seconds.
    let make: (_ sequence: UInt64, _ time: UInt64, _ body: (DevicePush) -> Void) -> Void

    init(count: UInt64, make: @escaping (UInt64, UInt64, (DevicePush) -> Void) -> Void) {
        self.count = count
        self.make = make
    }

    init(_ sample: PushSample) {
        self.init(count: sample.count) { sequence, time, body in
            sample.make(sequence, unixTime: time) { push in
                Array((push.collapseID ?? "").utf8).withUnsafeBytes { collapseID in
                    body(
                        DevicePush(
                            device: DeviceKey(push.token), number: push.device, ticket: sequence, type: push.type,
                            priority: UInt8(clamping: push.priority), collapseID: collapseID,
                            expiration: push.expiration, payload: push.payload))
                }
            }
        }
    }

    /// Number `place` of a choice that goes evenly through all of them and takes none twice.
    func sequence(_ place: Int) -> UInt64 {
        guard count > 1 else { return 0 }
        let product = UInt64(place).multipliedFullWidth(by: Self.stride(count))
        return count.dividingFullWidth((product.high % count, product.low)).remainder
    }

    /// The golden section of all, or the next number that has no divisor in common with them.
    private static func stride(_ count: UInt64) -> UInt64 {
        func divisor(_ one: UInt64, _ other: UInt64) -> UInt64 { other == 0 ? one : divisor(other, one % other) }
        var stride = max(1, UInt64(Double(count) * 0.618_033_988_749_895))
        while divisor(count, stride) != 1 { stride = stride % count + 1 }
        return stride
    }
}
