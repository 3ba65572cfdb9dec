import Devices

/// What became of pushes at their devices (docs/devices.md): `devices` in `/stats` and in the mock's report.
package struct DeviceFigures: Encodable, Sendable, Equatable {
    /// Pushes that the model was given; all outcomes together.
    package let received: UInt64
    /// Devices that something has happened to.
    package let touched: Int
    /// By name, all of them: what has become of the pushes by now.
    package let outcomes: [String: UInt64]
    /// By name, all of them: what else happened.
    package let events: [String: UInt64]
    /// Pushes whose screen or content is still to come by itself within seconds: their extension works, the app fetches, or the local
    /// notification of a rich push is pending.
    package let settling: UInt64
    /// Requests of devices that failed for want of a backend, by kind; nil: there is one (`echo`).
    package let requestsFailed: [String: UInt64]?

    enum CodingKeys: String, CodingKey {
        case received, touched, outcomes, events, settling
        case requestsFailed = "requests_failed"
    }

    init(_ counts: DeviceCounts, touched: Int, failed: [EchoRequest.Kind: UInt64]?) {
        received = counts.received
        self.touched = touched
        outcomes = Dictionary(uniqueKeysWithValues: DeviceOutcome.allCases.map { ($0.name, counts[$0]) })
        events = Dictionary(uniqueKeysWithValues: DeviceEvent.allCases.map { ($0.name, counts[$0]) })
        settling = counts[.extending] + counts[.fetching] + counts[.pending]
        requestsFailed = failed.map { failed in
            Dictionary(uniqueKeysWithValues: EchoRequest.Kind.allCases.map { ($0.rawValue, failed[$0] ?? 0) })
        }
    }
}
