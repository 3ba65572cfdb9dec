import Glibc

/// SplitMix64: the same numbers for the same seed, in every process.
struct Random {
    private var state: UInt64

    /// One of many sequences of a seed.
    init(seed: UInt64, stream: UInt64) {
        state = stream &* 0xD134_2543_DE82_EF95
        state = seed ^ next()
    }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    /// 0 ..< 1.
    mutating func unit() -> Double { Double(next() >> 11) * 0x1p-53 }

    mutating func chance(_ share: Double) -> Bool { share > 0 && unit() < share }

    /// 0 ..< `count`, which is at least 1.
    mutating func below(_ count: Int) -> Int { Int(next() % UInt64(count)) }

    /// Evenly, both ends included.
    mutating func between(_ low: UInt64, _ high: UInt64) -> UInt64 { low + next() % (high - low + 1) }

    /// So that each order of magnitude is as likely as another; both above 0.
    mutating func scale(_ low: Double, _ high: Double) -> Double { low * pow(high / low, unit()) }
    mutating func spread(_ low: UInt64, _ high: UInt64) -> UInt64 {
        min(high, max(low, UInt64(scale(Double(low), Double(high)).rounded())))
    }

    mutating func pick<Item>(_ items: [Item]) -> Item { items[below(items.count)] }
}
