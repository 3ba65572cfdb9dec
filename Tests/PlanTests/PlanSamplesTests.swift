import Foundation
import Results
import SampleRuns
import Testing

@testable import Plan

@Suite struct PlanSamplesTests {
    /// A run that says what a push costs: 100,000 pushes of 1,000 ns of CPU time.
    private static func run(_ id: String) -> ResultDocument {
        var result = SampleRun.make(id, 1)
        (result.pushes.planned, result.pushes.sent, result.pushes.accepted) = (100_000, 100_000, 100_000)
        return result
    }

    @Test("What the handshakes of a run took is no cost of its pushes, but of its connections")
    func handshakes() {
        var result = Self.run("a")
        (result.cost.clientCPU, result.cost.mockCPU, result.connections.opened) = (1000, 2000, 50)
        #expect(CostSample(result, roundTrip: 0).handshake == nil)
        // 10 ms of 100 ms, and 20 ms of 200 ms.
        (result.cost.clientHandshakes, result.cost.mockHandshakes) = (10_000_000, 20_000_000)
        let sample = CostSample(result, roundTrip: 0)
        #expect(sample.clientCPU == 900 && sample.mockCPU == 1800 && sample.handshake == 200_000)
        result.cost.clientHandshakes = .max
        #expect(CostSample(result, roundTrip: 0).implausible == "client_cpu_ns_per_push")
    }

    private static let absurd: [(field: String, change: @Sendable (inout ResultDocument) -> Void)] = [
        ("client_cpu_ns_per_push", { $0.cost.clientCPU = 1e30 }),
        ("mock_cpu_ns_per_push", { $0.cost.mockCPU = 1e30 }),
        ("cores", { $0.environment.cores = .max }),
        ("threads", { $0.scenario["threads"] = .integer(2_000_000_000) }),
        ("streams", { $0.scenario["streams"] = .integer(.max) }),
        ("per_second", { $0.throughput.answered = 1e300 }),
    ]

    @Test(
        "A result with a number that no run has is left out, with its field's name; of nothing else there is no plan",
        arguments: absurd.indices)
    func implausible(_ place: Int) throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "pushload-\(UUID().uuidString)").path
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let (field, change) = Self.absurd[place]
        for name in ["good", "bad"] {
            var result = Self.run(name)
            if name == "bad" { change(&result) }
            try FileManager.default.createDirectory(
                atPath: "\(folder)/\(name)", withIntermediateDirectories: true)
            try ResultFile.write(result, to: "\(folder)/\(name)/result.json")
        }
        #expect(try PlanSamples.read([folder]).map(\.run) == ["good"])
        let path = "\(folder)/bad/result.json"
        #expect {
            try PlanSamples.read([path])
        } throws: {
            "\($0)" == "\(path): \(field): no run has such a number"
        }
    }

    @Test(
        "A number that a calibration's field does not take is named with its line; the file is not taken for a result")
    func misfit() throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "pushload-\(UUID().uuidString)").path
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let path = "\(folder)/costs.json"
        let calibration = CalibrationDocument(madeAt: "2026", samples: [CostSample(Self.run("r"), roundTrip: 0)])
        try PlanFile.write(calibration, to: path)
        let text = try String(contentsOfFile: path, encoding: .utf8)
        let place = try #require(text.range(of: "\"rtt_ns\" : 0"))
        for number in ["1e400", "-1"] {
            try text.replacingCharacters(in: place, with: "\"rtt_ns\" : \(number)")
                .write(toFile: path, atomically: true, encoding: .utf8)
            let line = 1 + text[..<place.lowerBound].count { $0 == "\n" }
            #expect {
                try PlanSamples.read([path])
            } throws: {
                "\($0)" == "\(path): line \(line), \"rtt_ns\": \(number) does not fit there: out of range, or not whole"
            }
        }
    }

    @Test(
        "With an engine only its runs count; of another one there is no plan, and the engines that there are, are named"
    )
    func engines() throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "pushload-\(UUID().uuidString)").path
        defer { try? FileManager.default.removeItem(atPath: folder) }
        for engine in ["wire", "nghttp2"] {
            var result = Self.run(engine)
            result.run.engine = engine
            try FileManager.default.createDirectory(
                atPath: "\(folder)/\(engine)", withIntermediateDirectories: true)
            try ResultFile.write(result, to: "\(folder)/\(engine)/result.json")
        }
        #expect(try PlanSamples.read([folder]).count == 2)
        #expect(try PlanSamples.read([folder], engine: "nghttp2").map(\.run) == ["nghttp2"])
        let path = "\(folder)/wire/result.json"
        #expect {
            try PlanSamples.read([path], engine: "nghttp2")
        } throws: {
            "\($0)" == "--engine nghttp2: \(path) has only runs of wire; give runs of it, or leave --engine out"
        }
    }
}
