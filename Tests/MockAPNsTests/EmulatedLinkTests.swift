import Testing

@testable import MockAPNs

@Suite struct EmulatedLinkTests {
    private static let millisecond: UInt64 = 1_000_000

    @Test("Bytes come out after the delay, in order, and only then")
    func delay() {
        var line = DelayLine(delay: 40 * Self.millisecond, seed: 1)
        line.put([1, 2, 3], count: 3, now: 0)
        line.put([4], count: 1, now: 10 * Self.millisecond)
        #expect(line.nextDue == 40 * Self.millisecond && line.take(now: 39 * Self.millisecond) == nil)
        #expect(line.take(now: 40 * Self.millisecond) == [1, 2, 3] && line.queued == 1)
        #expect(line.take(now: 40 * Self.millisecond) == nil && line.take(now: 50 * Self.millisecond) == [4])
        #expect(line.isEmpty && line.nextDue == nil && line.queued == 0)
    }

    @Test("A line of a bandwidth lets no more through, and no less")
    func bandwidth() {
        // 1 MB/s for a second, a sender that always has more.
        var line = DelayLine(delay: 10 * Self.millisecond, bandwidth: 1_000_000, seed: 1)
        let chunk = [UInt8](repeating: 7, count: 20_000)
        var received = 0
        for step in 0..<1010 {
            let now = UInt64(step) * Self.millisecond
            while !line.isFull { line.put(chunk, count: chunk.count, now: now) }
            while let bytes = line.take(now: now) { received += bytes.count }
        }
        #expect(abs(received - 1_000_000) < 5000, "\(received) bytes")
    }

    @Test("Jitter makes pieces late by at most so much and never changes their order; the same for the same seed")
    func jitter() {
        func dues(_ seed: UInt64) -> [UInt64] {
            var line = DelayLine(delay: 0, jitter: 5 * Self.millisecond, seed: seed)
            var dues: [UInt64] = []
            for step in 0..<500 {
                line.put([UInt8(truncatingIfNeeded: step)], count: 1, now: UInt64(step) * Self.millisecond)
                dues.append(line.nextDue!)
                _ = line.take(now: .max)
            }
            return dues
        }
        let found = dues(3)
        #expect(found == dues(3) && found != dues(4))
        for (step, due) in found.enumerated() {
            let sent = UInt64(step) * Self.millisecond
            #expect(due >= sent && due <= sent + 5 * Self.millisecond)
            if step > 0 { #expect(due >= found[step - 1]) }
        }
        #expect(Set(zip(found, 0...).map { $0 - UInt64($1) * Self.millisecond }).count > 100)
    }

    @Test("A line holds a bounded number of bytes")
    func bounded() {
        var line = DelayLine(delay: 1_000_000_000, bandwidth: 1_000_000, seed: 1)
        let chunk = [UInt8](repeating: 0, count: 10_000)
        var put = 0
        while !line.isFull, put < 1 << 30 {
            line.put(chunk, count: chunk.count, now: 0)
            put += chunk.count
        }
        #expect(put < 1_500_000)
    }
}
