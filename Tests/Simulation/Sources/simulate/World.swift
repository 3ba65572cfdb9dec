import Glibc

/// What all parts of one simulation share: clock, what is noted, what has gone wrong.
final class World {
    let seed: UInt64
    let clock: VirtualClock
    /// Print every event.
    let isTold: Bool
    private(set) var failure: String?
    var digest = Digest()
    private(set) var happened: Set<Happening> = []

    init(seed: UInt64, clock: VirtualClock, isTold: Bool) {
        self.seed = seed
        self.clock = clock
        self.isTold = isTold
    }

    /// Something is not as it must be; the first failure counts.
    func fail(_ text: @autoclosure () -> String) {
        if failure != nil { return }
        let words = text()
        failure = "at \(Self.milliseconds(clock.now)): \(words)"
        tell("FAILED: \(words)")
    }

    func check(_ holds: Bool, _ text: @autoclosure () -> String) { if !holds { fail(text()) } }

    func note(_ happening: Happening) { happened.insert(happening) }

    /// A line of the log.
    func tell(_ text: @autoclosure () -> String) {
        if isTold { say("\(Self.milliseconds(clock.now)) \(text())") }
    }

    /// Of the simulation's clock, from its start.
    static func milliseconds(_ time: UInt64) -> String {
        let since = time - min(time, 1_000_000_000_000)
        let rest = String(since % 1_000_000)
        return "\(since / 1_000_000).\(String(repeating: "0", count: 6 - rest.count))\(rest) ms"
    }
}
