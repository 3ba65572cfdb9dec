import Foundation
import Testing

@testable import Results

/// A result with every field filled.
func sampleResult(accepted: UInt64 = 9, rejected: UInt64 = 0, failed: UInt64 = 0) -> ResultDocument {
    let latency = ResultDocument.Latency(
        count: 9, min: 1, mean: 2.5, p50: 2, p90: 3, p99: 4, p999: 5, max: 6)
    var result = ResultDocument()
    result.run.id = "00"
    result.run.name = "n"
    result.run.startedAt = "2026-01-02T03:04:05Z"
    result.run.durationSeconds = 1.5
    (result.run.engine, result.run.target) = ("nghttp2", "bundled mock")
    (result.environment.host, result.environment.cpu, result.environment.cores) = ("h", "c", 2)
    result.environment.memoryBytes = 3
    (result.environment.kernel, result.environment.system) = ("k", "s")
    result.environment.versions = ["a": "1"]
    result.scenario = [
        "pushes": .integer(9), "rate": .null, "profile": .string("alert"), "expected_reasons": .array([]),
    ]
    (result.pushes.planned, result.pushes.sent) = (accepted + rejected + failed, 9)
    (result.pushes.accepted, result.pushes.rejected, result.pushes.failed) = (accepted, rejected, failed)
    result.pushes.lost = 0
    result.throughput = .init(offered: nil, answered: 6)
    result.latency = .init { [.totalAccepted, .totalRejected].contains($0) ? .init() : latency }
    result.breakdown = ["stage": ["a": .init(accepted: 1, rejected: 0, failed: 0, total: latency)]]
    result.generator.loopLag = latency
    result.generator.workerLoad = [0.5]
    result.generator.cpu.encode = 1
    result.statuses = ["200": accepted]
    result.connections.opened = 1
    (result.cost.clientCPU, result.cost.clientMemory, result.cost.clientAllocations) = (1, 2, 0.5)
    result.cost.tokensSigned = 1
    (result.cost.clockReading, result.cost.histogramRecord, result.cost.measuring) = (20, 3, 75)
    result.series = [
        .init(
            time: 1, sent: 9, accepted: 9, rejected: 0, failed: 0, notSent: 0, inFlight: 0, backlog: 0, p50: 1, p99: 2)
    ]
    return result
}

@Suite struct ResultFileTests {
    @Test("A link stays and what it leads to is written; a pipe is written to and stays")
    func links() throws {
        let folder = try folder()
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let (file, link, pipe) = (folder + "/file", folder + "/link", folder + "/pipe")
        try ResultFile.write(Array("old".utf8), to: file)
        #expect(symlink(file, link) == 0 && mkfifo(pipe, 0o600) == 0)
        try ResultFile.write(Array("new".utf8), to: link)
        #expect(FileManager.default.contents(atPath: file) == Data("new".utf8))
        let reader = open(pipe, O_RDWR | O_CLOEXEC)
        defer { close(reader) }
        try ResultFile.write(Array("told".utf8), to: pipe)
        var told = [UInt8](repeating: 0, count: 8)
        #expect(read(reader, &told, 8) == 4 && told.starts(with: Array("told".utf8)))
        var status = stat()
        #expect(lstat(link, &status) == 0 && status.st_mode & S_IFMT == S_IFLNK)
        #expect(lstat(pipe, &status) == 0 && status.st_mode & S_IFMT == S_IFIFO)
        #expect(Set(try FileManager.default.contentsOfDirectory(atPath: folder)) == ["file", "link", "pipe"])
    }

    private func folder() throws -> String {
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("results-\(UUID())").path
        return path
    }

