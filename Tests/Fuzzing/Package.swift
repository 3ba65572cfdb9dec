// swift-tools-version: 6.2
import PackageDescription

/// Coverage-guided fuzzing of what reads bytes from strangers; see `fuzz.sh`. A package of its own, because everything in it
/// is built with other flags than the rest.
let package = Package(
    name: "Fuzzing",
    dependencies: [.package(name: "pushload", path: "../..", traits: [])],
    targets: [
        .executableTarget(
            name: "fuzz",
            dependencies: [
                .product(name: "MockAPNs", package: "pushload"), .product(name: "Scenarios", package: "pushload"),
                .product(name: "Transport", package: "pushload"),
            ],
            swiftSettings: Context.environment["WARNINGS_AS_ERRORS"] == "1"
                ? [.treatAllWarnings(as: .error)] : [])
    ],
    swiftLanguageModes: [.v6]
)
