import ArgumentParser
import Harness
import Results
import Settings

/// How a gate decides.
struct GateOptions: ParsableArguments {
    /// Pushes of a round when nothing else is said: long enough for the start to weigh little, short enough for many rounds.
    static let pushes: UInt64 = 100_000
    /// Seconds before a regression is looked for again.
    static let pause = 1.0

    private static let judged = GateMetric.judgedByDefault.joined(separator: ",")
    private static let usualTolerance = "3%"
    private static let usualBudget = "60s"

    enum Unsure: String, ExpressibleByArgument, CaseIterable { case pass, fail }

    @Option(
        help: ArgumentHelp(
            "The costs that are judged, of client_cpu, mock_cpu, allocations, rate, total_p50, total_p99; the others are "
                + "shown (default: \(Self.judged)).", valueName: "list"))
    var metrics: String?

    @Option(
        help: ArgumentHelp(
            "By how much a cost may have grown, above 0% to 100% (default: \(Self.usualTolerance)).", valueName: "share"
        ))
    var tolerance: String?

    @Option(
        help: ArgumentHelp(
            "At most this long: a round that would end later is not begun. One that counts is made in any case (default: \(Self.usualBudget)).",
            valueName: "duration"))
    var budget: String?

    @Option(
        help: ArgumentHelp(
            "At most this many rounds (with --base-binary: pairs), 8 to 128; a pass takes 8, a regression 16 (default: 64, as many as of a baseline).",
            valueName: "count"))
    var maxRounds: Int?

    @Option(help: "What \"cannot tell\" is: pass (exit status 0) or fail (98) (default: fail).")
    var cannotTell: Unsure?

    @Flag(
        help:
            "With --update or --base-binary: let client and mock run on all cores; else one core has both, which is far steadier."
    )
    var allCores = false

    @Option(name: .customLong("inject-cpu-ns"), help: .private)
    var injectedCPU: UInt64 = 0

    /// Rounds of a baseline.
    var baselineRounds: Int { maxRounds ?? 64 }

    var seconds: Double {
        get throws(HarnessError) {
            do throws(Units.ParseError) { return Double(try Units.duration(budget ?? Self.usualBudget)) / 1e9 } catch {
                throw HarnessError("--budget: \(error)")
            }
        }
    }

    /// - Throws: one line: a number that is out of its range.
    func check() throws(HarnessError) {
        guard (GateRules.firstLook...128).contains(maxRounds ?? 64) else {
            throw HarnessError("--max-rounds \(maxRounds ?? 0): expected \(GateRules.firstLook) to 128")
        }
        guard injectedCPU <= 1_000_000_000 else { throw HarnessError("--inject-cpu-ns: at most 1000000000") }
        _ = try seconds
    }

    /// What decides nothing where a baseline is made.
    func refuse(with flag: String) throws(HarnessError) {
        let given = [
            ("--metrics", metrics != nil), ("--tolerance", tolerance != nil), ("--budget", budget != nil),
            ("--cannot-tell", cannotTell != nil),
        ]
        if let (name, _) = given.first(where: { $0.1 }) {
            throw HarnessError("\(name) is for a verdict, not for \(flag)")
        }
    }

    /// - Parameters:
    ///   - there: names of the metrics there are.
    ///   - owner: who has them, for messages.
    /// - Throws: one line: a metric nobody knows, or one that is not there, or a tolerance that is none.
    func rules(among there: [String], of owner: String) throws(HarnessError) -> GateRules {
        let metrics = metrics ?? Self.judged
        let tolerance = tolerance ?? Self.usualTolerance
        let names = metrics.split(separator: ",").map { String($0).filter { $0 != " " } }
        let known = GateMetric.all.map(\.name)
        guard !names.isEmpty else { throw HarnessError("--metrics: expected some of \(known.joined(separator: ","))") }
        for name in names where !known.contains(name) {
            throw HarnessError("--metrics: \"\(name)\"\(NearestName.hint(name, among: known))")
        }
        let judged = names.filter(there.contains)
        // A build without jemalloc counts no allocations, a target of one's own has no mock: only what was asked for is missed.
        if names != GateMetric.judgedByDefault, let missing = names.first(where: { !there.contains($0) }) {
            throw HarnessError("--metrics: \(owner) has no \(missing), only \(there.joined(separator: ","))")
        }
        guard !judged.isEmpty else { throw HarnessError("\(owner) has none of \(metrics)") }
        let share: Double
        do throws(Units.ParseError) { share = try Units.share(tolerance) } catch {
            throw HarnessError("--tolerance: \(error)")
        }
        guard share > 0, share <= 1 else { throw HarnessError("--tolerance \(tolerance): expected above 0 to 100%") }
        return GateRules(metrics: judged, tolerance: share, mostRounds: maxRounds ?? 64)
    }
}
