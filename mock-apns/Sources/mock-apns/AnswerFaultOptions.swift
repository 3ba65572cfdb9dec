import ArgumentParser
import Faults
import Settings

/// How answers misbehave: what the mock and the backend have in common.
struct AnswerFaultOptions: ParsableArguments {
    @Option(help: ArgumentHelp("Seed of all random choices. Default: drawn, and printed.", valueName: "seed"))
    var faultSeed: UInt64?

    @Option(
        help: ArgumentHelp(
            "How long answers take: 80ms, \"uniform 10ms 20ms\", \"normal 20ms 5ms\", \"lognormal 20ms 0.5\", \"hdr FILE\".",
            valueName: "latency"))
    var latency: String?

    @Option(help: ArgumentHelp("Do what this share of the requests asks, but never answer.", valueName: "share"))
    var silent: String?

    /// nil: as it is without the flag.
    func readLatency() throws(Misuse) -> AnswerLatency? {
        guard let latency else { return nil }
        return try reading("--latency", latency, AnswerLatency.init(parsing:))
    }

    /// 0 to 1; nil: as it is without the flag.
    func readSilent() throws(Misuse) -> Double? {
        guard let silent else { return nil }
        return try reading("--silent", silent, Units.share)
    }

    /// Shares of one rule exclude each other.
    func check(
        totalShare: Double, of names: String = "--reject, --silent and --reset"
    ) throws(Misuse) {
        guard totalShare <= 1.000_000_1 else {
            throw Misuse("\(names): the shares add up to more than 100%")
        }
    }
}
