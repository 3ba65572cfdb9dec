// swift-tools-version: 6.2
import PackageDescription

// A package whose tests start the mock in their own process. Yours names pushload by the path or URL where it is.
let package = Package(
    name: "push-sender",
    dependencies: [
        .package(name: "pushload", path: "../../..", traits: []),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
    ],
    targets: [
        .target(name: "PushSender"),
        .testTarget(
            name: "PushSenderTests",
            dependencies: [
                "PushSender", .product(name: "MockAPNs", package: "pushload"),
                .product(name: "Logging", package: "swift-log"),
            ]),
    ]
)
