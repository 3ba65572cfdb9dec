import Glibc

/// What happened by topic; one a worker, looked at by its thread only. Bounded: topics beyond `most` are counted together.
final class TopicCounts {
    struct Entry: Sendable {
        let name: String
        fileprivate let bytes: [UInt8]
        var accepted: UInt64 = 0
        var rejected: UInt64 = 0
    }

    private static let most = 256
    @exclusivity(unchecked) private(set) var entries: [Entry] = []
    /// Where the last topic was found: mostly the next one is the same.
    @exclusivity(unchecked) private var last = 0

    func note(_ topic: UnsafeRawBufferPointer, isAccepted: Bool) {
        var place = last
        if !isAt(place, topic) {
            place = entries.indices.first { isAt($0, topic) } ?? add(topic)
            last = place
        }
        if isAccepted { entries[place].accepted &+= 1 } else { entries[place].rejected &+= 1 }
    }

    @inline(__always)
    private func isAt(_ place: Int, _ topic: UnsafeRawBufferPointer) -> Bool {
        guard place < entries.count, entries[place].bytes.count == topic.count else { return false }
        if topic.isEmpty { return true }
        return entries[place].bytes.withUnsafeBytes { memcmp($0.baseAddress!, topic.baseAddress!, topic.count) == 0 }
    }

    private func add(_ topic: UnsafeRawBufferPointer) -> Int {
        let isOther = entries.count >= Self.most - 1
        let name = isOther ? "(other)" : topic.isEmpty ? "(none)" : String(decoding: topic, as: UTF8.self)
        if isOther, let place = entries.firstIndex(where: { $0.name == name }) { return place }
        entries.append(Entry(name: name, bytes: isOther ? Array(name.utf8) : Array(topic)))
        return entries.count - 1
    }

    func reset() {
        entries = []
        last = 0
    }
}
