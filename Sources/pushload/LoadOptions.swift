import ArgumentParser
import Foundation
import Harness
import Scenarios
import Settings

/// How much is sent, how fast, and to whom.
struct LoadOptions: ParsableArguments {
    @Option(name: [.customShort("n"), .long], help: "Pushes to send, such as 5000, 10k or 1M.")
    var pushes: Count?

    @Option(name: [.customShort("D"), .long], help: "Send for so long, such as 500ms, 10s, 5m or 1h.")
    var duration: Span?

    @Option(name: [.short, .long], help: "Connections, over all threads.")
    var connections = 1

    @Option(name: [.customShort("m"), .long], help: "Most streams open at once on a connection.")
    var streams = 1000

    @Option(name: [.short, .long], help: "Worker threads.")
    var threads = 1

    @Option(help: "Pushes a second, such as 500 or 20k; without it, as fast as the streams allow.")
    var rate: Rate?

    @Option(
        help: ArgumentHelp(
            "Rates over time: \"ramp 1k 20k 10s, hold 20k 30s, burst 100k, pause 5s, sine 10k 5k 10s 60s, step 1k 9k 5 50s\".",
            valueName: "stages"))
    var stages: String?

    @Option(help: "How pushes are spread around the rate: constant, poisson, jitter or jitter:50%.")
    var arrivals = "constant"

    @Option(
        help: ArgumentHelp("Recorded due times to replay: one a line, or the first column of a CSV.", valueName: "file")
    )
    var trace: String?

    @Option(help: "Open loop: pushes that may wait although they are due; more than that overflow and are not sent.")
    var backlog = Count(10_000_000)

    @Option(
        help: ArgumentHelp(
            "Leave out of rate and latencies what is due within this time (5s), or the first so many pushes (10k pushes).",
            valueName: "warm-up"))
    var warmup: String?

    @Flag(help: "Keep outcomes and latency apart by status.")
    var byStatus = false

    @Flag(name: .customLong("measure"), inversion: .prefixedNo, help: .hidden)
    var measure = true

    @Option(help: "alert, silent, rich, live-activity, voip, or a weighted mix such as alert:80,silent:15,rich:5.")
    var profile = "alert"

    @Option(help: ArgumentHelp("Payload template instead of a profile: JSON with {{holes}}.", valueName: "file"))
    var template: String?

    @Option(help: "apns-push-type of the template.")
    var pushType = "alert"

    @Option(help: "Devices of the synthetic population, such as 1M.")
    var devices = Count(1_000_000)

    @Option(help: ArgumentHelp("Device tokens, one a line, or CSV with token and tags.", valueName: "file"))
    var deviceFile: String?

    @Option(help: "apns-topic: the app's bundle id; suffixes are added by push type.")
    var topic: String?

    @Option(help: "apns-priority: 10, 5 or 1. Default: the push type's own.")
    var priority: Int?

    @Option(help: "apns-expiration: UNIX seconds, or 0 to try once.")
    var expiration: Int64?

    @Option(help: "apns-collapse-id, at most 64 bytes.")
    var collapseID: String?

    @Flag(name: .customLong("apns-id"), help: "Send an apns-id of our own with every push.")
    var apnsID = false

    @Option(help: "Seed of everything random.")
    var seed: UInt64 = 1

    @Option(help: "Name of the run, part of the result's folder.")
    var name = "run"

    @Option(
        name: .customLong("threshold"),
        help: ArgumentHelp(
            "What the run must hold, else it exits 99: \"p99 < 50ms\", \"accepted >= 99.9%\", \"rate >= 0.95 * target\"; several times.",
            valueName: "condition"))
    var thresholds: [String] = []

    @Flag(help: "End the run as soon as a threshold is seen to be crossed.")
    var abortOnFail = false

    @Option(help: ArgumentHelp("Reasons of rejections that are as wanted, such as BadDeviceToken,Unregistered."))
    var expectReasons: String?

    func apply(to scenario: inout Scenario) throws(HarnessError) {
        do throws(SettingsError) {
            if let stages { scenario.stages = try LoadStage.parse(stages) }
        } catch { throw HarnessError("--stages: \(error)") }
        scenario.thresholds = thresholds
        scenario.abortOnFail = abortOnFail
        scenario.arrivals = arrivals
        scenario.trace = trace
        scenario.backlog = backlog.value
        scenario.byStatus = byStatus
        scenario.measure = measure
        if let warmup {
            do throws(Units.ParseError) {
                if warmup.hasSuffix("pushes") {
                    scenario.warmupPushes = try Units.count(warmup.dropLast(6).trimmingCharacters(in: .whitespaces))
                } else {
                    scenario.warmup = try Units.duration(warmup)
                }
            } catch { throw HarnessError("--warmup: \(error)") }
        }
        scenario.pushes = pushes?.value
        scenario.duration = duration?.nanoseconds
        scenario.connections = connections
        scenario.streams = streams
        scenario.threads = threads
        scenario.rate = rate?.value
        scenario.profile = template == nil ? profile : "template"
        scenario.template = template
        scenario.pushType = pushType
        scenario.devices = devices.value
        scenario.deviceFile = deviceFile
        scenario.topic = topic ?? ""
        scenario.priority = priority
        scenario.expiration = expiration
        scenario.collapseID = collapseID
        scenario.apnsID = apnsID
        scenario.seed = seed
        scenario.name = name
        scenario.expectedReasons = expectReasons.map { $0.split(separator: ",").map(String.init) } ?? []
    }
}
