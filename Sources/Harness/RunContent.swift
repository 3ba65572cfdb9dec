import Payloads

/// What of a run must be the same in all its workers, besides their settings: how many pushes it has, and what a sample of them is
/// made of. Workers whose files differ (templates, device files, registrations) do not send one run.
package struct RunContent: Codable, Sendable, Equatable {
    /// Pushes of the whole run; nil where that is not known beforehand.
    package let planned: UInt64?
    /// FNV-1a over types, priorities, tokens and payloads of the sample, 16 hexadecimal digits.
    package let sample: String
    /// Pushes of the sample, spread over the whole run.
    private static let size: UInt64 = 64

    init(_ inputs: RunInputs) {
        planned = inputs.planned
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        func add(_ bytes: some Sequence<UInt8>) {
            for byte in bytes { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
        }
        let sample = PushSample(inputs)
        let all = inputs.planned ?? sample.count
        for place in 0..<min(Self.size, all) {
            sample.make(all / min(Self.size, all) &* place, unixTime: 0) { push in
                add("\(push.type.rawValue) \(push.priority) \(push.collapseID ?? "-") \(push.expiration ?? -1) ".utf8)
                add(push.token)
                add(push.payload)
            }
        }
        self.sample = RunID(hash).description
    }
}
