import ArgumentParser
import Flags
import Foundation
import Harness
import Reference
import Results
import Scenarios
import Settings

package struct GateCommand: AsyncParsableCommand, RunFlags {
    package static let configuration = CommandConfiguration(
        commandName: "gate",
        abstract: "Hold what a push costs against another build, or a baseline, for CI.",
        discussion: """
            With --base-binary, makes rounds of that build and of this one in pairs, of the scenario that the flags of run say. With \
            --baseline, runs the baseline's scenario. Goes on until it can tell. Exit status: 0 when no cost has grown by more than \
            --tolerance, 99 for a regression, 98 when the rounds there was time for do not tell (--cannot-tell pass: 0), 1 when a \
            round went wrong, 64 when the request itself is wrong. With --update, makes or renews the baseline, of the flags of run. \
            A round is 100,000 pushes, unless -n or -D says otherwise. \
            --help-all lists every one.
            """)

    @Option(help: ArgumentHelp("The baseline's file, as results/baselines/alert.json.", valueName: "file"))
    var baseline: String?

    @Option(
        help: ArgumentHelp(
            "The pushload of another build, with its mock-apns beside it; needs no baseline.", valueName: "file"))
    var baseBinary: String?

    @Flag(help: "Make the baseline, or renew it.")
    var update = false

    @Option(help: ArgumentHelp("Why the baseline is made or renewed; with --update.", valueName: "text"))
    var reason: String?

    @OptionGroup(title: "Judging") var judging: GateOptions
    @OptionGroup(title: "Output") var output: GateOutput
    @OptionGroup var source: ScenarioArguments
    @OptionGroup(title: "Load") package var length: LengthOptions
    @OptionGroup(title: "Load", visibility: .private) package var thresholds: ThresholdOptions
    @OptionGroup(title: "Load", visibility: .private) package var aborting: AbortOptions
    @OptionGroup(title: "Load") package var load: LoadOptions
    @OptionGroup(title: "Identity") package var identity: IdentityOptions
    @OptionGroup(title: "Transport") package var transport: TransportFlags

    package init() {}

    package func run() async throws {
        try judging.check()
        try refuseThresholds(source.settings, "a gate judges costs")
        let series = RunSeries()
        let signals = StopSignals { series.stop() }
        defer { signals.cancel() }
        switch (baseline, baseBinary) {
        case (let path?, nil):
            var isFolder: ObjCBool = false
            if FileManager.default.fileExists(atPath: path, isDirectory: &isFolder), isFolder.boolValue {
                throw HarnessError("--baseline \(path): is a folder; expected a file, such as \(path)/alert.json")
            }
            if update { try await renew(path, series) } else { try await judge(path, series) }
        case (nil, let binary?):
            if update { throw HarnessError("--update makes a baseline: it goes with --baseline, not --base-binary") }
            guard reason == nil else { throw HarnessError("--reason goes with --update") }
            try await judge(binary: binary, series)
        case (nil, nil):
            throw HarnessError(
                update ? "--update: expected --baseline FILE" : "expected --base-binary FILE, or --baseline FILE")
        case (_?, _?): throw HarnessError("--baseline and --base-binary: expected one of them")
        }
    }

    // MARK: Judging

    private func judge(_ path: String, _ series: RunSeries) async throws {
        let flag = given.first { $0.texts != nil }.map { ScenarioKey.named($0.key)?.flag ?? $0.key }
        if let word = flag ?? source.settings.first ?? source.file {
            throw HarnessError("\(word): the baseline says what is run; flags of run go with --update or --base-binary")
        }
        if let variable = ScenarioKey.all.map(\.variable).first(where: {
            ProcessInfo.processInfo.environment[$0] != nil
        }) {
            throw HarnessError("\(variable): the baseline says what is run; settings go with --update or --base-binary")
        }
        guard reason == nil else { throw HarnessError("--reason goes with --update") }
        if judging.allCores {
            throw HarnessError("--all-cores: the baseline says so; it goes with --update or --base-binary")
        }
        let known: BaselineDocument
        do throws(ResultError) { known = try BaselineFile.read(path) } catch {
            throw HarnessError(error.description)
        }
        guard known.kernel == ReferenceKernel.version else {
            throw HarnessError(
                "\(path): made with reference kernel \(known.kernel), this version has \(ReferenceKernel.version); "
                    + "renew it with --update")
        }
        // Before anything is run: what cannot be judged is found out now.
        _ = try judging.rules(among: known.metrics.map(\.name), of: "the baseline")
        try output.check()
        let scenario = try ScenarioSettings.read(known.scenario, origin: path)
        try checkBudget(scenario)
        let rounds = try await GateRounds(
            scenario, in: series, ifStopped: Self.ifStopped,
            injectedCPU: judging.injectedCPU, onOneCore: known.oneCore)
        let begun = MonotonicSeconds.now()
        let first = try await rounds.next()
        let rules = try judging.rules(
            among: known.metrics.map(\.name).filter { first.values[$0] != nil }, of: "a round of this build")
        let progress = try await progress(known, rules, series, begun) { try await rounds.next().round() }
        try conclude(
            GateDocument(
                comparison: .baseline, base: known.name, reason: known.reason, baselineUpdatedAt: known.updatedAt,
                baselineRounds: known.metrics[0].raw.count, scenario: known.scenario, lowError: rules.lowError,
                highError: rules.highError, verdict: progress.verdict, metrics: progress.metrics,
                rounds: progress.rounds, seconds: MonotonicSeconds.now() - begun,
                warnings: unjudged(rules, "the baseline, or a round of this build, does not have")
                    + GateWarnings.of(known) + GateWarnings.of(progress.metrics)))
    }

    private func judge(binary: String, _ series: RunSeries) async throws {
        // Before anything is run: what cannot be judged is found out now.
        _ = try judging.rules(among: GateMetric.all.map(\.name), of: "the base")
        try output.check()
        let scenario = try scenario(nil)
        try checkBudget(scenario)
        let rounds = try await GateRounds(
            scenario, in: series, ifStopped: Self.ifStopped, injectedCPU: judging.injectedCPU,
            onOneCore: !judging.allCores)
        let base = try await GateRounds(
            of: binary, scenario, given: Set(named(with: source.settings) + source.named), in: series,
            ifStopped: Self.ifStopped, onOneCore: !judging.allCores)
        let begun = MonotonicSeconds.now()
        let own = try await rounds.next()
        let other = try await base.next(isFirst: true)
        let rules = try judging.rules(
            among: GateMetric.all.map(\.name).filter { own.values[$0] != nil && other.values[$0] != nil },
            of: "a round of both builds")
        let progress = try await progress(nil, rules, series, begun) {
            // By lot, so that what the first of two rounds does to the second is nobody's advantage, and nothing that the machine
            // does from round to round can look like a difference.
            let isBaseFirst = Bool.random()
            let earlier = isBaseFirst ? try await base.next() : nil
            var round = try await rounds.next().round()
            let later = isBaseFirst ? nil : try await base.next()
            round.base = (earlier ?? later)?.values
            round.isBaseFirst = isBaseFirst
            return round
        }
        try conclude(
            GateDocument(
                comparison: .pairs, base: binary, reason: nil, baselineUpdatedAt: nil, baselineRounds: nil,
                scenario: ScenarioSettings.write(scenario), lowError: rules.lowError, highError: rules.highError,
                verdict: progress.verdict, metrics: progress.metrics, rounds: progress.rounds,
                seconds: MonotonicSeconds.now() - begun,
                warnings: unjudged(rules, "one of the builds does not have")))
    }

    /// A gate whose first round takes longer would only end when that does.
    private func checkBudget(_ scenario: Scenario) throws(HarnessError) {
        let (pushes, budget) = (scenario.pushes ?? 0, try judging.seconds)
        guard let rate = scenario.rate, rate > 0, Double(pushes) / rate > budget else { return }
        throw HarnessError(
            "--budget: \(Units.clock(seconds: budget)) is less than one round takes, "
                + "\(Units.counted(pushes, "push")) at \(Units.perSecond(rate)): expected more, or fewer pushes")
    }

    private func unjudged(_ rules: GateRules, _ why: String) -> [String] {
        judging.metrics == nil ? GateWarnings.unjudged(rules, why) : []
    }

    private static let ifStopped = "the rounds so far do not tell"

    /// Rounds until the gate is decided, or its time is over.
    ///
    /// - Parameter begun: when its time began, s.
    private func progress(
        _ baseline: BaselineDocument?, _ rules: GateRules, _ series: RunSeries, _ begun: Double,
        _ next: () async throws -> GateDocument.Round
    ) async throws -> GateProgress {
        let budget = try judging.seconds
        var progress = GateProgress(baseline, rules)
        var step = GateProgress.Step.round
        while step != .decided {
            if step == .pause { try await Self.pause(series) }
            let roundBegun = MonotonicSeconds.now()
            let round = try await next()
            let now = MonotonicSeconds.now()
            let end = now - begun + (now - roundBegun)
            step = progress.add(round, isLast: end > budget)
            if step == .pause, end + GateOptions.pause > budget { step = .decided }
            show(progress, step, rules)
        }
        return progress
    }

    private func conclude(_ outcome: GateDocument) throws {
        var gate = outcome
        if judging.injectedCPU > 0 { gate.warnings.append("every push was slowed down by \(judging.injectedCPU) ns") }
        try output.write(gate, failsWhenUnsure: judging.cannotTell != .pass)
        switch gate.verdict {
        case .pass, .improved, .information: return
        case .regression: throw ExitCode(99)
        case .cannotTell: if judging.cannotTell != .pass { throw ExitCode(98) }
        }
    }

    private func show(_ progress: GateProgress, _ step: GateProgress.Step, _ rules: GateRules) {
        guard !output.quiet else { return }
        let count = progress.rounds.count
        if step == .pause {
            Console.diagnostic(
                "\(Units.counted(count, "round")): looks like a regression; more after a pause\n")
        } else if step == .decided || rules.looks.contains(count) {
            Console.diagnostic("\(Units.counted(count, "round"))\(step == .decided ? "" : ": cannot tell yet")\n")
        }
    }

    static func pause(_ series: RunSeries) async throws {
        let end = MonotonicSeconds.now() + GateOptions.pause
        while MonotonicSeconds.now() < end, !series.isStopped { try await Task.sleep(nanoseconds: 50_000_000) }
    }
}
