import Testing

@testable import HTTP2

@Suite struct ServerStreamsTests {
    @Test("Streams are found after their memory was given back; it is not while one is open")
    func shrink() {
        var streams = ServerStreams()
        for id in stride(from: 1, to: 2001, by: 2) as StrideTo<Int32> {
            _ = streams.open(id, receiveWindow: 1, sendWindow: 1)
        }
        streams.shrink()
        #expect(streams.find(1999) >= 0 && streams.count == 1000)
        for slot in streams.open { streams.close(slot, .finished) }
        streams.shrink()
        #expect(streams.count == 0 && streams.open.isEmpty && streams.find(1999) < 0)
        #expect(streams.ending(1999) == .finished)
        for id in stride(from: 2001, to: 2101, by: 2) as StrideTo<Int32> {
            _ = streams.open(id, receiveWindow: 1, sendWindow: 1)
        }
        #expect(streams.count == 50 && streams.find(2001) >= 0 && streams.find(2099) >= 0 && streams.find(1) < 0)
    }

    /// Opens and closes streams at random; a dictionary says what must be found.
    @Test("Whatever is opened and closed, exactly the open streams are found", arguments: [1, 3, 40, 700])
    func random(_ most: Int) throws {
        let seed = UInt64.random(in: .min ... .max)
        var state = seed
        func random(_ bound: Int) -> Int {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int(state >> 33) % bound
        }
        var generator = Generator(state: seed)
        var streams = ServerStreams()
        var open: [Int32: Int] = [:]
        var next: Int32 = 1
        for _ in 0..<20_000 {
            if open.count < most, random(2) == 0 {
                open[next] = streams.open(next, receiveWindow: 1, sendWindow: 2)
                // Mostly the next one, now and then far ahead: long-lived streams then share places with new ones.
                next += Int32(2 * (random(50) == 0 ? 1 + random(3000) : 1))
            } else if let (id, slot) = open.randomElement(using: &generator) {
                try #require(streams.find(id) == slot, "seed \(seed)")
                streams.close(slot, .finished)
                open[id] = nil
                try #require(streams.find(id) == -1 && streams.ending(id) == .finished, "seed \(seed)")
            }
            try #require(streams.count == open.count, "seed \(seed)")
        }
        for (id, slot) in open { #expect(streams.find(id) == slot && streams.slots[slot].id == id, "seed \(seed)") }
        #expect(Set(streams.open) == Set(open.values), "seed \(seed)")
        #expect(streams.find(next) == -1 && streams.ending(next) == nil)
    }

    private struct Generator: RandomNumberGenerator {
        var state: UInt64
        mutating func next() -> UInt64 {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return state
        }
    }
}
