// swift-tools-version: 6.2
import PackageDescription

let strict: [SwiftSetting] =
    Context.environment["WARNINGS_AS_ERRORS"] == "1" ? [.treatAllWarnings(as: .error)] : []

/// What one push costs, stage by stage: in time (`make bench`) and in instructions (`make bench-instructions`). A package of
/// its own, so that whoever only builds pushload needs nothing of it.
let package = Package(
    name: "Benchmarks",
    dependencies: [
        .package(name: "pushload", path: ".."),
        .package(url: "https://github.com/ordo-one/benchmark", from: "1.38.1", traits: []),
    ],
    targets: [
        .target(
            name: "Stages", dependencies: [.product(name: "PushStages", package: "pushload")], swiftSettings: strict),
        .executableTarget(
            name: "run-stage", dependencies: ["Stages"], path: "Sources/RunStage", swiftSettings: strict),
        // How often the intervals of a run hold the truth.
        .executableTarget(
            name: "run-coverage", dependencies: [.product(name: "Figures", package: "pushload")],
            path: "Sources/RunCoverage",
            swiftSettings: strict),
        .executableTarget(
            name: "PushBenchmarks",
            dependencies: ["Stages", .product(name: "Benchmark", package: "benchmark")],
            path: "Benchmarks/PushBenchmarks", swiftSettings: strict,
            plugins: [.plugin(name: "BenchmarkPlugin", package: "benchmark")]),
    ],
    swiftLanguageModes: [.v6]
)
