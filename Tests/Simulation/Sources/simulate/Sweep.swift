import Foundation

/// Many seeds, and what they met.
struct Sweep {
    let first: UInt64
    let count: UInt64
    /// From so many seeds on, each kind of event must have happened.
    private static let enough: UInt64 = 2000
    /// So many seeds are run again in another process, where everything that depends on chance is another.
    private static let replayed: UInt64 = 10

    func run() -> Int32 {
        let begin = Date()
        var shares: [Happening: Int] = [:]
        var failures = 0
        var steps = 0
        var calls = 0
        for seed in first..<(first + count) {
            Trap.seed = seed
            guard let simulation = try? Simulation(seed: seed, isTold: false) else {
                failures += 1
                say("seed \(seed): FAILED: cannot be run (make simulate SEED=\(seed))")
                continue
            }
            let outcome = simulation.simulate()
            for happening in outcome.happened { shares[happening, default: 0] += 1 }
            steps += outcome.steps
            calls += outcome.calls
            var failure = outcome.failure
            if failure == nil, seed - first < Self.replayed, !replaysExactly(seed, outcome) {
                failure = "another process runs it otherwise"
            }
            if let failure {
                failures += 1
                say("seed \(seed): FAILED: \(failure) (make simulate SEED=\(seed))")
            }
        }
        let seconds = Date().timeIntervalSince(begin)
        say("what happened in how many of \(count) runs:")
        for happening in Happening.allCases {
            let share = Double(shares[happening] ?? 0) / Double(count) * 100
            say("  \(String(format: "%6.2f", share)) %  \(happening.rawValue)")
        }
        say(
            "\(count) seeds from \(first): \(failures) failed; \(String(format: "%.1f", seconds)) s, "
                + "\(String(format: "%.0f", Double(count) / seconds)) seeds/s; a seed: \(steps / Int(count)) events, "
                + "\(calls / Int(count)) calls between engine and driver")
        let missing = Happening.allCases.filter { shares[$0] == nil }
        if count >= Self.enough, !missing.isEmpty {
            say("FAILED: never happened: \(missing.map(\.rawValue).joined(separator: ", "))")
            return 1
        }
        return failures == 0 ? 0 : 1
    }

    private func replaysExactly(_ seed: UInt64, _ outcome: Simulation.Outcome) -> Bool {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
        process.arguments = ["digest", String(seed)]
        let output = Pipe()
        process.standardOutput = output
        guard (try? process.run()) != nil else { return false }
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        return text.contains("digest \(String(outcome.digest, radix: 16)),")
    }
}
