import ArgumentParser

/// How long a run is, and what of it is measured. Each flag is the `ScenarioKey` of its name.
package struct LengthOptions: ParsableArguments {
    package init() {}

    @Option(name: .customLong("name"), help: .of("name", "text"))
    package var name: String?

    @Option(name: [.customShort("n"), .customLong("pushes")], help: .of("pushes", "count"))
    package var pushes: String?

    @Option(name: [.customShort("D"), .customLong("duration")], help: .of("duration", "duration"))
    package var duration: String?

    @Option(name: .customLong("drain"), help: .of("drain", "duration"))
    package var drain: String?

    @Option(name: .customLong("stages"), help: .of("stages", "stages"))
    package var stages: [String] = []

    @Option(name: .customLong("trace"), help: .of("trace", "file"))
    package var trace: String?

    @Option(name: .customLong("replay"), help: .of("replay", "file"))
    package var replay: String?

    @Option(name: .customLong("speed"), help: .of("speed", "factor"))
    package var speed: String?

    @Option(name: .customLong("replay-check"), help: .of("replay_check", "digits"))
    package var replayCheck: String?

    @Option(name: .customLong("warmup"), help: .of("warmup", "text"))
    package var warmup: String?

    @Option(name: .customLong("by"), help: .of("by", "dimension"))
    package var by: [String] = []

    @Flag(name: .customLong("measure"), inversion: .prefixedNo, help: .of("measure"))
    package var measure: Bool?

    @Option(name: .customLong("metrics-port"), help: .of("metrics_port", "port"))
    package var metricsPort: String?

    /// The flags that were given, by key.
    package var given: [(key: String, texts: [String]?)] {
        [
            ("name", name.map { [$0] }),
            ("pushes", pushes.map { [$0] }),
            ("duration", duration.map { [$0] }),
            ("drain", drain.map { [$0] }),
            ("stages", stages.isEmpty ? nil : stages),
            ("trace", trace.map { [$0] }),
            ("replay", replay.map { [$0] }),
            ("speed", speed.map { [$0] }),
            ("replay_check", replayCheck.map { [$0] }),
            ("warmup", warmup.map { [$0] }),
            ("by", by.isEmpty ? nil : by),
            ("measure", measure.map { [String($0)] }),
            ("metrics_port", metricsPort.map { [$0] }),
        ]
    }
}
