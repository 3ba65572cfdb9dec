/// A unit of time for figures that are read beside each other.
public enum TimeUnit: String, Sendable, CaseIterable {
    case ns, us, ms, s

    public var nanoseconds: Double {
        switch self {
        case .ns: 1
        case .us: 1e3
        case .ms: 1e6
        case .s: 1e9
        }
    }

    /// The unit in which figures read best together, nanoseconds: that of `middle`, or a larger one in which `largest` has no
    /// more than seven digits.
    package init(middle: Double, largest: Double) {
        self = Self.allCases.last { $0 == .ns || middle >= $0.nanoseconds } ?? .ns
        for unit in Self.allCases where unit.nanoseconds > nanoseconds && largest >= 1e7 * nanoseconds { self = unit }
    }

    /// Nanoseconds in this unit, without its name: three significant digits (`1,060`, `89.2`, `0.412`), and no more than three
    /// decimal places.
    public func written(_ nanoseconds: Double) -> String {
        let value = nanoseconds / self.nanoseconds
        switch value {
        case 99.95...: return Units.grouped(UInt64(min(value, 1e18).rounded()))
        case 9.995...: return Units.fixed(value, places: 1)
        case 0.9995...: return Units.fixed(value, places: 2)
        case 0.0005...: return Units.fixed(value, places: 3)
        default: return value > 0 ? "<0.001" : "0"
        }
    }
}
