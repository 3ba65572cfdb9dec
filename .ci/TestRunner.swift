import Testing

/// Where the tests begin in CI, which copies it to Tests/XCTMain.swift, where SwiftPM looks for it.
@main struct TestRunner {
    static func main() async { await Testing.__swiftPMEntryPoint() as Never }
}
