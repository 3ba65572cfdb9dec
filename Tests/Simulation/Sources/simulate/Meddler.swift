/// What the network does to the frames a server sends: repeats, keeps back, loses, reshapes, puts in and spoils them. It knows
/// where frames end, so that what is meant to be legal is; what is not is noted in the books of the connection.
final class Meddler {
    private let weather: Weather
    private let world: World
    private let books: LinkBooks
    private var random: Random
    private var cutter = FrameCutter()
    private var held: [(due: UInt64, bytes: [UInt8])] = []
    /// Bytes handed on.
    private var emitted = 0
    private var isFirst = true
    private var isMuted = false
    /// The connection is over for the client: nothing more is put in.
    private var isRuined = false
    private var pings = 0

    init(_ weather: Weather, world: World, books: LinkBooks, random: Random) {
        self.weather = weather
        self.world = world
        self.books = books
        self.random = random
    }

    /// From now on the server is not heard.
    func mute() {
        isMuted = true
        held = []
    }

    var nextDue: UInt64 { held.first?.due ?? .max }

    /// What arrives instead of `bytes`.
    func pass(_ bytes: [UInt8]) -> [UInt8] {
        if isMuted { return [] }
        bytes.withUnsafeBufferPointer { cutter.put($0) }
        var output: [UInt8] = []
        while let frame = cutter.next() { treat(frame, &output) }
        emitted += output.count
        return output
    }

    /// What was kept back and is due.
    func due(_ now: UInt64) -> [UInt8] {
        var output: [UInt8] = []
        while let first = held.first, first.due <= now {
            output += first.bytes
            held.removeFirst()
        }
        emitted += output.count
        return output
    }

    /// The server ends: the beginning of a frame that it did not end.
    func rest() -> [UInt8] { isMuted ? [] : cutter.rest }

    private func keep(_ bytes: [UInt8]) {
        let due = world.clock.now + random.spread(1_000, weather.longestHold)
        held.insert((due, bytes), at: held.firstIndex { $0.due > due } ?? held.count)
    }

    private func treat(_ frame: FrameCutter.Frame, _ output: inout [UInt8]) {
        let bytes = frame.bytes
        let wasFirst = isFirst
        isFirst = false
        if isRuined {
            output += bytes
            return
        }
        if random.chance(weather.corrupted) { return spoil(bytes, &output) }
        if random.chance(weather.insertedInvalid) {
            world.note(.violations)
            books.mark(.violation, at: emitted + output.count)
            isRuined = true
            output += wasFirst ? frame0() : violation()
            output += bytes
            return
        }
        if wasFirst {
            output += bytes
            return
        }
        if random.chance(weather.insertedValid) { output += insertion() }
        // What says how large the table is must come first: HPACK would break without it.
        if frame.type == 1, frame.payload.first == 0x20 {
            output += bytes
            return
        }
        let isWindow = frame.type == 8 && frame.stream == 0
        if frame.type != 4, random.chance(isWindow ? weather.dropped / 20 : weather.dropped) {
            world.note(.droppedFrames)
            world.tell("  \(FrameBytes.name(frame.type)) of stream \(frame.stream) is lost")
            return
        }
        if frame.type != 4, random.chance(weather.held) {
            world.note(.lateAnswers)
            world.tell("  \(FrameBytes.name(frame.type)) of stream \(frame.stream) is kept back")
            return keep(bytes)
        }
        if random.chance(weather.repeated) {
            world.note(.repeatedFrames)
            world.tell("  \(FrameBytes.name(frame.type)) of stream \(frame.stream) comes twice")
            if frame.type == 4 || random.chance(0.5) { output += bytes } else { keep(bytes) }
        }
        output += random.chance(weather.reshaped) ? reshaped(frame) : bytes
    }

    // MARK: Another form of the same

    private func reshaped(_ frame: FrameCutter.Frame) -> [UInt8] {
        if frame.type == 1, random.chance(0.5) {
            let cut = random.below(frame.payload.count + 1)
            return FrameBytes.frame(1, frame.flags & ~4, frame.stream, Array(frame.payload[..<cut]))
                + FrameBytes.frame(9, 4, frame.stream, Array(frame.payload[cut...]))
        }
        guard frame.type == 0 || frame.type == 1, frame.payload.count < 200 else { return frame.bytes }
        let padding = random.below(frame.type == 1 ? 200 : 30)
        return FrameBytes.frame(
            frame.type, frame.flags | 8, frame.stream,
            [UInt8(padding)] + frame.payload + [UInt8](repeating: 0, count: padding))
    }

    // MARK: What is allowed at any time

    private func someStream() -> Int32? {
        let opened = Int(books.nextStream / 2)
        guard opened > 0 else { return nil }
        return Int32(2 * (opened - 1 - random.below(min(opened, 30))) + 1)
    }

    private func insertion() -> [UInt8] {
        let bytes = drawnInsertion()
        if bytes.count >= 9 { world.tell("  the network puts in \(FrameBytes.name(bytes[3])), \(bytes.count) bytes") }
        return bytes
    }

