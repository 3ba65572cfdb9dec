import Glibc

/// SplitMix64: the same numbers for the same seed, everywhere.
public struct SeededRandom: Sendable {
    private var state: UInt64

    public init(seed: UInt64) { state = seed }

    /// One of many sequences of a seed. (Seeds that differ by a multiple of the increment would give the same, shifted.)
    public init(seed: UInt64, stream: UInt64) {
        var other = SeededRandom(seed: ~stream)
        state = seed ^ other.next()
    }

    public mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    /// 0 ..< 1.
    public mutating func unit() -> Double { Double(next() >> 11) * 0x1p-53 }

    /// Of mean 0 and deviation 1 (Box–Muller).
    public mutating func gaussian() -> Double {
        (-2 * log(1 - unit())).squareRoot() * cos(2 * .pi * unit())
    }
}
