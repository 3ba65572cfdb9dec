/// One seed again.
enum Replay {
    static func run(_ seed: UInt64, isTold: Bool) -> Int32 {
        Trap.seed = seed
        do {
            let outcome = try Simulation(seed: seed, isTold: isTold).simulate()
            let verdict = outcome.failure.map { "FAILED: \($0)" } ?? "ok"
            say("seed \(seed): digest \(String(outcome.digest, radix: 16)), \(verdict)")
            return outcome.failure == nil ? 0 : 1
        } catch {
            say("seed \(seed): cannot be run: \(error)")
            return 2
        }
    }
}