    private func drawnInsertion() -> [UInt8] {
        switch random.below(16) {
        case 0:
            world.note(.goAwayForged)
            let last: Int32 = random.chance(0.3) ? .max : random.chance(0.3) ? 0 : someStream() ?? 0
            return FrameBytes.goAway(last: last, code: UInt32(random.below(14)))
        case 1, 2:
            guard let stream = someStream() else { return [] }
            let code = random.chance(0.4) ? 7 : UInt32(random.below(20))
            return FrameBytes.frame(3, 0, stream, FrameBytes.number(code))
        case 3, 4, 5: return settings()
        case 6:
            let count = min(random.chance(0.2) ? 100 : 1, 500 - pings)
            pings += count
            return (0..<max(0, count)).flatMap { _ in FrameBytes.frame(6, 0, 0, [UInt8](repeating: 7, count: 8)) }
        case 7: return FrameBytes.frame(6, 1, 0, [UInt8](repeating: 9, count: 8))
        case 8: return FrameBytes.frame(8, 0, 0, FrameBytes.number(UInt32(random.between(1, 1000))))
        case 9:
            guard let stream = someStream() else { return [] }
            return FrameBytes.frame(8, 0, stream, FrameBytes.number(UInt32(random.between(1, 1000))))
        case 10:
            let count = random.below(50)
            return FrameBytes.frame(
                UInt8(10 + random.below(240)), UInt8(random.below(256)), Int32(random.below(100)),
                [UInt8](repeating: 1, count: count))
        case 11: return FrameBytes.frame(2, 0, someStream() ?? 1, [0, 0, 0, 0, 9])
        case 12:
            // An interim answer: 100.
            guard let stream = someStream() else { return [] }
            return FrameBytes.frame(1, 4, stream, [0x20, 0x08, 3, 0x31, 0x30, 0x30])
        case 13, 14:
            // DATA where the answer should begin, or after it: an error of the stream.
            guard let stream = someStream() else { return [] }
            return FrameBytes.frame(
                0, UInt8(random.below(2)), stream, [UInt8](repeating: 0x78, count: random.below(50)))
        default: return FrameBytes.frame(4, 1, 0, [])
        }
    }

    private func settings() -> [UInt8] {
        world.note(.settingsChanges)
        var entries: [(UInt16, UInt32)] = []
        if random.chance(0.4) {
            let streams = random.pick([0, 1, 2, 10, 100, 1000] as [UInt32])
            entries.append((3, streams))
            if streams == 0 { keep(FrameBytes.settings([(3, 100)])) }
        }
        if random.chance(0.4) {
            let window = random.pick([0, 1, 60, 100, 1000, 65_535, 1_000_000] as [UInt32])
            entries.append((4, window))
            if window < 1000 { keep(FrameBytes.settings([(4, 65_535)])) }
        }
        if random.chance(0.2) { entries.append((5, UInt32(random.between(16_384, 20_000)))) }
        if random.chance(0.2) { entries.append((1, random.pick([0, 64, 200] as [UInt32]))) }
        if random.chance(0.2) { entries.append((UInt16(random.between(7, 60_000)), UInt32(random.below(100)))) }
        return FrameBytes.settings(entries)
    }

    // MARK: What is not allowed

    /// Before SETTINGS nothing is.
    private func frame0() -> [UInt8] { FrameBytes.frame(6, 0, 0, [UInt8](repeating: 1, count: 8)) }

    private func violation() -> [UInt8] {
        let stream = someStream() ?? 1
        let kind = random.below(17)
        world.tell("  the network puts in what is not allowed (\(kind))")
        switch kind {
        case 0: return FrameBytes.frame(6, 0, 0, [UInt8](repeating: 1, count: 7))
        case 1: return FrameBytes.frame(4, 0, 0, [0, 3, 0, 0, 0])
        case 2: return FrameBytes.frame(4, 0, stream, [])
        case 3: return FrameBytes.frame(8, 0, 0, FrameBytes.number(0))
        case 4: return FrameBytes.frame(1, 4, 0, [0x88])
        case 5: return FrameBytes.frame(0, 0, 0, [1])
        case 6: return FrameBytes.frame(3, 0, 0, FrameBytes.number(1))
        case 7: return FrameBytes.frame(7, 0, 0, FrameBytes.number(1))
        case 8: return FrameBytes.frame(5, 4, stream, [0, 0, 0, 2, 0x88])
        case 9: return FrameBytes.frame(9, 4, stream, [0x88])
        case 10: return FrameBytes.frame(0, 0, stream, [], length: 0xFF_FFFF)
        case 11: return FrameBytes.settings([(2, 1)])
        case 12: return FrameBytes.settings([(4, 0x8000_0000)])
        case 13: return FrameBytes.settings([(5, 100)])
        case 14: return FrameBytes.frame(0, 8, stream, [9, 1])
        case 15: return FrameBytes.frame(3, 0, 2, FrameBytes.number(1))
        // Entry 0 of the tables (RFC 7541 section 6.1).
        default: return FrameBytes.frame(1, 4, stream, [0x80])
        }
    }

    private func spoil(_ bytes: [UInt8], _ output: inout [UInt8]) {
        world.note(.corruption)
        world.tell("  \(FrameBytes.name(bytes[3])) is spoilt")
        books.mark(.corruption, at: emitted + output.count)
        isRuined = true
        var spoilt = bytes
        if random.chance(0.3) {
            spoilt.removeLast(1 + random.below(spoilt.count))
        } else {
            for _ in 0...random.below(3) { spoilt[random.below(spoilt.count)] ^= UInt8(1 << random.below(8)) }
        }
        output += spoilt
    }
}
