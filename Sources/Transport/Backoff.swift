/// Capped exponential backoff with full jitter: attempt n waits a random time in 0…min(cap, base × 2^n).
package struct Backoff {
    let base: UInt64
    let cap: UInt64
    private var random: UInt64
    private(set) var failures = 0

    init(base: UInt64, cap: UInt64, seed: UInt64) {
        self.base = base
        self.cap = cap
        random = seed ^ 0x9E37_79B9_7F4A_7C15
    }

    /// The wait before the next attempt, nanoseconds.
    package mutating func next() -> UInt64 {
        let ceiling = min(cap, base << UInt64(min(failures, 20)))
        failures += 1
        // SplitMix64.
        random &+= 0x9E37_79B9_7F4A_7C15
        var mixed = random
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return (mixed ^ (mixed >> 31)) % (ceiling + 1)
    }

    /// A connection worked: the next failure starts from the beginning.
    package mutating func reset() { failures = 0 }
}
