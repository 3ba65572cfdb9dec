// swift-tools-version: 6.2
import PackageDescription

/// The whole client and the mock in one thread, in virtual time, over a virtual network drawn from a seed; `make simulate`. A
/// package of its own, so that whoever only builds pushload needs nothing of it.
let package = Package(
    name: "Simulation",
    dependencies: [.package(name: "pushload", path: "../..")],
    targets: [
        .executableTarget(
            name: "simulate", dependencies: [.product(name: "Simulated", package: "pushload")],
            swiftSettings: Context.environment["WARNINGS_AS_ERRORS"] == "1"
                ? [.treatAllWarnings(as: .error)] : [])
    ],
    swiftLanguageModes: [.v6]
)
