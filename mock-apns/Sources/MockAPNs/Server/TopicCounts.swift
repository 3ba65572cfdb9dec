import Glibc

/// What happened by topic; one a worker, looked at by its thread only. Bounded: topics beyond `most` are counted together.
final class TopicCounts {
    struct Entry: Sendable {
        let name: String
        let accepted: UInt64
        let rejected: UInt64
    }

    private static let most = 256
    /// By place: what the topic is called, its bytes, and of it the pushes that were accepted and rejected.
    private var names: [String] = []
    private let texts: UnsafeMutablePointer<UnsafeRawBufferPointer>
    private let counts: UnsafeMutablePointer<(accepted: UInt64, rejected: UInt64)>
    @exclusivity(unchecked) private var count = 0
    /// Where the last topic was found: mostly the next one is the same.
    @exclusivity(unchecked) private var last = 0

    init() {
        texts = .allocate(capacity: Self.most)
        counts = .allocate(capacity: Self.most)
    }

    deinit {
        reset()
        texts.deallocate()
        counts.deallocate()
    }

    var entries: [Entry] {
        names.enumerated().map { Entry(name: $1, accepted: counts[$0].accepted, rejected: counts[$0].rejected) }
    }

    @inline(__always)
    func note(_ topic: UnsafeRawBufferPointer, isAccepted: Bool) {
        if !isAt(last, topic) { last = place(of: topic) }
        if isAccepted { counts[last].accepted &+= 1 } else { counts[last].rejected &+= 1 }
    }

    @inline(never)
    private func place(of topic: UnsafeRawBufferPointer) -> Int {
        (0..<count).first { isAt($0, topic) } ?? add(topic)
    }

    @inline(__always)
    private func isAt(_ place: Int, _ topic: UnsafeRawBufferPointer) -> Bool {
        guard place < count, texts[place].count == topic.count else { return false }
        return topic.isEmpty || memcmp(texts[place].baseAddress!, topic.baseAddress!, topic.count) == 0
    }

    private func add(_ topic: UnsafeRawBufferPointer) -> Int {
        let isOther = count >= Self.most - 1
        let name = isOther ? "(other)" : topic.isEmpty ? "(none)" : String(decoding: topic, as: UTF8.self)
        if isOther, let place = names.firstIndex(of: name) { return place }
        names.append(name)
        let text = UnsafeMutableRawBufferPointer.allocate(
            byteCount: isOther ? name.utf8.count : topic.count, alignment: 1)
        if isOther { text.copyBytes(from: name.utf8) } else { text.copyMemory(from: topic) }
        texts[count] = UnsafeRawBufferPointer(text)
        counts[count] = (0, 0)
        count += 1
        return count - 1
    }

    func reset() {
        for place in 0..<count { texts[place].deallocate() }
        (count, last) = (0, 0)
        names = []
    }
}
