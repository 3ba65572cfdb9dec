import ArgumentParser
import Flags

/// When a run by itself ends: none of these goes with runs that are held against each other. Each flag is the `ScenarioKey` of its name.
struct PrecisionOptions: ParsableArguments {
    @Option(name: .customLong("until"), help: .of("until", "figure"))
    var until: String?

    @Option(name: .customLong("budget"), help: .of("budget", "duration"))
    var budget: String?

    /// The flags that were given, by key.
    var given: [(key: String, texts: [String]?)] {
        [("until", until.map { [$0] }), ("budget", budget.map { [$0] })]
    }
}
