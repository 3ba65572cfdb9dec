import ArgumentParser
import Scenarios

/// How much is sent, how fast, and to whom. Each flag is the `ScenarioKey` of its name.
struct LoadOptions: ParsableArguments {
    @Option(name: .customLong("name"), help: .of("name", "text"))
    var name: String?

    @Option(name: [.customShort("n"), .customLong("pushes")], help: .of("pushes", "count"))
    var pushes: String?

    @Option(name: [.customShort("D"), .customLong("duration")], help: .of("duration", "duration"))
    var duration: String?

    @Option(name: .customLong("drain"), help: .of("drain", "duration"))
    var drain: String?

    @Option(name: [.customShort("c"), .customLong("connections")], help: .of("connections", "count"))
    var connections: String?

    @Option(name: [.customShort("m"), .customLong("streams")], help: .of("streams", "count"))
    var streams: String?

    @Option(name: [.customShort("t"), .customLong("threads")], help: .of("threads", "count"))
    var threads: String?

    @Option(name: .customLong("rate"), help: .of("rate", "rate"))
    var rate: String?

    @Option(name: .customLong("stages"), help: .of("stages", "stages"))
    var stages: [String] = []

    @Option(name: .customLong("arrivals"), help: .of("arrivals", "text"))
    var arrivals: String?

    @Option(name: .customLong("trace"), help: .of("trace", "file"))
    var trace: String?

    @Option(name: .customLong("backlog"), help: .of("backlog", "count"))
    var backlog: String?

    @Option(name: .customLong("pacing"), help: .of("pacing", "how"))
    var pacing: String?

    @Option(name: .customLong("warmup"), help: .of("warmup", "text"))
    var warmup: String?

    @Option(name: .customLong("by"), help: .of("by", "dimension"))
    var by: [String] = []

    @Flag(name: .customLong("measure"), inversion: .prefixedNo, help: .hidden)
    var measure: Bool?

    @Option(name: .customLong("profile"), help: .of("profile", "text"))
    var profile: String?

    @Option(name: .customLong("template"), help: .of("template", "file"))
    var template: String?

    @Option(name: .customLong("push-type"), help: .of("push_type", "text"))
    var pushType: String?

    @Option(name: .customLong("devices"), help: .of("devices", "count"))
    var devices: String?

    @Option(name: .customLong("device-file"), help: .of("device_file", "file"))
    var deviceFile: String?

    @Option(name: .customLong("topic"), help: .of("topic", "text"))
    var topic: String?

    @Option(name: .customLong("priority"), help: .of("priority", "number"))
    var priority: String?

    @Option(name: .customLong("expiration"), help: .of("expiration", "number"))
    var expiration: String?

    @Option(name: .customLong("collapse-id"), help: .of("collapse_id", "text"))
    var collapseID: String?

    @Flag(name: .customLong("apns-id"), inversion: .prefixedNo, help: .of("apns_id"))
    var apnsID: Bool?

    @Option(name: .customLong("seed"), help: .of("seed", "count"))
    var seed: String?

    @Option(name: .customLong("threshold"), help: .of("threshold", "condition"))
    var threshold: [String] = []

    @Option(name: .customLong("metrics-port"), help: .of("metrics_port", "port"))
    var metricsPort: String?

    @Flag(name: .customLong("abort-on-fail"), inversion: .prefixedNo, help: .of("abort_on_fail"))
    var abortOnFail: Bool?

    @Option(name: .customLong("abort-on-fail-window"), help: .of("abort_on_fail_window", "duration"))
    var abortOnFailWindow: String?

    @Option(name: .customLong("abort-on-fail-delay"), help: .of("abort_on_fail_delay", "duration"))
    var abortOnFailDelay: String?

    @Option(name: .customLong("expect-reasons"), help: .of("expect_reasons"))
    var expectReasons: [String] = []

    /// The flags that were given, by key.
    var given: [(key: String, texts: [String]?)] {
        [
            ("name", name.map { [$0] }),
            ("pushes", pushes.map { [$0] }),
            ("duration", duration.map { [$0] }),
            ("drain", drain.map { [$0] }),
            ("connections", connections.map { [$0] }),
            ("streams", streams.map { [$0] }),
            ("threads", threads.map { [$0] }),
            ("rate", rate.map { [$0] }),
            ("stages", stages.isEmpty ? nil : stages),
            ("arrivals", arrivals.map { [$0] }),
            ("trace", trace.map { [$0] }),
            ("backlog", backlog.map { [$0] }),
            ("pacing", pacing.map { [$0] }),
            ("warmup", warmup.map { [$0] }),
            ("by", by.isEmpty ? nil : by),
            ("measure", measure.map { [String($0)] }),
            ("profile", profile.map { [$0] }),
            ("template", template.map { [$0] }),
            ("push_type", pushType.map { [$0] }),
            ("devices", devices.map { [$0] }),
            ("device_file", deviceFile.map { [$0] }),
            ("topic", topic.map { [$0] }),
            ("priority", priority.map { [$0] }),
            ("expiration", expiration.map { [$0] }),
            ("collapse_id", collapseID.map { [$0] }),
            ("apns_id", apnsID.map { [String($0)] }),
            ("seed", seed.map { [$0] }),
            ("threshold", threshold.isEmpty ? nil : threshold),
            ("metrics_port", metricsPort.map { [$0] }),
            ("abort_on_fail", abortOnFail.map { [String($0)] }),
            ("abort_on_fail_window", abortOnFailWindow.map { [$0] }),
            ("abort_on_fail_delay", abortOnFailDelay.map { [$0] }),
            ("expect_reasons", expectReasons.isEmpty ? nil : expectReasons),
        ]
    }
}
