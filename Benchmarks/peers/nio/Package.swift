// swift-tools-version: 6.2
import PackageDescription

/// The stack under APNSwift and AsyncHTTPClient as a client to compare with; a package of its own, because it takes minutes to
/// build.
let package = Package(
    name: "nio-push",
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
        .package(url: "https://github.com/apple/swift-nio-http2", from: "1.46.0"),
        .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.37.6"),
    ],
    targets: [
        .executableTarget(
            name: "nio-push",
            dependencies: [
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "NIOHTTP2", package: "swift-nio-http2"),
                .product(name: "NIOHPACK", package: "swift-nio-http2"),
                .product(name: "NIOSSL", package: "swift-nio-ssl"),
            ],
            swiftSettings: Context.environment["WARNINGS_AS_ERRORS"] == "1"
                ? [.treatAllWarnings(as: .error)] : [])
    ],
    swiftLanguageModes: [.v6]
)
