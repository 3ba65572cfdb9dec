import HTTP2
import Payloads
import Scenarios
import Transport

/// How many bytes a scenario's pushes have on the wire, without sending any: a sample of them is written as engine `wire` does.
package struct PushSize: Sendable, Equatable {
    /// Means: the payload alone, and HEADERS and DATA frames together.
    package let payload: Double
    package let request: Double
    /// The largest payload there can be.
    package let largestPayload: Double
    /// What the bundled mock answers to an accepted push: frame header, status, `apns-id`.
    package static let answer = 56.0

    private static let sampled: UInt64 = 2000

    /// - Throws: what is wrong with the scenario.
    package init(_ scenario: Scenario) throws(HarnessError) {
        var scenario = scenario
        if scenario.pushes == nil, scenario.duration == nil { scenario.pushes = 1 }
        let inputs = try RunInputs(scenario)
        let writer = PushWriters(inputs).first
        let sets = inputs.headers.map(\.fields)
        let encoder = RequestEncoder(
            authority: "api.push.apple.com", isSecure: true, headerSets: sets, tableLimit: scenario.encoderTableSize)
        // Its value is in the peer's table after the first push; only its length could matter.
        let token = [UInt8](repeating: 0x61, count: 230)
        let prefix = Array("\(PushRequest.pathPrefix)".utf8)
        let payload = UnsafeMutablePointer<UInt8>.allocate(capacity: writer.maximumPayloadSize + PayloadWriter.slack)
        let path = UnsafeMutablePointer<UInt8>.allocate(capacity: prefix.count + inputs.population.longestToken)
        let block = UnsafeMutablePointer<UInt8>.allocate(
            capacity: encoder.capacity(pathLength: prefix.count + inputs.population.longestToken) + token.count)
        defer {
            payload.deallocate()
            path.deallocate()
            block.deallocate()
        }
        path.update(from: prefix, count: prefix.count)
        let identifier = [UInt8](repeating: 0x2D, count: 36)
        var (payloads, requests) = (0, 0)
        // The first of each kind fills the table; they are few, but would count as many.
        for sequence in 0..<(2 * Self.sampled) {
            let set = writer.profileIndex(sequence: sequence)
            let length =
                prefix.count + writer.writeToken(device: writer.device(sequence: sequence), into: path + prefix.count)
            let size = writer.write(sequence: sequence, profile: set, unixTime: 1_700_000_000, into: payload)
            let header = token.withUnsafeBufferPointer { token in
                identifier.withUnsafeBufferPointer { identifier in
                    encoder.write(
                        set: set, path: path, pathLength: length,
                        authorizationValue: scenario.authentication == "token" ? token : nil,
                        identifier: scenario.apnsID ? identifier.baseAddress : nil, into: block)
                }
            }
            guard sequence >= Self.sampled else { continue }
            payloads += size
            requests += size + header + 2 * Frame.headerLength
        }
        self.payload = Double(payloads) / Double(Self.sampled)
        request = Double(requests) / Double(Self.sampled)
        largestPayload = Double(writer.maximumPayloadSize + PayloadWriter.slack)
    }
}
