import ArgumentParser
import Flags
import Foundation
import Harness
import Scenarios
import Settings

/// What sends.
struct PlanClientOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Cores of a machine, one worker each, 1 to 4,096 (default: this machine's).", valueName: "count"))
    var cores: String?

    @Option(help: ArgumentHelp("Machines there are, 1 to 1M (default: as many as it takes).", valueName: "count"))
    var machines: String?

    @Option(
        name: [.customShort("c"), .customLong("connections")],
        help: ArgumentHelp(
            "Connections there are, on all machines, 1 to 1G (default: as many as it takes).", valueName: "count"))
    var connections: String?

    @Option(
        name: [.customShort("m"), .customLong("streams")],
        help: ArgumentHelp("Streams a connection, 1 to 1M.", valueName: "count"))
    var streams = "1000"

    @Option(help: ArgumentHelp("How much of every bound is planned with, above 0% to 100%.", valueName: "share"))
    var utilisation = "80%"

    @Option(help: ArgumentHelp("When pushes are due over the time: constant or poisson.", valueName: "text"))
    var arrivals = "constant"

    @Option(name: .customLong("profile"), help: .shown("profile", "text"))
    var profile: String?

    @Option(name: .customLong("template"), help: .shown("template", "file"))
    var template: String?

    @Option(
        help: ArgumentHelp("Payload of a push, 1B to 5120B, instead of a profile's, such as 300B.", valueName: "size"))
    var payloadBytes: String?

    @Option(name: .customLong("engine"), help: .shown("engine"))
    var engine: String?

    var flags: [(key: String, texts: [String]?)] {
        [("profile", profile.map { [$0] }), ("template", template.map { [$0] }), ("engine", engine.map { [$0] })]
    }

    /// What a calibration runs.
    func scenario() throws(HarnessError) -> Scenario {
        try ScenarioArguments.scenario(file: nil, settings: [], flags: flags)
    }

    func apply(to question: inout PlanQuestion) throws(HarnessError) {
        question.cores =
            try cores.map { text throws(HarnessError) in try PlanValue.whole("--cores", text, 1...4096) }
            ?? ProcessInfo.processInfo.activeProcessorCount
        if let machines { question.machines = try PlanValue.whole("--machines", machines, 1...1_000_000) }
        if let connections {
            question.connections = try PlanValue.whole("--connections", connections, 1...1_000_000_000)
        }
        question.streams = try PlanValue.whole("--streams", streams, 1...1_000_000)
        question.utilisation = try PlanValue.read("--utilisation", utilisation, Units.share)
        guard question.utilisation > 0 else { throw HarnessError("--utilisation \(utilisation): expected more than 0") }
        guard ["constant", "poisson"].contains(arrivals) else {
            throw HarnessError("--arrivals \(arrivals): expected constant or poisson")
        }
        question.isPoisson = arrivals == "poisson"
        let size = try PushSize(try scenario())
        question.payloadBytes = size.payload
        question.largestPayload = size.largestPayload
        question.requestBytes = size.request
        question.answerBytes = PushSize.answer
        if let payloadBytes {
            let bytes = Double(try PlanValue.read("--payload-bytes", payloadBytes, Units.bytes))
            guard (1...5120).contains(bytes) else {
                throw HarnessError("--payload-bytes \(payloadBytes): expected 1 to 5120, the most APNs takes")
            }
            question.requestBytes += bytes - size.payload
            question.payloadBytes = bytes
            question.largestPayload = bytes
        }
    }
}

/// Who is pushed to, instead of a number.
struct PlanAudienceOptions: ParsableArguments {
    @Option(name: .customLong("registrations"), help: .shown("registrations", "file"))
    var registrations: String?

    @Option(
        name: .customLong("audience"),
        help: ArgumentHelp(
            "Which of them: tags with && || ! and parentheses, or * for all; a push to each.", valueName: "expression"))
    var audience: String?

