/// How the mock delivers what it has accepted. Times are nanoseconds. As made, every device is there and gets everything at
/// once.
public struct DeliverySettings: Sendable, Equatable {
    /// This share of the devices is offline, drawn by seed, 0 to 1.
    public var offlineShare = 0.0
    /// Each of those comes back at its own time within so long after the start; nil: never.
    public var offlineWithin: UInt64?
    /// A device is there only while an event stream of it is attached.
    public var onlineByAttachment = false
    /// Pushes of priority 5 wait for the next multiple of this, and are then delivered together.
    public var priority5Interval: UInt64 = 0
    /// The same for priority 1.
    public var priority1Interval: UInt64 = 0
    /// Background pushes an hour that a device gets of an app; more are held back until the hour is over.
    public var backgroundPerHour: Int?
    /// Pushes a device token may get in `perDevicePeriod`; more are answered 429 TooManyRequests.
    public var perDeviceLimit: Int?
    public var perDevicePeriod: UInt64 = 1_000_000_000
    /// Pushes stored for devices that are offline, over all devices and namespaces; beyond it 500 InternalServerError.
    public var storeCapacity = 1_000_000
    public var seed: UInt64 = 1

    public init() {}

    /// Longest storage, seconds: 30 days ("Sending notification requests to APNs").
    static let longestStorage: Int64 = 30 * 86_400

    /// Something happens between accepting and delivering.
    var isOn: Bool {
        var plain = DeliverySettings()
        plain.seed = seed
        return self != plain
    }
}

/// What became of accepted pushes.
public struct DeliveryCounts: Sendable, Equatable, Codable {
    /// Given to the device, at once or later.
    public var delivered: UInt64 = 0
    /// Of those, the ones that had been stored.
    public var deliveredLate: UInt64 = 0
    /// Put in store because the device was offline, or throttled.
    public var stored: UInt64 = 0
    /// In store now.
    public var waiting: UInt64 = 0
    /// A newer push of the same app took their place in the store.
    public var replaced: UInt64 = 0
    /// The same, by the same collapse id.
    public var collapsed: UInt64 = 0
    /// Their `apns-expiration` passed while they were stored.
    public var expired: UInt64 = 0
    /// Not stored, for `apns-expiration` 0, though the device was offline.
    public var notStored: UInt64 = 0
    /// Background pushes held back.
    public var throttled: UInt64 = 0
    /// Held back for their priority.
    public var grouped: UInt64 = 0
    /// Accepted for a device with notifications disabled, and given to nobody.
    public var discarded: UInt64 = 0
    /// Refused with 429.
    public var tooMany: UInt64 = 0

    mutating func add(_ other: DeliveryCounts) {
        delivered += other.delivered
        deliveredLate += other.deliveredLate
        stored += other.stored
        waiting += other.waiting
        replaced += other.replaced
        collapsed += other.collapsed
        expired += other.expired
        discarded += other.discarded
        notStored += other.notStored
        throttled += other.throttled
        grouped += other.grouped
        tooMany += other.tooMany
    }

    enum CodingKeys: String, CodingKey {
        case delivered, stored, waiting, replaced, collapsed, expired, throttled, grouped, discarded
        case deliveredLate = "delivered_late"
        case notStored = "not_stored"
        case tooMany = "too_many"
    }
}
