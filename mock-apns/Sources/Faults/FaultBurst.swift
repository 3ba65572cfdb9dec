import Settings

/// When a rule holds: for `length` out of every `period`, beginning `start` after the rules came into force; nanoseconds.
public struct FaultBurst: Sendable, Equatable {
    public var start: UInt64 = 0
    public var length: UInt64
    /// 0: only once.
    public var period: UInt64 = 0

    public init(start: UInt64 = 0, length: UInt64, period: UInt64 = 0) {
        self.start = start
        self.length = length
        self.period = period
    }

    /// What `start`, `for` and `every` of a rule say; nil when it says none of them.
    package init?(taking map: inout YAMLMap, of rule: YAMLValue) throws(SettingsError) {
        let (start, length, period) = (map.take("start"), map.take("for"), map.take("every"))
        guard let length else {
            if start == nil, period == nil { return nil }
            throw rule.error("\"start\" and \"every\" need \"for\": how long the rule holds")
        }
        self.init(
            start: try start?.duration() ?? 0, length: try length.duration(), period: try period?.duration() ?? 0)
    }

    /// - Parameter age: of the rules, nanoseconds.
    public func isOn(age: UInt64) -> Bool {
        guard age >= start else { return false }
        let inside = age - start
        return (period == 0 ? inside : inside % period) < length
    }
}
