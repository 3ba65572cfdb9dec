// swift-tools-version: 6.2
import PackageDescription

/// Every target of ours: Swift 6 language mode and no warning left standing.
let strict: [SwiftSetting] = [.treatAllWarnings(as: .error)]

let package = Package(
    name: "pushload",
    products: [
        .executable(name: "pushload", targets: ["pushload"]),
        .executable(name: "mock-apns", targets: ["mock-apns"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
        .package(url: "https://github.com/HdrHistogram/hdrhistogram-swift", from: "0.2.0"),
        .package(url: "https://github.com/swiftlang/swift-subprocess", from: "1.0.2"),
    ],
    targets: [
        // System libraries: a header and link flags, nothing else.
        .systemLibrary(name: "CNghttp2", pkgConfig: "libnghttp2", providers: [.apt(["libnghttp2-dev"])]),
        .systemLibrary(name: "COpenSSL", pkgConfig: "openssl", providers: [.apt(["libssl-dev"])]),
        .systemLibrary(name: "CJemalloc", pkgConfig: "jemalloc", providers: [.apt(["libjemalloc-dev"])]),

        .target(name: "Payloads", dependencies: ["COpenSSL"], swiftSettings: strict),
        .target(name: "Signing", dependencies: ["COpenSSL"], swiftSettings: strict),
        .target(
            name: "Measurement",
            dependencies: ["CJemalloc", .product(name: "Histogram", package: "hdrhistogram-swift")],
            swiftSettings: strict),
        .target(name: "Results", swiftSettings: strict),
        .target(name: "Scenarios", swiftSettings: strict),
        .target(name: "Analysis", dependencies: ["Results"], swiftSettings: strict),
        .target(name: "Reports", dependencies: ["Results"], swiftSettings: strict),

        .testTarget(name: "PayloadsTests", dependencies: ["Payloads"], swiftSettings: strict),
        .testTarget(name: "SigningTests", dependencies: ["Signing"], swiftSettings: strict),
        .testTarget(name: "MeasurementTests", dependencies: ["Measurement"], swiftSettings: strict),
        .testTarget(name: "ResultsTests", dependencies: ["Results"], swiftSettings: strict),
        .testTarget(name: "ScenariosTests", dependencies: ["Scenarios"], swiftSettings: strict),
        .testTarget(name: "AnalysisTests", dependencies: ["Analysis", "Results"], swiftSettings: strict),
        .testTarget(name: "ReportsTests", dependencies: ["Reports", "Results"], swiftSettings: strict),
    ],
    swiftLanguageModes: [.v6]
)
