import Results
import Settings

/// What is wrong with some of several runs that are looked at together: figures alone do not show it.
package enum RunDoubts {
    /// `the generator was a limit in 2 of 5 runs`.
    package static func of(_ runs: [ResultDocument]) -> [String] {
        func count(_ what: String, _ isSo: (ResultDocument) -> Bool) -> String? {
            let count = runs.filter(isSo).count
            return count > 0 ? "\(what) in \(count) of \(Units.counted(runs.count, "run"))" : nil
        }
        return [
            count("pushes were rejected, failed or not sent") {
                $0.pushes.rejected > 0 || $0.pushes.failed > 0 || $0.pushes.notSent > 0
            },
            count("accepted, rejected, failed and unsent pushes are not as many as planned ones") {
                $0.run.complete && $0.pushes.ended != $0.pushes.planned
            },
            count("pushes were lost or doubled") { ($0.pushes.lost ?? 0) > 0 || ($0.pushes.duplicated ?? 0) > 0 },
            count(tooShort(runs)) { $0.enoughSeconds != nil },
            count("the generator was a limit") { $0.generator.limited },
        ].compactMap { $0 }
    }

    private static func tooShort(_ runs: [ResultDocument]) -> String {
        let enough = runs.compactMap(\.enoughSeconds).max() ?? 0
        return "the measured time was too short for intervals (\(Units.duration(nanoseconds: enough * 1e9)) is enough)"
    }
}
