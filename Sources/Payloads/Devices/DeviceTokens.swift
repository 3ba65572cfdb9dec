import Settings

/// Tokens of consecutive devices of the synthetic population, as both programs print them.
package struct DeviceTokens {
    private let devices: SyntheticDevices
    private let first: UInt64
    private let end: UInt64

    /// - Parameters:
    ///   - device: the first one's number, from 0, such as 5 or 10k.
    ///   - seed: that of the population.
    ///   - count: how many, at least 1.
    /// - Throws: one line naming the argument that is wrong.
    package init(device: String, seed: String, count: String) throws(PayloadError) {
        first = try Self.read("device", device)
        devices = SyntheticDevices(seed: try Self.read("--seed", seed), count: .max)
        let count = try Self.read("--count", count)
        let (end, isTooLarge) = first.addingReportingOverflow(count)
        guard count > 0, !isTooLarge else {
            throw PayloadError("--count \(count): expected at least 1, and no device beyond 2^64")
        }
        self.end = end
    }

    /// Calls with each token, 64 hexadecimal digits, in the order of the devices.
    package func forEach(_ body: (String) -> Void) {
        for number in first..<end { body(devices.token(number)) }
    }

    private static func read(_ name: String, _ text: String) throws(PayloadError) -> UInt64 {
        do throws(Units.ParseError) { return try Units.count(text) } catch { throw PayloadError("\(name): \(error)") }
    }
}