    @Option(name: .customLong("topic"), help: .shown("topic", "text"))
    var topic: String?

    @Option(name: .customLong("environment"), help: .shown("environment"))
    var environment: String?

    /// Of those that go with --registrations.
    var firstGiven: String { audience != nil ? "--audience" : topic != nil ? "--topic" : "--environment" }

    var isGiven: Bool { registrations != nil || audience != nil || topic != nil || environment != nil }

    /// A run to it.
    func scenario(_ further: [(key: String, texts: [String]?)] = []) throws(HarnessError) -> Scenario {
        try ScenarioArguments.scenario(
            file: nil, settings: [],
            flags: [
                ("registrations", registrations.map { [$0] }), ("audience", audience.map { [$0] }),
                ("topic", topic.map { [$0] }), ("environment", environment.map { [$0] }),
            ] + further)
    }

    /// How many registrations a run with the same flags pushes to, one push each, and how many devices these are of; what it
    /// leaves out is said on standard error.
    func count() throws(HarnessError) -> (pushes: UInt64, devices: UInt64) {
        let scenario = try scenario()
        guard scenario.registrations != nil else {
            throw HarnessError(
                "--audience, --topic and --environment go with --registrations, the file that says who there is")
        }
        guard scenario.audience != nil else {
            throw HarnessError("registrations: say who is pushed to: an audience (a tag expression, * for everyone)")
        }
        let inputs = try RunInputs(scenario)
        for note in inputs.sends?.notes ?? [] { Console.error(note) }
        return (inputs.planned ?? 0, inputs.sends?.all.first?.tokens ?? 0)
    }
}

/// The way to the server, and what it allows.
struct PlanServerOptions: ParsableArguments {
    @Option(help: ArgumentHelp("A machine's bandwidth to the server, such as 10Gbit.", valueName: "bandwidth"))
    var bandwidth: String?

    @Option(help: ArgumentHelp("A connection's bandwidth each way, such as 100Mbit.", valueName: "bandwidth"))
    var connectionBandwidth: String?

    @Option(
        help: ArgumentHelp(
            "The server's flow-control window of a connection, 65535B to 2GiB, or none; the bundled mock's is 1MiB.",
            valueName: "size")
    )
    var window = "1MiB"

    @Option(
        help: ArgumentHelp("The server opens the window again when so much is used, 0% to 100%.", valueName: "share"))
    var windowReopen = "50%"

    @Option(
        help: ArgumentHelp(
            "From reading a push to answering it: 20ms, uniform 10ms 30ms, exponential 20ms or lognormal 20ms 0.5.",
            valueName: "time"))
    var serverTime = "0ms"

    @Option(
        help: ArgumentHelp(
            "batched: the server answers what came together together; single: each push by itself (default: batched, with the cores of single beside).",
            valueName: "batched|single"))
    var answers: String?

    @Option(
        help: ArgumentHelp(
            "What reaches either end is late by a random time up to this, at most the round trip.",
            valueName: "duration"))
    var jitter = "0ms"

    @Option(
        help: ArgumentHelp(
            "Share of TCP's segments that are lost, each way, 0% to 5%: beyond, TCP mostly waits for its timer.",
            valueName: "share"))
    var loss = "0%"

    @Option(
        name: .customLong("goaway-every"),
        help: ArgumentHelp(
            "The server ends each connection after so many pushes, 1 to 1G (default: never).", valueName: "count"))
    var goAwayEvery: String?

    @Option(
        help: ArgumentHelp(
            "The server allows each connection only so many streams for a part of every period: 100:1s/10s (default: never).",
            valueName: "streams:time/period"))
    var fewerStreams: String?

    @Option(
        help: ArgumentHelp(
            "Share of the attempts that are answered 429 or 503 and sent again, 0% to 90%.", valueName: "share"))
    var sentAgain = "0%"

