import Foundation
import Glibc

/// Many seeds on all cores, a process on each, and what they met. A seed that traps ends only its process, which is begun anew
/// behind it.
struct Sweep {
    let first: UInt64
    let count: UInt64
    /// From so many seeds on, each kind of event must have happened.
    private static let enough: UInt64 = 2000
    /// So many seeds are run again in another process, where everything that depends on chance is another.
    private static let replayed: UInt64 = 10

    // MARK: One process

    /// Every `step`th seed from `first` below `end`.
    static func part(first: UInt64, step: UInt64, end: UInt64) {
        var tally = Tally()
        for seed in stride(from: first, to: end, by: Int(step)) {
            Trap.seed = seed
            Trap.before = tally.text
            tally.seeds += 1
            guard let simulation = try? Simulation(seed: seed, isTold: false) else {
                tally.failures += 1
                say("seed \(seed): FAILED: cannot be run (make simulate SEED=\(seed))")
                continue
            }
            let outcome = simulation.simulate()
            for happening in outcome.happened { tally.runs[happening, default: 0] += 1 }
            tally.steps += outcome.steps
            tally.calls += outcome.calls
            if let failure = outcome.failure {
                tally.failures += 1
                say("seed \(seed): FAILED: \(failure) (make simulate SEED=\(seed))")
            }
        }
        say(tally.text)
    }

    // MARK: All of them

    func run() -> Int32 {
        let begin = Date()
        let cores = UInt64(max(1, min(8, sysconf(Int32(_SC_NPROCESSORS_ONLN)))))
        let results = Results()
        let group = DispatchGroup()
        for core in 0..<cores {
            DispatchQueue.global().async(group: group) { results.add(self.runPart(core, of: cores)) }
        }
        group.wait()
        var tally = results.tally
        for seed in first..<(first + min(count, Self.replayed)) where !Self.replaysExactly(seed) {
            tally.failures += 1
            say("seed \(seed): FAILED: two processes run it in different ways")
        }
        let seconds = Date().timeIntervalSince(begin)
        say("what happened in how many of \(count) runs:")
        for happening in Happening.allCases {
            let share = Double(tally.runs[happening] ?? 0) / Double(count) * 100
            say("  \(String(format: "%6.2f", share)) %  \(happening.rawValue)")
        }
        say(
            "\(tally.seeds) seeds from \(first): \(tally.failures) failed; \(String(format: "%.1f", seconds)) s, "
                + "\(String(format: "%.0f", Double(count) / seconds)) seeds/s; a seed: \(tally.steps / Int(count)) events, "
                + "\(tally.calls / Int(count)) calls between engine and driver")
        let missing = Happening.allCases.filter { tally.runs[$0] == nil }
        if count >= Self.enough, !missing.isEmpty {
            say("FAILED: never happened: \(missing.map(\.rawValue).joined(separator: ", "))")
            return 1
        }
        return tally.failures == 0 && tally.seeds == Int(count) ? 0 : 1
    }

    private final class Results: @unchecked Sendable {
        private let lock = NSLock()
        private var sum = Tally()
        var tally: Tally { lock.withLock { sum } }
        func add(_ tally: Tally) { lock.withLock { sum.add(tally) } }
    }

    private func runPart(_ core: UInt64, of cores: UInt64) -> Tally {
        var tally = Tally()
        var next = first + core
        while next < first + count {
            var trapped: UInt64?
            let isThere = Self.launch(["part", String(next), String(cores), String(first + count)]) { line in
                if let part = Tally(line) {
                    tally.add(part)
                } else {
                    trapped = Trap.seed(of: line) ?? trapped
                    say(line)
                }
            }
            guard isThere, let trapped else { break }
            tally.seeds += 1
            tally.failures += 1
            next = trapped + cores
        }
        return tally
    }

    private static func replaysExactly(_ seed: UInt64) -> Bool {
        var digests: Set<String> = []
        for _ in 0..<2 {
            guard launch(["digest", String(seed)], line: { digests.insert($0) }) else { return false }
        }
        return digests.count == 1
    }

    /// Runs this program with `arguments` and hands on its lines.
    private static func launch(_ arguments: [String], line: (String) -> Void) -> Bool {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
        process.arguments = arguments
        let output = Pipe()
        process.standardOutput = output
        guard (try? process.run()) != nil else { return false }
        var rest = Data()
        while true {
            let more = output.fileHandleForReading.availableData
            if more.isEmpty { break }
            rest += more
            while let end = rest.firstIndex(of: 10) {
                line(String(decoding: rest[rest.startIndex..<end], as: UTF8.self))
                rest = Data(rest[rest.index(after: end)...])
            }
        }
        process.waitUntilExit()
        return true
    }
}
