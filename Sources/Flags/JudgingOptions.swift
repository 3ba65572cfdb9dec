import ArgumentParser

/// How a run is judged. Each flag is the `ScenarioKey` of its name. Not listed by commands that refuse it and say why.
package struct ThresholdOptions: ParsableArguments {
    package init() {}

    @Option(name: .customLong("threshold"), help: .of("threshold", "condition"))
    package var threshold: [String] = []

    /// The flags that were given, by key.
    package var given: [(key: String, texts: [String]?)] { [("threshold", threshold.isEmpty ? nil : threshold)] }
}

/// Whether a run ends when it is seen to fail. Likewise.
package struct AbortOptions: ParsableArguments {
    package init() {}

    @Flag(name: .customLong("abort-on-fail"), inversion: .prefixedNo, help: .of("abort_on_fail"))
    package var abortOnFail: Bool?

    @Option(name: .customLong("abort-on-fail-window"), help: .of("abort_on_fail_window", "duration"))
    package var abortOnFailWindow: String?

    @Option(name: .customLong("abort-on-fail-delay"), help: .of("abort_on_fail_delay", "duration"))
    package var abortOnFailDelay: String?

    /// The flags that were given, by key.
    package var given: [(key: String, texts: [String]?)] {
        [
            ("abort_on_fail", abortOnFail.map { [String($0)] }),
            ("abort_on_fail_window", abortOnFailWindow.map { [$0] }),
            ("abort_on_fail_delay", abortOnFailDelay.map { [$0] }),
        ]
    }
}
