import Payloads

/// What of a run must be the same in all its workers, besides their settings: how many pushes it has, and what a sample of them is
/// made of. Workers whose files differ (templates, device files, registrations) do not send one run.
package struct RunContent: Codable, Sendable, Equatable {
    /// Pushes of the whole run; nil where that is not known beforehand.
    package let planned: UInt64?
    /// Pushes of what is divided among the workers by itself: all of them, or in a closed loop each send.
    package let parts: [UInt64]
    /// FNV-1a over types, priorities, tokens and payloads of the sample, 16 hexadecimal digits.
    package let sample: String
    /// Pushes of the sample, spread over the whole run.
    private static let size: UInt64 = 64

    init(_ inputs: RunInputs) {
        planned = inputs.planned
        parts =
            inputs.schedule == nil
            ? inputs.sendOrder?.map(\.count) ?? inputs.planned.map { [$0] } ?? [] : inputs.planned.map { [$0] } ?? []
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

    /// Pushes that one of its workers plans; nil where that is not known beforehand.
    package func planned(worker: Int, of workers: Int) -> UInt64? {
        guard planned != nil else { return nil }
        let place = RunPlace(index: worker, workers: workers)
        return parts.reduce(0) { $0 + place.count(of: $1) }
    }
}
