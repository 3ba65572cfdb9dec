import Measurement
import Settings

/// What a recording is like, in figures.
package struct ReplayFacts: Sendable, Equatable {
    package let pushes: Int
    /// From the first push to the last, ns.
    package let span: UInt64
    /// Most pushes within a second of the recording's time.
    package let peak: Int
    package let connections: Int
    /// Without those that had no device token.
    package let devices: Int
    package let tokenless: Int
    /// By name, with their pushes, most first.
    package let topics: [(name: String, pushes: Int)]
    package let types: [(name: String, pushes: Int)]
    /// Of answers.
    package let statuses: [(name: String, pushes: Int)]
    package let reasons: [(name: String, pushes: Int)]
    /// Of payloads, bytes.
    package let sizes: (p50: UInt32, p99: UInt32, max: UInt32)
    package let isComplete: Bool
    /// Pushes that came when the limit was reached.
    package let leftOut: UInt64
    /// Of the whole file, 16 hexadecimal digits.
    package let check: String

    init(_ recording: Recording) {
        let all = recording.pushes
        pushes = all.count
        span = all[all.count - 1].time - all[0].time
        connections = recording.connections
        devices = Set(all.map(\.device)).subtracting([0]).count
        tokenless = all.count { $0.device == 0 }
        var (first, peak) = (0, 0)
        for last in all.indices {
            while all[last].time - all[first].time >= 1_000_000_000 { first += 1 }
            peak = max(peak, last - first + 1)
        }
        self.peak = peak
        topics = Self.counted(all.map(\.topic)) {
            let name = recording.topics[Int($0)]
            return name.isEmpty ? "(none)" : name
        }
        types = Self.counted(all.map(\.type)) {
            Int($0) < recording.types.count ? recording.types[Int($0)] : "(unknown)"
        }
        statuses = Self.counted(all.map(\.status)) { $0 == 0 ? "no answer" : "\($0)" }
        reasons = Self.counted(all.map(\.reason).filter { $0 != RecordedPush.none }) { recording.reasons[Int($0)] }
        let ordered = all.map(\.size).sorted()
        func rank(_ share: Double) -> UInt32 { ordered[max(0, Int((share * Double(ordered.count)).rounded(.up)) - 1)] }
        sizes = (rank(0.5), rank(0.99), ordered[ordered.count - 1])
        (isComplete, leftOut) = (recording.isComplete, recording.leftOut)
        let digits = String(recording.check, radix: 16)
        check = String(repeating: "0", count: 16 - digits.count) + digits
    }

    private static func counted<Place: Hashable>(
        _ places: [Place], _ name: (Place) -> String
    ) -> [(name: String, pushes: Int)] {
        var counts: [Place: Int] = [:]
        for place in places { counts[place, default: 0] += 1 }
        return counts.map { (name($0.key), $0.value) }.sorted { ($1.pushes, $0.name) < ($0.pushes, $1.name) }
    }

    package static func == (one: Self, other: Self) -> Bool { one.check == other.check }
}
