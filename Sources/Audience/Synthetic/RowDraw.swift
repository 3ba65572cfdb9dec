/// The random numbers of one row, or of one user: the same for the same seed, whoever draws which when. Not
/// cryptography. About 1.4 ns a number (`TagDice`, two
/// comparisons with each included).
struct RowDraw {
    private let base: UInt64

    /// - Parameter stream: numbers of another stream have nothing to do with these: 0 rows, 1 users, 2 blocks.
    @inline(__always)
    init(seed: UInt64, stream: UInt64, number: UInt64) {
        let key = Self.finalised(seed ^ 0x6175_6469_656E_6365) &+ stream &* 0xD1B5_4A32_D192_ED03
        base = Self.finalised(Self.finalised(key) &+ number &* 0x9E37_79B9_7F4A_7C15)
    }

    /// Random number `place`, 64 bits.
    @inline(__always)
    func bits(_ place: UInt64) -> UInt64 { Self.finalised(base &+ place &* 0xD1B5_4A32_D192_ED03) }

    /// A number in `0..<bound` (multiply-shift; the bias is below bound / 2^64).
    @inline(__always)
    func below(_ bound: UInt64, _ place: UInt64) -> UInt64 { bits(place).multipliedFullWidth(by: bound).high }

    /// SplitMix64's finaliser.
    @inline(__always)
    private static func finalised(_ value: UInt64) -> UInt64 {
        var mixed = value
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
