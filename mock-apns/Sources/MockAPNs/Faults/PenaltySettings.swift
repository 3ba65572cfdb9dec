import Settings

/// How a connection is slowed down and cut off for its client's 4xx answers.
///
/// Apple says only that connections may be closed and that the number of streams varies ("Establishing a connection to Apple Push
/// Notification service (APNs)"); clients have seen the limit fall after failed notifications and rise after good ones (rdar://27870881).
/// The numbers here are this mock's.
public struct PenaltySettings: Sendable, Equatable {
    /// Points of a 4xx answer.
    public var rejected: UInt32 = 1
    /// Points of BadDeviceToken.
    public var badDeviceToken: UInt32 = 5
    /// Points that an accepted push takes back.
    public var accepted: UInt32 = 1
    /// Each time so many points have come together, MAX_CONCURRENT_STREAMS is halved.
    public var step: UInt32 = 50
    /// It does not fall below this.
    public var leastStreams: UInt32 = 1
    /// With so many points the connection is told to go away; 0: never.
    public var goAway: UInt32 = 500

    public init() {}

    /// `yes`, or `{rejected: 1, bad_device_token: 5, accepted: 1, step: 50, least_streams: 1, goaway: 500}` or some of these.
    ///
    /// - Returns: nil for `no`.
    static func reading(_ value: YAMLValue) throws(SettingsError) -> PenaltySettings? {
        var settings = PenaltySettings()
        guard value.isMap else { return try value.flag() ? settings : nil }
        var map = try value.map()
        func number(_ name: String, from least: UInt32, _ place: inout UInt32) throws(SettingsError) {
            guard let value = map.take(name) else { return }
            let count = try value.count()
            guard let number = UInt32(exactly: count), (least...Self.most).contains(number) else {
                throw value.error("\(count): expected \(least) to \(Self.most)")
            }
            place = number
        }
        try number("rejected", from: 0, &settings.rejected)
        try number("bad_device_token", from: 0, &settings.badDeviceToken)
        try number("accepted", from: 0, &settings.accepted)
        try number("step", from: 1, &settings.step)
        try number("least_streams", from: 1, &settings.leastStreams)
        try number("goaway", from: 0, &settings.goAway)
        try map.finish()
        return settings
    }

    private static let most: UInt32 = 1_000_000
}
