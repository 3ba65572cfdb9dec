import Analysis
import ArgumentParser
import Flags
import Foundation
import Harness
import Measurement
import Networking
import Results
import Scenarios
import Settings

struct SearchCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "search",
        abstract: "Find the highest rate that reaches a goal, or the fewest connections that reach it at a rate.",
        discussion: """
            Doubles the rate until the goal is missed, halves what lies between, and confirms the answer twice. A miss is tried \
            again, and counts when it repeats; an answer that is missed twice while it is confirmed is given up for a lower one. \
            Besides the goal, 98 % of the rate must be accepted and every push be sent; where the goal says how many may be \
            rejected, or with --expect-reasons, 98 % must be answered. With --rate, connections are searched instead. Exit \
            status: 0, 99 when the goal was never reached, 1 when it was interrupted or no connection could be made, 64 when \
            the request itself is wrong. --help-all lists every flag.
            """)

    @OptionGroup var source: ScenarioArguments

    @Option(help: ArgumentHelp("What must hold: \"p99 < 50ms && accepted >= 99.9%\".", valueName: "condition"))
    var goal: String

    @Option(
        help: ArgumentHelp(
            "Length of a probe, at most 1h and no less than 20 round trips (--rtt); up to six times that to have 2,000 pushes due.",
            valueName: "duration"))
    var probe = "5s"

    @Option(
        help: ArgumentHelp(
            "Where to begin: pushes a second (default: 1000), or connections (default: 1).", valueName: "number"))
    var from: String?

    @Option(
        help: ArgumentHelp(
            "No further than this (default: 10M pushes a second, or 1024 connections).", valueName: "number"))
    var most: String?

    @Option(
        help: ArgumentHelp("Ends when what lies between is less than this share, above 0% to 100%.", valueName: "share")
    )
    var precision = "2%"

    @OptionGroup(title: "Load") var load: LoadOptions
    @OptionGroup(title: "Identity") var identity: IdentityOptions
    @OptionGroup(title: "Transport") var transport: TransportFlags

    private static func reading<Value>(_ flag: String, _ body: () throws -> Value) throws(HarnessError) -> Value {
        do { return try body() } catch { throw HarnessError("\(flag): \(error)") }
    }

    func run() async throws {
        let given = load.given + identity.given + transport.given
        var scenario = try source.scenario(given)
        let goals: [Threshold]
        let length: UInt64
        let share: Double
        do {
            goals = try Self.reading("--goal") { try Threshold.list(parsing: goal) }
            // What is answered is a round trip behind what is sent: in a few of them a limit does not show.
            length = max(
                try Self.reading("--probe") { try Units.duration(probe) },
                20 * (try scenario.rtt.map(Units.duration) ?? 0))
            share = try Self.reading("--precision") { try Units.share(precision) }
        } catch { throw HarnessError("\(error)") }
        if let wrong = goals.first(where: \.isHelpedByLoad) {
            throw HarnessError(
                "--goal: \"\(wrong.text)\": more load would reach it; expected < or <=, for the search ends where load misses it"
            )
        }
        func isOfStage(_ goal: Threshold) -> Bool {
            guard case .latency(_, _, let part?) = goal.metric else { return false }
            return part.dimension == "stage"
        }
        if let wrong = goals.first(where: isOfStage) {
            throw HarnessError("--goal: \"\(wrong.text)\": a probe has no stages; expected it without {…}")
        }
        let trip = Double((try? scenario.rtt.map(Units.duration)) ?? 0)
        func isSoonerThanLink(_ goal: Threshold) -> Bool {
            guard case .latency(let stage, _, _) = goal.metric else { return false }
            return [Stage.total, .roundTrip].map(\.key).contains(stage) && goal.limit < trip
        }
        if let wrong = goals.first(where: isSoonerThanLink) {
            throw HarnessError(
                "--goal: \"\(wrong.text)\": no answer comes sooner than the round trip of --rtt, \(Units.duration(nanoseconds: trip))"
            )
        }
        guard length > 0 else { throw HarnessError("--probe \(probe): expected more than 0") }
        guard share > 0 else { throw HarnessError("--precision \(precision): expected more than 0%") }
        guard length <= Self.longestProbe else { throw HarnessError("--probe \(probe): expected at most 1h") }
        guard scenario.stages.isEmpty, scenario.trace == nil else {
            throw HarnessError("search makes its own rates: leave out stages and trace")
        }
        guard scenario.sends.isEmpty else {
            throw HarnessError(
                "search goes round in its devices for the length of a probe: give an audience instead of sends")
        }
        guard scenario.registrations == nil || scenario.audience != nil else {
            throw HarnessError(
                "registrations: say who is pushed to: an audience (a tag expression, * for everyone)")
        }
        let sustained = try? Threshold(
            parsing: SustainedRate.text(beside: goals, expectsRejections: !scenario.expectedReasons.isEmpty))
        let byConnections = scenario.rate
        guard byConnections == nil || !given.contains(where: { $0.key == "connections" && $0.texts != nil }) else {
            throw HarnessError("--connections: with --rate the search says how many; --from and --most are its range")
        }
        scenario.pushes = nil
        // So that a run looks at whether it can have such figures.
        scenario.thresholds = goals.map(\.text)
        // A probe goes on to its end.
        let usual = Scenario()
        scenario.abortOnFail = false
        (scenario.abortOnFailWindow, scenario.abortOnFailDelay) = (usual.abortOnFailWindow, usual.abortOnFailDelay)
        // Below it a probe is a handful of pushes, and says nothing.
        let slowest = max(1, Self.fewestPushes / (6 * Double(length) / 1e9))
        if let rate = byConnections, rate < slowest {
            throw HarnessError(
                "--rate \(Self.written(rate)): expected at least \(Self.written(slowest)), or a longer --probe")
        }
        let least = byConnections == nil ? slowest : Double(scenario.threads)
        let (first, last): (Double, Double)
        do {
            first = byConnections == nil ? try Units.rate(from ?? "1000") : Double(try Units.count(from ?? "1"))
            last = byConnections == nil ? try Units.rate(most ?? "10M") : Double(try Units.count(most ?? "1024"))
        } catch { throw HarnessError("\(error)") }
        guard last >= least else {
            let why = byConnections == nil ? " pushes a second, or a longer --probe" : " connections, one a thread"
            throw HarnessError("--most \(most ?? ""): expected at least \(Self.written(least))\(why)")
        }
        let greatest = byConnections == nil ? Scenario.mostRate : Double(Scenario.mostConnections)
        guard last <= greatest else {
            throw HarnessError("--most \(most ?? ""): expected at most \(Self.written(greatest))")
        }
        guard byConnections ?? 1 <= Scenario.mostRate else {
            throw HarnessError("--rate: expected at most \(Self.written(Scenario.mostRate)) pushes/s")
        }
        guard first > 0 else { throw HarnessError("--from \(from ?? ""): expected more than 0") }
        guard first <= last else {
            throw HarnessError("--from \(from ?? Self.written(first)): expected at most --most, \(Self.written(last))")
        }
        let search = LimitSearch(
            byConnections == nil ? .highest : .lowest, from: first, in: least...last, precision: share,
            isWhole: byConnections != nil)
        let base = scenario
        let series = RunSeries()
        let signals = StopSignals { series.stop() }
        defer { signals.cancel() }
        var doubts: Set<String> = []
        var limited = 0
        let answer = try await search.run { value, purpose in
            var probe = base
            if byConnections == nil { probe.rate = value } else { probe.connections = Int(value) }
            let rate = probe.rate ?? 1
            probe.duration = max(length, UInt64(min(2000 / rate * 1e9, 6 * Double(length))))
            probe.warmup = (probe.duration ?? length) / 5
            let made = ["rate", "connections", "duration", "warmup"].map { key in
                (key: key, texts: ScenarioKey.named(key)?.text(in: probe).map { [$0] })
            }
            let run = try source.locating(probe, given + made) { try Run(probe, identity: try probe.identity()) }
            guard let result = try await series.execute(run) else {
                throw HarnessError(
                    "interrupted before an answer was found: what is above has been measured", .failed)
            }
            guard StandardStreams.isOutputOpen else { throw ExitCode(1) }
            if let why = RunVerdict.unreached(result) { throw HarnessError(why, .failed) }
            let verdicts = (goals + [sustained].compactMap { $0 }).map { ThresholdVerdict($0, result) }
            let isReached = verdicts.allSatisfy(\.isHeld) && result.pushes.notSent == 0
            let what = byConnections == nil ? "\(Self.written(value))/s" : Units.counted(Int(value), "connection")
            var why = verdicts.filter { !$0.isHeld }.map(\.description)
            if result.pushes.notSent > 0 {
                let causes = result.notSent.keys.sorted().joined(separator: ", ")
                why.append("\(Units.counted(result.pushes.notSent, "push")) not sent (\(causes))")
            }
            let rejected = result.pushes.rejected
            if !isReached, rejected > 0,
                let most = result.shownReasons.max(by: { ($0.value, $1.key) < ($1.value, $0.key) })
            {
                let share = most.value == rejected ? "all of them" : "most of them"
                why.append("\(Units.counted(rejected, "push")) rejected, \(share) \(most.key)")
            }
            let missed = why.joined(separator: "; ")
            if result.generator.limited { limited += 1 }
            var beside = result.generator.limited ? " (the generator was a limit)" : ""
            let trip = Double(result.latency[.roundTrip].p50)
            let isShort = trip * 10 > result.throughput.windowSeconds * 1e9
            // The last ones are those that the answer rests on.
            if purpose != .confirming { doubts = [] }
            if result.generator.limited { doubts.insert("the generator was a limit when it was confirmed") }
            if isShort {
                doubts.insert("it was confirmed for less than ten round trips: give a longer --probe")
                beside +=
                    " (measured for less than ten round trips of \(Units.duration(nanoseconds: trip)): give a longer --probe)"
            }
            let picture = Console.picture
            let verdict = isReached ? picture.good("reached") : picture.bad("missed ")
            let prefix =
                switch purpose {
                case .searching: verdict
                case .retrying: "  tried again: \(verdict)"
                case .confirming: "  confirming: \(verdict)"
                }
            Console.output(
                picture.fitted("\(prefix) at \(what)\(missed.isEmpty ? "" : ": \(missed)")\(beside)\n"))
            return isReached
        }
        if answer.value == nil {
            let probes = Units.counted(answer.probes.count, "probe")
            doubts = limited > 0 ? ["the generator was a limit in \(limited) of \(probes)"] : []
        }
        try report(answer, byConnections: byConnections, doubts.sorted())
    }

    private static let longestProbe: UInt64 = 3_600_000_000_000
    /// Of a probe.
    private static let fewestPushes = 100.0

    private static func written(_ value: Double) -> String {
        value < 100 && value != value.rounded()
            ? Units.fixed(value, places: 1) : Units.grouped(UInt64(value.rounded()))
    }

    /// - Parameter doubts: about the probes that confirmed it; without an answer about all of them.
    private func report(_ answer: LimitSearch.Answer, byConnections: Double?, _ doubts: [String]) throws {
        func written(_ value: Double) -> String {
            byConnections == nil ? "\(Self.written(value)) pushes/s" : Units.counted(Int(value), "connection")
        }
        let retries = answer.probes.filter { $0.purpose == .retrying }
        let retried =
            retries.isEmpty
            ? "no miss" : "\(retries.count) to try a miss again, \(retries.count(where: \.isReached)) of them reached"
        let probes = "\(Units.counted(answer.probes.count, "probe")), \(retried)"
        guard let value = answer.value else {
            let missed = answer.beyond.map { written($0) } ?? "nowhere"
            for doubt in doubts { Console.output(Console.picture.fitted("doubt: \(doubt)\n")) }
            Console.output(
                Console.picture.fitted(
                    answer.isUnsteady
                        ? "no answer: what was reached once was not reached again, last at \(missed) (\(probes))\n"
                        : "the goal was never reached, not even at \(missed) (\(probes))\n"))
            throw ExitCode(99)
        }
        let beyond = answer.beyond.map { ", missed at \(written($0))" } ?? ", nowhere missed within the range"
        let answered = "\(byConnections == nil ? "highest" : "fewest"): \(written(value))"
        let misses = answer.misses
        let missed = misses.count > 0 ? ["the goal was missed in \(misses.count) of \(misses.of) probes at it"] : []
        for doubt in missed + doubts { Console.output(Console.picture.fitted("doubt: \(doubt)\n")) }
        Console.output(Console.picture.fitted("\(answered) (confirmed twice\(beyond); \(probes))\n"))
    }
}
