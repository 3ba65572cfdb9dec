import Payloads

/// What is kept of a device that something has happened to: 40 bytes, and 11 to 21 of the index.
struct DeviceState: Pooled {
    var key = UInt64(0)
    /// In the population: whose key opens what was sealed.
    var number = UInt64(0)
    /// The newest notification in the notification centre, whose next is the oldest: each leads to the next newer one.
    var delivered = UInt32(0)
    /// What is under way for it: pushes that wait or are worked on, pending requests.
    var jobs = UInt32(0)
    /// What the app's icon shows; 0: nothing.
    var badge = Int32(0)
    /// When the hour of silent pushes began, seconds after the fleet's start.
    var hourStart = UInt32(0)
    /// Wakes in it.
    var wakes = UInt16(0)
    /// Notifications in the notification centre.
    var deliveredCount = UInt8(0)
    var byHand = StateByHand()
    /// A device is never given back.
    var generation: UInt32 {
        get { 0 }
        set {}
    }
    var next: UInt32 {
        get { 0 }
        set {}
    }
}

/// Traits and states that were set by hand: 0 where the model decides, else the value and 1.
package struct StateByHand: Equatable {
    private var bits = UInt16(0)

    init() {}

    /// Nothing was.
    var isEmpty: Bool { bits == 0 }

    private func field(_ shift: UInt16, _ mask: UInt16) -> Int? {
        let value = bits >> shift & mask
        return value == 0 ? nil : Int(value) - 1
    }

    private mutating func set(_ shift: UInt16, _ mask: UInt16, _ value: Int?) {
        bits = bits & ~(mask << shift) | UInt16(value.map { $0 + 1 } ?? 0) << shift
    }

    var isOnline: Bool? {
        get { field(0, 3).map { $0 == 1 } }
        set { set(0, 3, newValue.map { $0 ? 1 : 0 }) }
    }
    var isUnlocked: Bool? {
        get { field(2, 3).map { $0 == 1 } }
        set { set(2, 3, newValue.map { $0 ? 1 : 0 }) }
    }
    var app: DeviceTraits.AppState? {
        get { field(4, 3).map { DeviceTraits.AppState(rawValue: UInt8($0))! } }
        set { set(4, 3, newValue.map { Int($0.rawValue) }) }
    }
    var platform: DeviceModel.Platform? {
        get { field(12, 7).map { DeviceModel.Platform.allCases[$0] } }
        set { set(12, 7, newValue.map { DeviceModel.Platform.allCases.firstIndex(of: $0)! }) }
    }
    subscript(level: Presentation) -> DeviceTraits.Level? {
        get { field(Self.shift(level), 3).map { DeviceTraits.Level(rawValue: UInt8($0))! } }
        set { set(Self.shift(level), 3, newValue.map { Int($0.rawValue) }) }
    }
    private static func shift(_ level: Presentation) -> UInt16 { level == .alert ? 6 : level == .sound ? 8 : 10 }
}
