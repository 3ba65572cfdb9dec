import Foundation
import Testing

@testable import Measurement

@Suite struct DeviceLogTests {
    private struct Said: Hashable {
        let sequence: UInt64
        let event: DeviceLog.Event
        let time: UInt64
    }

    private let path = FileManager.default.temporaryDirectory.appendingPathComponent("devices-\(UUID())").path
    private static let names = ["stored", "banner", "lock_screen"]

    private func writer() -> DeviceLogWriter { DeviceLogWriter(path, names: Self.names) }

    /// What the file says of a run.
    private func read(_ run: UInt64) throws -> (said: [Said], unlogged: UInt64) {
        var (said, names): ([Said], [String]) = ([], [])
        let unlogged = try DeviceLogFile.read(path, run: run) {
            names = $0
        } _: {
            said.append(Said(sequence: $0, event: $1, time: $2))
        }
        #expect(names == Self.names)
        return (said, unlogged)
    }

    private func refusal(_ run: UInt64) -> String {
        do {
            _ = try read(run)
            return "none"
        } catch {
            return "\(error)".replacingOccurrences(of: path, with: "FILE")
        }
    }

    @Test("What threads tell of several runs is what is read of each, and each thread's in its order")
    func roundTrip() throws {
        defer { try? FileManager.default.removeItem(atPath: path) }
        let writer = writer()
        let (threads, count) = (3, 20_000)
        let all = (0..<threads).map { thread in
            (0..<count).map { number in
                let event: DeviceLog.Event =
                    number % 5 == 0 ? .content : number % 7 == 0 ? .noContent : .outcome(number % 3)
                return Said(
                    sequence: number == 0
                        ? DeviceLog.highestSequence - UInt64(thread) : UInt64(number * threads + thread),
                    event: event, time: number % 11 == 0 ? 0 : UInt64.max - UInt64(number))
            }
        }
        DispatchQueue.concurrentPerform(iterations: threads) { thread in
            let block = DeviceLogBlock(writer)
            for (number, said) in all[thread].enumerated() {
                let place = number % 2 * 63
                block.note(run: UInt64(900 + place), place: place)
                block.add(said.event, sequence: said.sequence, place: place, time: said.time)
            }
            block.flush()
        }
        try writer.end(unlogged: 12)
        for run in 0..<2 {
            let found = try read(UInt64(900 + run * 63))
            #expect(found.unlogged == 12 && found.said.count == threads * count / 2)
            for thread in 0..<threads {
                let theirs = all[thread].enumerated().filter { $0.offset % 2 == run }.map(\.element)
                let wanted = Set(theirs)
                let isSame = found.said.filter(wanted.contains) == theirs
                #expect(isSame)
            }
        }
        #expect(refusal(7) == "FILE: device log of another run")
    }

    @Test("A log that is cut anywhere says so in one line, and gives what is whole of it")
    func truncated() throws {
        defer { try? FileManager.default.removeItem(atPath: path) }
        let writer = writer()
        let block = DeviceLogBlock(writer)
        block.note(run: 5, place: 0)
        for number in 0..<10 as Range<UInt64> { block.add(.outcome(1), sequence: number, place: 0, time: 9) }
        block.flush()
        try writer.end(unlogged: 0)
        let whole = try Data(contentsOf: URL(fileURLWithPath: path))
        let head = whole.count - 12 * 16
        #expect(head == 16 + Self.names.joined(separator: ",").utf8.count)
        for length in 0..<whole.count {
            try whole.prefix(length).write(to: URL(fileURLWithPath: path))
            var count = 0
            let error = #expect(throws: DeviceLog.Failure.self) {
                try DeviceLogFile.read(path, run: 5) { _ in
                } _: { _, _, _ in
                    count += 1
                }
            }
            let line = length < 8 ? "not a device log" : "the device log is truncated"
            #expect(error?.description == "\(path): \(line)", "\(length)")
            #expect(count == max(0, min(10, (length - head) / 16 - 1)), "\(length)")
        }
    }

    @Test("Files that are no device logs, or are damaged, are told in one line")
    func foreign() throws {
        defer { try? FileManager.default.removeItem(atPath: path) }
        #expect(self.refusal(1) == "cannot read the device log FILE: No such file or directory")
        func refusal(_ bytes: [UInt8]) throws -> String {
            try Data(bytes).write(to: URL(fileURLWithPath: path))
            return self.refusal(1)
        }
        func word(_ number: UInt64) -> [UInt8] { withUnsafeBytes(of: number.littleEndian) { Array($0) } }
        #expect(try refusal(Array("PUSHLDGR".utf8) + word(1) + word(2)) == "FILE: not a device log")
        #expect(try refusal(Array("PUSHDEVS".utf8) + word(.max)) == "FILE: not a device log")
        let text = Self.names.joined(separator: ",").utf8
        let head = Array("PUSHDEVS".utf8) + word(UInt64(text.count)) + Array(text)
        // An outcome without a name, a push of no run, a place beyond all.
        for records in [
            [255, 1, 3, 0], [0, 0], [1 << 8 | 1, 0], [255, 1, 254, 1, 1 << 8, 0], [999 << 16 | 255, 1], [230, 7],
        ] as [[UInt64]] {
            #expect(try refusal(head + records.flatMap(word)) == "FILE: the device log is damaged", "\(records)")
        }
        // Nobody pushed: nothing is missing.
        #expect(try refusal(head + word(254) + word(3)) == "none")
    }

    @Test("A file that begins anew has nothing of before, not even what was still to be written")
    func anew() throws {
        defer { try? FileManager.default.removeItem(atPath: path) }
        let writer = writer()
        let (early, late) = (DeviceLogBlock(writer), DeviceLogBlock(writer))
        for block in [early, late] {
            block.note(run: 1, place: 0)
            block.add(.content, sequence: 1, place: 0, time: 1)
        }
        early.flush()
        writer.beginAnew()
        late.flush()
        early.beginAnew()
        early.note(run: 2, place: 0)
        early.add(.content, sequence: 2, place: 0, time: 2)
        early.flush()
        late.beginAnew()
        late.flush()
        try writer.end(unlogged: 0)
        #expect(try read(2).said == [Said(sequence: 2, event: .content, time: 2)])
        #expect(refusal(1) == "FILE: device log of another run")
    }

    @Test("What cannot be written is told at the end in one line, and no part of a record is left")
    func full() throws {
        let full = DeviceLogWriter("/dev/full", names: Self.names)
        let block = DeviceLogBlock(full)
        for number in 0..<10_000 as Range<UInt64> { block.add(.content, sequence: number, place: 0, time: 1) }
        let error = #expect(throws: DeviceLog.Failure.self) { try full.end(unlogged: 0) }
        #expect(error?.description == "cannot write the device log /dev/full: No space left on device")
        let nowhere = DeviceLogWriter(path + "/none", names: Self.names)
        #expect(throws: DeviceLog.Failure.self) { try nowhere.end(unlogged: 0) }
    }
}
