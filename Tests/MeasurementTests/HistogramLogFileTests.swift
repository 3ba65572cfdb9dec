import Foundation
import Testing

@testable import Measurement

@Suite struct HistogramLogFileTests {
    private let path = FileManager.default.temporaryDirectory.appendingPathComponent("log-\(UUID()).hlog").path

    private func interval(_ number: Int) -> HistogramLog.Interval {
        var histogram = LatencyHistogram()
        for value in 1...UInt64(number * 50) { histogram.record(value * value) }
        return .init(start: Double(number - 1), length: 1, tag: "total", histogram: histogram)
    }

    private var lines: [String] {
        get throws {
            let text = try String(contentsOfFile: path, encoding: .utf8)
            #expect(text.isEmpty || text.hasSuffix("\n"))
            return text.split(separator: "\n").map(String.init)
        }
    }

    @Test("Each interval is in the file as soon as it was added, after the header, and reads back as it was")
    func grows() throws {
        let log = HistogramLogFile(path: path, startTime: 1_700_000_000)
        defer { try? FileManager.default.removeItem(atPath: path) }
        #expect(!FileManager.default.fileExists(atPath: path))
        for number in 1...4 {
            log.append(interval(number))
            let lines = try lines
            #expect(lines.count == 4 + number && lines[0] == "#[Histogram log format version 1.3]")
            let encoded = try #require(lines.last?.split(separator: ",").last)
            let read = try HistogramCodec.decodeFromLog(String(encoded))
            let added = interval(number).histogram
            #expect(read.counters.map(\.value) == added.counters.map(\.value) && read.count == added.count)
            #expect(lines.last?.hasPrefix("Tag=total,\(number - 1).000,1.000,") == true)
        }
        #expect(log.problem == nil)
    }

    @Test("A log of nothing is its header")
    func empty() throws {
        let log = HistogramLogFile(path: path, startTime: 0)
        defer { try? FileManager.default.removeItem(atPath: path) }
        log.begin()
        log.begin()
        #expect(try lines.count == 4 && log.problem == nil)
    }

    @Test("Where the disk ends in the middle of a line, the file ends with the line before and stays so")
    func full() throws {
        let seed = UInt64.random(in: .min ... .max)
        let whole = HistogramLog.header(startTime: 0) + (1...3).map { HistogramLog.line(interval($0)) }.joined()
        var state = seed
        for _ in 0..<8 {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            var room = Int(state >> 33) % whole.utf8.count
            let log = HistogramLogFile(path: path, startTime: 0) { descriptor, bytes, count in
                if room == 0 {
                    errno = ENOSPC
                    return -1
                }
                let part = min(count, room, 1000)
                room -= part
                return write(descriptor, bytes, part)
            }
            defer { try? FileManager.default.removeItem(atPath: path) }
            let fits = String(decoding: whole.utf8.prefix(room), as: UTF8.self)
            for number in 1...3 { log.append(interval(number)) }
            #expect(log.problem == "cannot write \(path): No space left on device", "seed \(seed)")
            let lines = try lines
            let expected = fits.split(separator: "\n", omittingEmptySubsequences: false).dropLast().map(String.init)
            // The header is one piece.
            #expect(lines == (expected.count < 4 ? [] : expected), "seed \(seed)")
            log.append(interval(4))
            #expect(try self.lines == lines)
        }
    }

    @Test("A place that takes nothing is named, and asked once")
    func nowhere() {
        for place in ["/dev/full", "/nonexistent/latency.hlog"] {
            let log = HistogramLogFile(path: place, startTime: 0)
            for number in 1...3 { log.append(interval(number)) }
            let why = place == "/dev/full" ? "No space left on device" : "No such file or directory"
            #expect(log.problem == "cannot write \(place): \(why)")
        }
    }
}
