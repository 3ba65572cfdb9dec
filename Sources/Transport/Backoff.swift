/// The waits before a lost connection is made again: none before the first attempt and none after the first that fails, then a
/// random time of 0…min(`longest`, `delay` × 2^n) after each further one (capped exponential backoff with full jitter). Attempts that
/// are refused (ECONNREFUSED) reach no server that they could burden: after these it does not grow.
package struct Backoff {
    let delay: UInt64
    let longest: UInt64
    /// Bound of the waits after refused attempts, ns.
    private let delayIfRefused: UInt64
    private var random: UInt64
    /// Attempts that failed since a connection last answered; and those of them, after the first, that were not refused.
    private(set) var failures = 0
    private var doublings = 0

    /// - Parameters:
    ///   - delay: bound of the first wait, ns; at most 2^43 (two hours).
    ///   - longest: bound of all waits, ns.
    ///   - connections: that may be refused at once: of many each waits longer, so that about 4,000 attempts a second are made at most.
    init(delay: UInt64, longest: UInt64, connections: Int = 1, seed: UInt64) {
        self.delay = delay
        self.longest = longest
        delayIfRefused = min(longest, max(delay, UInt64(connections) * 500_000))
        random = seed ^ 0x9E37_79B9_7F4A_7C15
    }

    /// An attempt failed: the wait before the next, nanoseconds.
    package mutating func next(isRefused: Bool = false) -> UInt64 {
        failures += 1
        guard failures > 1 else { return 0 }
        if !isRefused { doublings += 1 }
        let ceiling = isRefused ? delayIfRefused : min(longest, delay << UInt64(min(doublings - 1, 20)))
        // SplitMix64.
        random &+= 0x9E37_79B9_7F4A_7C15
        var mixed = random
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return (mixed ^ (mixed >> 31)) % (ceiling + 1)
    }

    /// A connection worked: the next failure is a first one.
    package mutating func reset() { (failures, doublings) = (0, 0) }
}
