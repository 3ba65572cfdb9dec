import ArgumentParser
import Faults
import MockAPNs
import Settings

/// How the mock misbehaves. What flags say of pushes is a last rule, for all pushes no rule of the file matches.
struct FaultOptions: ParsableArguments {
    @Option(help: ArgumentHelp("Faults from a file (YAML; see the README). Flags add to it.", valueName: "file"))
    var faults: String?

    @OptionGroup var answers: AnswerFaultOptions

    @Option(
        help: ArgumentHelp(
            "Reject this share of the pushes, as in ServiceUnavailable=2%; may be given several times.",
            valueName: "reason=share"))
    var reject: [String] = []

    @Option(help: ArgumentHelp("Answer this share of the pushes with RST_STREAM.", valueName: "share"))
    var reset: String?

    @Option(
        help: ArgumentHelp("With which error code, RFC 9113 section 7 (default: INTERNAL_ERROR).", valueName: "code"))
    var resetCode: String?

    @Option(
        name: .customLong("goaway-after"),
        help: ArgumentHelp("Send a connection GOAWAY after so many requests.", valueName: "count"))
    var goAwayAfter: String?

    @Option(
        name: .customLong("goaway-age"),
        help: ArgumentHelp("Send a connection GOAWAY at this age.", valueName: "duration"))
    var goAwayAge: String?

    @Option(help: ArgumentHelp("Reset (TCP RST) each connection at this age.", valueName: "duration"))
    var tcpResetEvery: String?

    @Option(help: ArgumentHelp("Let this share of the TLS handshakes fail.", valueName: "share"))
    var handshakeFailures: String?

    @Option(
        help: ArgumentHelp(
            "The whole server does nothing for so long, so often: 500ms/10s.", valueName: "length/period"))
    var stall: String?

    @Option(
        help: ArgumentHelp("Read what a connection sends no faster than this, as in 64KiB/s.", valueName: "bandwidth"))
    var slowReading: String?

    @Flag(
        help: """
            Slow connections down for 4xx answers, and cut them off: MAX_CONCURRENT_STREAMS is halved for each 50 points, GOAWAY \
            comes at 500; BadDeviceToken counts 5, others 1, an accepted push takes 1 back. Other numbers: "penalty" in the file.
            """)
    var penalty = false

    @Option(help: ArgumentHelp("Emulate a link with this round-trip time.", valueName: "duration"))
    var rtt: String?

    @Option(
        help: ArgumentHelp("Let each piece on the link be late by a random time up to this.", valueName: "duration"))
    var jitter: String?

    @Option(
        help: ArgumentHelp("The link's bandwidth each way and connection: 100Mbit/s, 1MiB/s.", valueName: "bandwidth"))
    var bandwidth: String?

    @Flag(
        help:
            "Device tokens that begin with \"dead\" say what they are answered: dead410… Unregistered (see the README)."
    )
    var scriptedTokens = false

    func plan() throws -> FaultPlan {
        var plan = FaultPlan()
        plan.seed = FaultPlan.drawnSeed()
        if let faults { plan = try FaultFile.read(faults) }
        if let faultSeed = answers.faultSeed { plan.seed = faultSeed }
        if let rtt { plan.link.roundTrip = try reading("--rtt", rtt, Units.duration) }
        if let jitter { plan.link.jitter = try reading("--jitter", jitter, Units.duration) }
        if let bandwidth { plan.link.bandwidth = try reading("--bandwidth", bandwidth, Units.bandwidth) }
        try connections(&plan.connections)
        var rule = FaultRule()
        if let latency = try answers.readLatency() { rule.latency = latency }
        for text in reject { rule.rejections.append(try reading("--reject", text, FaultText.rejection)) }
        if let share = try answers.readSilent() { rule.silentShare = share }
        if let reset { rule.resetShare = try reading("--reset", reset, Units.share) }
        if let resetCode {
            rule.resetCode = try reading("--reset-code", resetCode, FaultText.errorCode)
            guard reset != nil else { throw Misuse("--reset-code goes with --reset, the share of pushes it is for") }
        }
        try answers.check(totalShare: rule.totalShare)
        if rule.totalShare > 0 || rule.latency != .none { plan.rules.append(rule) }
        return plan
    }

    private func connections(_ faults: inout ConnectionFaults) throws {
        if let goAwayAfter {
            let count = try reading("--goaway-after", goAwayAfter, Units.count)
            guard count > 0 else { throw Misuse("--goaway-after \(goAwayAfter): expected at least 1") }
            faults.goAwayAfter = count
        }
        if let goAwayAge {
            let age = try reading("--goaway-age", goAwayAge, Units.duration)
            guard age > 0 else { throw Misuse("--goaway-age \(goAwayAge): expected above 0") }
            faults.goAwayAge = age
        }
        if let tcpResetEvery { faults.tcpResetEvery = try reading("--tcp-reset-every", tcpResetEvery, Units.duration) }
        if let handshakeFailures {
            faults.handshakeFailureShare = try reading("--handshake-failures", handshakeFailures, Units.share)
        }
        if let stall {
            let text = try reading("--stall", stall, FaultText.stall)
            (faults.stallLength, faults.stallEvery) = (text.length, text.every)
        }
        if penalty, faults.penalty == nil { faults.penalty = PenaltySettings() }
        if let slowReading { faults.slowReading = try reading("--slow-reading", slowReading, Units.bandwidth) }
    }
}
