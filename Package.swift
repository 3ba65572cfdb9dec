// swift-tools-version: 6.2
import PackageDescription

/// Every target of ours. In CI, which sets this variable, no warning is left standing; elsewhere a warning of a newer compiler or
/// library ends no build.
let strict: [SwiftSetting] =
    Context.environment["WARNINGS_AS_ERRORS"] == "1" ? [.treatAllWarnings(as: .error)] : []

/// For rooms that run before and after the load, in milliseconds either way: a clean build need not wait for their optimisation. Not
/// for Plan, which makes a plan a thousand times.
/// What other packages may use by version has no such flags (SwiftPM refuses them there).
let cold: [SwiftSetting] = strict + [.unsafeFlags(["-Onone"], .when(configuration: .release))]

/// For the room that simulates: its tests make a thousand plans.
let simulated: [SwiftSetting] = strict + [.unsafeFlags(["-O"], .when(configuration: .debug))]

/// What a question that users ask may know: a room each, of which only the command is seen outside.
let question: [Target.Dependency] = [
    "Flags", "Harness", "Scenarios", "Results", "Reports", "Analysis", "Statistics", "Measurement", "Networking",
    "Settings", .product(name: "ArgumentParser", package: "swift-argument-parser"),
]

/// What their tests may know besides.
let asked: [Target.Dependency] = [
    "Results", "Reports", "Analysis", "Statistics", "Measurement", "Scenarios", "Settings", "SampleRuns", "TestSupport",
]

