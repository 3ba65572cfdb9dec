import Payloads

/// What is kept of a device that something has happened to: 40 bytes, and 6 to 11 of the index.
struct DeviceState: Pooled {
    var key = UInt64(0)
    /// In the population: whose key opens what was sealed.
    var number = UInt64(0)
    /// The newest notification in the notification centre.
    var delivered = UInt32(0)
    /// What is under way for it: pushes that wait or are worked on, pending requests.
    var jobs = UInt32(0)
    /// What the app's icon shows; 0: nothing.
    var badge = Int32(0)
    /// When the hour of silent pushes began, seconds after the fleet's start.
    var hourStart = UInt32(0)
    /// Wakes in it.
    var wakes = UInt16(0)
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

/// The devices that something has happened to, by key.
struct DeviceTable {
    private var pool = Pool<DeviceState>()
    /// Open addressing: places in the pool.
    private var index = [UInt32](repeating: 0, count: 1024)

    var count: Int { pool.count }
    /// Bytes that it holds.
    var memory: Int { pool.memory + index.capacity * 4 }

    subscript(place: UInt32) -> DeviceState {
        get { pool[place] }
        _modify { yield &pool[place] }
    }

    /// 0: nothing has happened to it.
    func find(_ key: DeviceKey) -> UInt32 {
        var slot = Int(truncatingIfNeeded: Mix.finalise(key.word)) & (index.count - 1)
        while index[slot] != 0 {
            if pool[index[slot]].key == key.word { return index[slot] }
            slot = (slot + 1) & (index.count - 1)
        }
        return 0
    }

    mutating func touch(_ key: DeviceKey, number: UInt64) -> UInt32 {
        let found = find(key)
        if found != 0 { return found }
        if pool.count * 8 >= index.count * 7 { grow() }
        let place = pool.take()
        pool[place].key = key.word
        pool[place].number = number
        insert(place)
        return place
    }

    private mutating func insert(_ place: UInt32) {
        var slot = Int(truncatingIfNeeded: Mix.finalise(pool[place].key)) & (index.count - 1)
        while index[slot] != 0 { slot = (slot + 1) & (index.count - 1) }
        index[slot] = place
    }

    private mutating func grow() {
        index = [UInt32](repeating: 0, count: index.count * 2)
        for place in pool.places { insert(place) }
    }
}