    @Test("A result is read back as it was written, with explicit nulls")
    func roundTrip() throws {
        let parent = try folder()
        defer { try? FileManager.default.removeItem(atPath: parent) }
        let run = try ResultFile.makeRunFolder(parent: parent, time: "20260102T030405Z", name: "n")
        try ResultFile.write(sampleResult(), to: run + "/result.json")
        #expect(try ResultFile.read(run + "/result.json") == sampleResult())
        let text = try String(contentsOfFile: run + "/result.json", encoding: .utf8)
        for part in ["\"mock_cpu_ns_per_push\" : null", "\"duplicated\" : null", "\"p99_9\" : 5", "\"latency_ns\" : {"]
        {
            #expect(text.contains(part), "\(part)")
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: run) == ["result.json"])
        let second = try ResultFile.makeRunFolder(parent: parent, time: "20260102T030405Z", name: "n")
        #expect(second == run + "-2")
    }

    @Test("Truncated, foreign, newer and damaged files each get one clear line")
    func errors() throws {
        func error(_ bytes: [UInt8]) -> String {
            do {
                _ = try ResultFile.decode(bytes, origin: "r.json")
                return "accepted"
            } catch {
                return error.description
            }
        }
        let good = try ResultFile.encode(sampleResult())
        #expect(
            error(Array(good.prefix(good.count / 2))) == "r.json: not complete JSON; the file is truncated or damaged")
        #expect(
            error([]) == "r.json: empty; expected JSON" && error(Array(" \n".utf8)) == "r.json: empty; expected JSON")
        #expect(error(Array("root:x:0:0".utf8)) == "r.json: no JSON")
        #expect(error(Array("{\"a\":1}".utf8)) == "r.json: not a pushload result: \"schema\" is missing or foreign")
        #expect(
            error(Array("{\"schema\":\"pushload.gate/2\"}".utf8))
                == "r.json: not a pushload result: its schema is pushload.gate/2")
        #expect(
            error(Array("{\"schema\":\"pushload.result/9\"}".utf8))
                == "r.json: schema pushload.result/9; this version reads pushload.result/3")
        let text = String(decoding: good, as: UTF8.self)
        #expect(
            error(Array(text.replacingOccurrences(of: "\"p50\"", with: "\"p5\"").utf8)).hasSuffix(".p50\" is missing"))
        #expect(
            error(Array(text.replacingOccurrences(of: "\"planned\" : 9", with: "\"planned\" : \"x\"").utf8))
                == "r.json: \"pushes.planned\" has the wrong type or value")
        let line = 1 + text[..<text.range(of: "\"planned\" : 9")!.lowerBound].count { $0 == "\n" }
        for number in ["-1", "1.5", "1e400", "99999999999999999999"] {
            #expect(
                error(Array(text.replacing("\"planned\" : 9", with: "\"planned\" : \(number)").utf8))
                    == "r.json: line \(line), \"planned\": \(number) does not fit there: out of range, or not whole")
        }
        let cost = 1 + text[..<text.range(of: "\"client_cpu_ns_per_push\"")!.lowerBound].count { $0 == "\n" }
        let negative = text.replacing(/"client_cpu_ns_per_push" : [0-9.e]+/, with: "\"client_cpu_ns_per_push\" : -7e2")
        #expect(
            error(Array(negative.utf8))
                == "r.json: line \(cost): \"client_cpu_ns_per_push\" is -7e2; expected 0 or more")
        // Another thing that is wrong is not hidden by a number, nor is a number by it.
        let both = text.replacing("\"planned\" : 9", with: "\"planned\" : -1").replacing("\"p50\"", with: "\"p5\"")
        #expect(error(Array(both.utf8)).hasPrefix("r.json: "))
        #expect { try ResultFile.read("/nonexistent.json") } throws: {
            "\($0)" == "cannot read /nonexistent.json: No such file or directory; expected a pushload result.json"
        }
        #expect(throws: ResultError.self) { try ResultFile.write(sampleResult(), to: "/nonexistent/r.json") }
    }

    @Test("A partial result has null where only the end can tell; in a whole one that is damage")
    func partial() throws {
        var result = sampleResult()
        result.notes = [ResultDocument.partialMark + "so far"]
        let bytes = try ResultFile.encode(result)
        let read = try ResultFile.decode(bytes, origin: "x")
        #expect(read.isPartial && read.statuses.isEmpty && read.cost == .init() && read.latency[.service] == .init())
        #expect(read.latency[.total] == result.latency[.total] && read.series == result.series)
        #expect(try ResultFile.encode(read) == bytes)
        let whole = String(decoding: bytes, as: UTF8.self).replacing(ResultDocument.partialMark, with: "all of it: ")
        var message = ""
        do throws(ResultError) { _ = try ResultFile.decode(Array(whole.utf8), origin: "x") } catch {
            message = error.description
        }
        #expect(message.hasPrefix("x: \"") && message.hasSuffix("\" has the wrong type or value"), "\(message)")
    }
}