let package = Package(
    name: "pushload",
    products: [
        .executable(name: "pushload", targets: ["pushload"]),
        .executable(name: "mock-apns", targets: ["mock-apns"]),
        .library(name: "MockAPNs", targets: ["MockAPNs", "Faults", "PlainHTTP", "Signing", "Networking"]),
        .library(name: "Scenarios", targets: ["Scenarios"]),
        .library(name: "Transport", targets: ["Transport"]),
        .library(name: "Figures", targets: ["Measurement", "Statistics"]),
        .library(name: "PushStages", targets: ["Payloads", "Signing", "HTTP2", "Measurement", "PushLoop"]),
        .library(
            name: "Simulated",
            targets: [
                "Harness", "MockAPNs", "Networking", "HTTP2", "Transport", "Measurement", "Results", "Scenarios",
                "Signing",
                "Payloads",
            ]),
    ],
    traits: [
        .trait(
            name: "Jemalloc", description: "Allocate with jemalloc and count allocations; off under AddressSanitizer."),
        .default(enabledTraits: ["Jemalloc"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
        .package(url: "https://github.com/HdrHistogram/hdrhistogram-swift", from: "0.2.0"),
        .package(url: "https://github.com/jpsim/Yams", from: "6.2.2"),
    ],
    targets: [
        // System libraries: a header and link flags, nothing else.
        .systemLibrary(name: "CEpoll"),
        .systemLibrary(name: "CVector"),
        .systemLibrary(
            name: "CNghttp2", pkgConfig: "libnghttp2", providers: [.apt(["libnghttp2-dev"])]),
        .systemLibrary(name: "COpenSSL", pkgConfig: "openssl", providers: [.apt(["libssl-dev"])]),
        .systemLibrary(
            name: "CJemalloc", pkgConfig: "jemalloc", providers: [.apt(["libjemalloc-dev"])]),

        .systemLibrary(name: "CRoaring", providers: [.apt(["libroaring-dev"])]),
        .systemLibrary(name: "CSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"])]),
        .systemLibrary(name: "CPrefetch", path: "mock-apns/Sources/CPrefetch"),
        .systemLibrary(name: "CCurl", pkgConfig: "libcurl", providers: [.apt(["libcurl4-openssl-dev"])]),

        // What a push is made of, signed with, sent through and measured by.
        .target(name: "Payloads", dependencies: ["COpenSSL", "CVector", "Settings"], swiftSettings: strict),
        .target(name: "Audience", dependencies: ["CRoaring", "Payloads", "Settings"], swiftSettings: strict),
        .target(name: "Signing", dependencies: ["COpenSSL", "Settings"], swiftSettings: strict),
        .target(name: "PlainHTTP", dependencies: ["HTTP2", "Networking"], swiftSettings: strict),
        .target(name: "Networking", dependencies: ["CEpoll", "COpenSSL"], swiftSettings: strict),
        .target(name: "HTTP2", dependencies: ["CNghttp2", "CVector", "Networking"], swiftSettings: strict),
        .target(name: "Transport", dependencies: ["HTTP2", "Networking"], swiftSettings: strict),
        .target(
            name: "Measurement",
            dependencies: [
                .target(name: "CJemalloc", condition: .when(traits: ["Jemalloc"]))
            ],
            swiftSettings: strict),

        // The fixed work that the cost of a push is divided by.
        .target(name: "Reference", dependencies: ["COpenSSL"], swiftSettings: strict),

        // What a run is asked to do, and what is made of its outcome.
        .target(
            name: "Settings", dependencies: [.product(name: "Yams", package: "Yams")], swiftSettings: strict),
        .target(name: "Scenarios", dependencies: ["Payloads", "Measurement", "Settings"], swiftSettings: strict),
        .target(name: "Results", dependencies: ["Measurement", "Settings"], swiftSettings: strict),
        .target(name: "Statistics", dependencies: ["Measurement"], swiftSettings: strict),
        .target(
            name: "Analysis", dependencies: ["Results", "Statistics", "Measurement", "Scenarios", "Settings"],
            swiftSettings: strict),
        .target(
            name: "Reports", dependencies: ["Results", "Measurement", "Scenarios", "Settings"], swiftSettings: cold),
        .target(
            name: "Harness",
            dependencies: [
                "Payloads", "Audience", "Signing", "Transport", "Networking", "HTTP2", "Measurement", "Scenarios",
                "Results", "Statistics", "Settings", "PlainHTTP", "Devices",
                "CCurl", "COpenSSL", "CNghttp2",
            ],
            swiftSettings: strict),
        // What commands share, and a room for each question.
        .target(
            name: "Flags",
            dependencies: [
                "Harness", "Scenarios", "Results", "Reports", "Analysis", "Signing", "Networking", "Settings",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            swiftSettings: cold),
        .target(name: "Comparison", dependencies: question, swiftSettings: cold),
        .target(name: "Gate", dependencies: question + ["Reference"], swiftSettings: cold),
        .target(name: "Sweep", dependencies: question + ["Payloads"], swiftSettings: cold),
        .target(name: "Plan", dependencies: question + ["Devices", "Payloads"], swiftSettings: simulated),
        .target(name: "History", dependencies: question, swiftSettings: cold),
        // One run on many machines: workers that share a folder.
        .target(name: "Workers", dependencies: question, swiftSettings: cold),
        .executableTarget(
            name: "pushload",
            dependencies: question + [
                "Comparison", "Gate", "Sweep", "Plan", "History", "Workers", "Payloads", "Signing", "Audience",
            ],
            swiftSettings: cold, linkerSettings: [.linkedLibrary("jemalloc", .when(traits: ["Jemalloc"]))]),

        // What intervals and verdicts hold of what they say, by simulation.
        .executableTarget(
            name: "coverage", dependencies: ["Statistics", "Measurement"], path: "Benchmarks/Coverage",
            swiftSettings: strict),

        // What phones do with pushes.
        .target(
            name: "Devices", dependencies: ["CPrefetch", "Payloads", "Settings"], path: "mock-apns/Sources/Devices",
            swiftSettings: strict),

        // The mock APNs server, the app's backend that devices call, and what both misbehave by.
        .target(
            name: "Faults", dependencies: ["Measurement", "Settings"], path: "mock-apns/Sources/Faults",
            swiftSettings: strict),
        .target(
            name: "Backend", dependencies: ["CSQLite", "COpenSSL", "Faults", "Networking", "PlainHTTP", "Settings"],
            path: "mock-apns/Sources/Backend", swiftSettings: strict),
        // What devices ask of that backend, as real HTTP.
        .target(
            name: "Echo",
            dependencies: ["CCurl", "Devices", "Faults", "Measurement", "Networking", "Payloads", "Settings"],
            path: "mock-apns/Sources/Echo", swiftSettings: strict),
        .target(
            name: "MockAPNs",
            dependencies: [
                "CVector", "Devices", "Echo", "Faults", "HTTP2", "Networking", "Payloads", "Signing", "Measurement",
                "Settings", "PlainHTTP",
                .product(name: "Logging", package: "swift-log"),
            ],
            path: "mock-apns/Sources/MockAPNs", swiftSettings: strict),
        // The examination of clients.
        .target(
            name: "Exam", dependencies: ["HTTP2", "Networking", "Settings", "Signing"], path: "mock-apns/Sources/Exam",
            swiftSettings: cold),
        .executableTarget(
            name: "mock-apns",
            dependencies: [
                "MockAPNs", "Backend", "Devices", "Echo", "Exam", "Faults", "Networking", "Payloads", "Signing",
                "Measurement",
                "Settings",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "Logging", package: "swift-log"),
            ],
            path: "mock-apns/Sources/mock-apns", swiftSettings: cold,
            linkerSettings: [.linkedLibrary("jemalloc", .when(traits: ["Jemalloc"]))]),

        // What the benchmarks turn by hand: client and mock on one thread.
        .target(
            name: "PushLoop",
            dependencies: [
                "Devices", "Harness", "HTTP2", "MockAPNs", "Transport", "Networking", "Scenarios", "Signing",
            ],
            swiftSettings: strict),

        // What tests of several rooms need.
        .target(name: "TestSupport", path: "Tests/TestSupport", swiftSettings: strict),
        .testTarget(
            name: "PayloadsTests", dependencies: ["CVector", "Payloads", "TestSupport"], swiftSettings: strict),
        .testTarget(
            name: "AudienceTests", dependencies: ["Audience", "CRoaring", "Payloads", "Settings", "TestSupport"],
            exclude: ["Python"],
            swiftSettings: strict),
        .testTarget(name: "PlainHTTPTests", dependencies: ["PlainHTTP", "Networking"], swiftSettings: strict),
        .testTarget(name: "SigningTests", dependencies: ["Signing", "Settings"], swiftSettings: strict),
        .testTarget(
            name: "NetworkingTests", dependencies: ["Networking", "Signing", "COpenSSL", "TestSupport"],
            swiftSettings: strict),
        .testTarget(name: "HTTP2Tests", dependencies: ["HTTP2", "Networking", "CNghttp2"], swiftSettings: strict),
        .testTarget(
            name: "TransportTests",
            dependencies: ["Transport", "HTTP2", "Networking", "Signing", "CNghttp2", "TestSupport"],
            swiftSettings: strict),
        .testTarget(
            name: "MeasurementTests",
            // An independent reader of what Measurement counts.
            dependencies: ["Measurement", .product(name: "Histogram", package: "hdrhistogram-swift")],
            swiftSettings: strict),
        .testTarget(name: "ReferenceTests", dependencies: ["Reference"], swiftSettings: strict),
        .testTarget(name: "SettingsTests", dependencies: ["Settings"], swiftSettings: strict),
        .testTarget(name: "ScenariosTests", dependencies: ["Scenarios", "Settings"], swiftSettings: strict),
        .testTarget(name: "ResultsTests", dependencies: ["Results", "Measurement"], swiftSettings: strict),
        // Results for tests to judge.
        .target(
            name: "SampleRuns", dependencies: ["Results", "Measurement"], path: "Tests/SampleRuns",
            swiftSettings: strict),
        .testTarget(
            name: "StatisticsTests", dependencies: ["Statistics", "Measurement", "SampleRuns", "coverage"],
            swiftSettings: strict),
        .testTarget(
            name: "AnalysisTests",
            dependencies: [
                "Analysis", "Statistics", "Results", "Measurement", "Scenarios", "SampleRuns", "TestSupport",
            ],
            swiftSettings: strict),
        .testTarget(name: "ComparisonTests", dependencies: asked + ["Comparison"], swiftSettings: strict),
        .testTarget(name: "GateTests", dependencies: asked + ["Gate"], swiftSettings: strict),
        .testTarget(name: "SweepTests", dependencies: asked + ["Sweep"], swiftSettings: strict),
        .testTarget(
            name: "PlanTests", dependencies: asked + ["Plan", "Devices", "Payloads", "Transport", "coverage"],
            swiftSettings: strict
        ),
        .testTarget(name: "WorkersTests", dependencies: asked + ["Workers"], swiftSettings: strict),
        .testTarget(name: "HistoryTests", dependencies: asked + ["History"], swiftSettings: strict),
        .testTarget(
            name: "ReportsTests", dependencies: ["Reports", "Results", "Measurement", "Settings", "SampleRuns"],
            swiftSettings: strict
        ),
        .testTarget(
            name: "HarnessTests",
            dependencies: ["Harness", "Scenarios", "Payloads", "Results", "Statistics", "Settings", "TestSupport"],
            swiftSettings: strict),
        .testTarget(
            name: "DevicesTests", dependencies: ["Devices", "Payloads", "Settings", "TestSupport"], exclude: ["Python"],
            swiftSettings: strict),
        .testTarget(
            name: "EchoTests",
            dependencies: [
                "Echo", "Devices", "Measurement", "Networking",
            ],
            swiftSettings: strict),
        .testTarget(
            name: "MockAPNsTests",
            dependencies: [
                "MockAPNs", "Devices", "Echo", "Faults", "Payloads", "Signing", "HTTP2", "Networking", "Settings",
                "Measurement",
                "PlainHTTP",
                .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: strict),
        .testTarget(
            name: "ExamTests", dependencies: ["Exam", "HTTP2", "Networking", "Settings", "Signing", "TestSupport"],
            swiftSettings: strict),
        .testTarget(
            name: "BackendTests",
            dependencies: ["Backend", "CSQLite", "Faults", "Networking", "PlainHTTP", "Settings"],
            swiftSettings: strict),
        .testTarget(
            name: "EndToEndTests",
            dependencies: [
                "HTTP2", "Measurement", "Networking", "Results", "Comparison", "Gate", "Sweep", "Plan", "History",
                "Flags", "Signing",
                "SampleRuns", "Settings", "TestSupport", "pushload", "mock-apns",
            ],
            exclude: ["Python"], swiftSettings: strict),
    ],
    swiftLanguageModes: [.v6]
)
