/// Stateless mixing: the same numbers on every machine for the same seed. Not cryptography.
public enum Mix {
    /// SplitMix64's finaliser: a bijection of 64-bit numbers in which every input bit moves half the output bits.
    @inlinable
    @inline(__always)
    public static func finalise(_ value: UInt64) -> UInt64 {
        var mixed = value
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    /// The inverse of `finalise`.
    @inline(__always)
    static func unfinalise(_ value: UInt64) -> UInt64 {
        var mixed = value
        mixed = (mixed ^ (mixed >> 31) ^ (mixed >> 62)) &* 0x3196_42B2_D24D_8EC3
        mixed = (mixed ^ (mixed >> 27) ^ (mixed >> 54)) &* 0x96DE_1B17_3F11_9089
        return mixed ^ (mixed >> 30) ^ (mixed >> 60)
    }

    /// The random number of (seed, a, b).
    @inlinable
    @inline(__always)
    public static func number(_ seed: UInt64, _ first: UInt64, _ second: UInt64) -> UInt64 {
        finalise(base(seed, first) &+ salt(second))
    }

    /// What all `number(seed, a, …)` have in common: `finalise(base(seed, a) &+ salt(b))` is `number(seed, a, b)`.
    @inlinable
    @inline(__always)
    public static func base(_ seed: UInt64, _ first: UInt64) -> UInt64 {
        finalise(seed &+ first &* 0x9E37_79B9_7F4A_7C15)
    }

    @inlinable
    @inline(__always)
    public static func salt(_ second: UInt64) -> UInt64 { second &* 0xD1B5_4A32_D192_ED03 }

    /// A number in 0..<bound from a random one (Lemire's multiply-shift; the bias is below bound / 2^64).
    @inlinable
    @inline(__always)
    public static func bounded(_ random: UInt64, _ bound: UInt64) -> UInt64 {
        random.multipliedFullWidth(by: bound).high
    }
}
