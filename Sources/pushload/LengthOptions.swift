import ArgumentParser
import Scenarios

/// How long a run is, what of it is measured and how it is judged. Each flag is the `ScenarioKey` of its name.
struct LengthOptions: ParsableArguments {
    @Option(name: .customLong("name"), help: .of("name", "text"))
    var name: String?

    @Option(name: [.customShort("n"), .customLong("pushes")], help: .of("pushes", "count"))
    var pushes: String?

    @Option(name: [.customShort("D"), .customLong("duration")], help: .of("duration", "duration"))
    var duration: String?

    @Option(name: .customLong("drain"), help: .of("drain", "duration"))
    var drain: String?

    @Option(name: .customLong("stages"), help: .of("stages", "stages"))
    var stages: [String] = []

    @Option(name: .customLong("trace"), help: .of("trace", "file"))
    var trace: String?

    @Option(name: .customLong("warmup"), help: .of("warmup", "text"))
    var warmup: String?

    @Option(name: .customLong("by"), help: .of("by", "dimension"))
    var by: [String] = []

    @Flag(name: .customLong("measure"), inversion: .prefixedNo, help: .of("measure"))
    var measure: Bool?

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

    /// The flags that were given, by key.
    var given: [(key: String, texts: [String]?)] {
        [
            ("name", name.map { [$0] }),
            ("pushes", pushes.map { [$0] }),
            ("duration", duration.map { [$0] }),
            ("drain", drain.map { [$0] }),
            ("stages", stages.isEmpty ? nil : stages),
            ("trace", trace.map { [$0] }),
            ("warmup", warmup.map { [$0] }),
            ("by", by.isEmpty ? nil : by),
            ("measure", measure.map { [String($0)] }),
            ("threshold", threshold.isEmpty ? nil : threshold),
            ("metrics_port", metricsPort.map { [$0] }),
            ("abort_on_fail", abortOnFail.map { [String($0)] }),
            ("abort_on_fail_window", abortOnFailWindow.map { [$0] }),
            ("abort_on_fail_delay", abortOnFailDelay.map { [$0] }),
        ]
    }
}