    @Option(
        help: ArgumentHelp(
            "The server is the bundled mock with so many threads, 1 to 256 (default: elsewhere, and as large as it takes).",
            valueName: "count"))
    var mockThreads: String?

    @Option(
        help: ArgumentHelp("Cores that client and mock share, 1 to 4,096; with --mock-threads.", valueName: "count"))
    var sharedCores: String?

    func apply(to question: inout PlanQuestion) throws(HarnessError) {
        if let bandwidth { question.bandwidth = try PlanValue.read("--bandwidth", bandwidth, Units.bandwidth) }
        if let connectionBandwidth {
            question.linkRate = try PlanValue.read("--connection-bandwidth", connectionBandwidth, Units.bandwidth)
        }
        if window != "none" {
            let bytes = try PlanValue.read("--window", window, Units.bytes)
            guard (65_535...2_147_483_647).contains(bytes) else {
                throw HarnessError("--window \(window): expected 65535 to 2147483647 bytes, or none")
            }
            question.window = Double(bytes)
        }
        question.windowReopen = try PlanValue.read("--window-reopen", windowReopen, Units.share)
        do throws(SettingsError) { question.serverTime = try TimeDistribution(parsing: serverTime) } catch {
            throw HarnessError("--server-time \(error)")
        }
        if let answers {
            guard let known = CostSample.Answers(rawValue: answers) else {
                throw HarnessError("--answers \(answers): expected batched or single")
            }
            question.answers = known
        }
        question.jitter = Double(try PlanValue.read("--jitter", jitter, Units.duration))
        // More of it than of the way itself is a mistyped unit.
        guard question.jitter <= question.roundTrip else {
            throw HarnessError(
                "--jitter \(jitter): expected at most \(Units.written(duration: UInt64(question.roundTrip))), the round trip "
                    + "(--rtt), on top of which it comes")
        }
        question.loss = try share("--loss", loss, 0.05)
        question.sentAgain = try share("--sent-again", sentAgain, 0.9)
        if let goAwayEvery {
            question.goAwayEvery = Double(try PlanValue.whole("--goaway-every", goAwayEvery, 1...1_000_000_000))
        }
        if let fewerStreams {
            guard let fewer = FewerStreams(parsing: fewerStreams), fewer.streams < Double(question.streams) else {
                throw HarnessError(
                    "--fewer-streams \(fewerStreams): expected streams:time/period, as in 100:1s/10s, with fewer than "
                        + "--streams (\(question.streams)) and a time shorter than the period")
            }
            question.fewerStreams = fewer
        }
        if let mockThreads { question.mockThreads = try PlanValue.whole("--mock-threads", mockThreads, 1...256) }
        if let sharedCores {
            guard question.mockThreads > 0 else { throw HarnessError("--shared-cores goes with --mock-threads") }
            question.sharedCores = try PlanValue.whole("--shared-cores", sharedCores, 1...4096)
        }
        guard question.roundTrip > 0 || question.loss == 0 else {
            throw HarnessError("--loss goes with --rtt above 0: what is lost is sent again a round trip later")
        }
        guard question.loss == 0 || question.mockThreads == 0 else {
            throw HarnessError("--loss and --mock-threads: the mock's link loses nothing; give one of them")
        }
        guard question.mockThreads == 0 || question.machines == 1 else {
            throw HarnessError("--mock-threads: the bundled mock is on the client's machine; give --machines 1")
        }
    }

    private func share(_ flag: String, _ text: String, _ most: Double) throws(HarnessError) -> Double {
        // Units know another limit: 100 %.
        guard let share = try? Units.share(text), (0...most).contains(share) else {
            // Somebody who counts in per cent.
            let isShare = !text.hasSuffix("%") && (try? Units.share(text)) != nil
            let hint = isShare ? "; it is a share: for \(text) per cent write \(text)%" : ""
            throw HarnessError("\(flag) \(text): expected 0% to \(Units.fixed(most * 100, places: 0))%\(hint)")
        }
        return share
    }
}
