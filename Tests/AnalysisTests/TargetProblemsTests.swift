import Results
import Testing

@testable import Analysis

@Suite struct TargetProblemsTests {
    private func target(
        _ name: String, opened: UInt64 = 2, lost: UInt64 = 0, failures: UInt64 = 0, reached: Bool = true,
        ends: [String: UInt64] = [:]
    ) -> ResultDocument.Target {
        var target = ResultDocument.Target(target: name)
        (target.accepted, target.rejected, target.failed) = (5, 1, lost)
        target.reachedAtEnd = reached
        (target.connections.opened, target.connections.lost) = (opened, lost)
        (target.connections.connectFailures, target.connections.ends) = (failures, ends)
        return target
    }

    private func result(_ targets: [ResultDocument.Target]) -> ResultDocument {
        var result = ResultDocument()
        result.targets = targets
        (result.pushes.planned, result.pushes.accepted) = (10, 10)
        result.connections.opened = targets.reduce(0) { $0 + $1.connections.opened }
        result.connections.connectFailures = targets.reduce(0) { $0 + $1.connections.connectFailures }
        return result
    }

    @Test("A run fails for a target that was never reached, and for one that was lost, though others took its pushes")
    func verdict() {
        #expect(RunVerdict(result([target("http://a"), target("http://b", lost: 1)])).exitCode == 0)
        let verdict = RunVerdict(
            result([
                target("http://a"),
                target("http://b", opened: 0, failures: 3, reached: false, ends: ["connection_refused": 3]),
                target("http://c", lost: 2, reached: false, ends: ["connection_reset": 2]),
                target("http://d", reached: false), target("http://e", opened: 0, reached: false),
            ]))
        #expect(
            verdict.problems == [
                "target http://b: no connection could be made: connection_refused",
                "target http://c: connections were lost and not made again before the end of the run: connection_reset",
                "target http://d: not every worker could reach it, or was let send to it",
                "target http://e: no connection could be made",
            ])
        #expect(verdict.exitCode == 1)
    }

    @Test("Of many targets that were down some are named, and the others counted")
    func many() {
        let down = (0..<100).map { target("http://\($0)", opened: 0, failures: 1, reached: false) }
        let problems = RunVerdict(result([target("http://a")] + down)).problems
        #expect(problems.count == 9 && problems.last == "and 92 more targets (targets in the result)")
    }

    @Test("What workers have of the same target is added up; parts that did not keep targets apart leave them out")
    func merge() throws {
        let parts = [
            ("a", result([target("http://a"), target("http://b", ends: ["connection_reset": 1])])),
            (
                "b",
                result([target("http://b", lost: 1, reached: false, ends: ["connection_reset": 2]), target("http://c")])
            ),
        ]
        let (targets, note) = TargetMerge.merge(parts)
        #expect(targets?.map(\.target) == ["http://a", "http://b", "http://c"] && note == nil)
        let both = try #require(targets?[1])
        #expect((both.accepted, both.rejected, both.failed) == (10, 2, 1) && !both.reachedAtEnd)
        #expect(both.connections.opened == 4 && both.connections.ends == ["connection_reset": 3])
        var alone = parts[0].1
        alone.targets = nil
        let (none, why) = TargetMerge.merge(parts + [("c", alone)])
        #expect(none == nil && why == "no figures by target: c did not keep them apart")
        #expect(TargetMerge.merge([("c", alone), ("d", alone)]).note == nil)
    }
}
