import Foundation
import Results
import SampleRuns
import Scenarios
import Testing

@testable import Plan

@Suite struct CostSampleTests {
    @Test(
        "Numbers that no run can have are refused by name, whatever the field",
        arguments: [
            ("streams", "0"), ("connections", "-1"), ("threads", "9223372036854775807"),
            ("mock_threads", "9223372036854775807"),
            ("client_cpu_ns_per_push", "1e30"), ("client_cpu_ns_per_push", "-5"), ("per_second", "-1"),
            ("total_ns", "[1, 1e300]"),
        ])
    func damaged(field: String, value: String) throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "pushload-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let path = folder.appending(path: "costs.json").path
        var sample: [String: Any] = [
            "bundled_mock": true, "client_cpu_ns_per_push": 1790.4, "connections": 1, "engine": "wire", "machine": "vm",
            "mock_cpu_ns_per_push": 3813.5, "per_second": 133446.5, "rtt_ns": 0, "run": "a", "server_mean_ns": 120863.7,
            "service_mean_ns": 717078.2, "shaped": false, "streams": 100, "threads": 1, "version": "1",
            "worker_load": 0.3,
            "client_max_rss_bytes": 51_392_512,
        ]
        func write() throws {
            let file: [String: Any] = ["made_at": "2026", "schema": "pushload.calibration/1", "samples": [sample]]
            try JSONSerialization.data(withJSONObject: file).write(to: URL(filePath: path))
        }
        try write()
        #expect(try PlanFile.readCalibration(path).samples.count == 1)
        sample[field] = try JSONSerialization.jsonObject(with: Data(value.utf8), options: .fragmentsAllowed)
        try write()
        let error = #expect(throws: ResultError.self) { try PlanFile.readCalibration(path) }
        #expect(error?.description == "\(path): samples[0].\(field): no such number can have been measured")
    }

    @Test(
        "A run whose rate changed by stages says nothing of a rate; what else changes a push's cost is kept and warned of"
    )
    func others() throws {
        var results = (0..<2).map { SampleRun.make("\($0)", 1) }
        for index in results.indices {
            (results[index].pushes.planned, results[index].pushes.accepted) = (200_000, 200_000)
            results[index].scenario["send_batch"] = .integer(index == 0 ? 1024 : 65_536)
            #expect(CostSample.problem(results[index]) == nil)
        }
        let samples = results.map { CostSample($0, roundTrip: 0) }
        #expect(samples.map(\.others) == [["send_batch": "1KiB"], ["send_batch": "64KiB"]])
        var question = PlanQuestion()
        (question.pushes, question.within) = (100_000, 10e9)
        let plan = try Planner.plan(question, samples: samples, origin: "x")
        #expect(plan.warnings.contains("the runs differ in send_batch: 1KiB; 64KiB; their costs are mixed"))
        #expect(CostSample.costly.isSubset(of: ScenarioKey.allNames))
        results[0].scenario["stages"] = .array([])
        #expect(CostSample.problem(results[0]) == nil)
        results[0].scenario["stages"] = .array([.string("burst 100k")])
        #expect(
            CostSample.problem(results[0])?.hasPrefix("its rate was given by stages, a trace or a recording") == true)
        (results[0].scenario["stages"], results[0].scenario["trace"]) = (.null, .string("due.csv"))
        #expect(
            CostSample.problem(results[0])?.hasPrefix("its rate was given by stages, a trace or a recording") == true)
        var absurd = results[1]
        absurd.pushes.accepted = .max
        #expect(CostSample.problem(absurd)?.hasPrefix("its books are wrong: 200,000 pushes were planned") == true)
        absurd = results[1]
        absurd.cost.clientHandshakes = 160_000_000
        #expect(
            CostSample.problem(absurd)
                == "the client's CPU time but for handshakes was 40.0 ms; a cost takes at least 50.0 ms")
        absurd = results[1]
        absurd.workers = (0..<2).map { .init(index: $0, host: "h", state: .done) }
        #expect(CostSample.problem(absurd) == "it is of 2 workers; a cost takes a run of one")
        results[1].retries.attempts = 2001
        #expect(CostSample.problem(results[1])?.hasPrefix("2,001 attempts were sent again") == true)
    }

    @Test(
        "A calibration of before there were rates, servers that answer one by one and mock threads is read, without them"
    )
    func older() throws {
        let text = """
            {"made_at": "2026-11-22T10:31:50Z", "schema": "pushload.calibration/1", "samples": [{
                "bundled_mock": true, "client_cpu_ns_per_push": 1790.4, "client_max_rss_bytes": 51392512, "connections": 1,
                "engine": "wire", "machine": "vm", "mock_cpu_ns_per_push": 3813.5, "per_second": 133446.5, "rtt_ns": 0,
                "run": "552ed55d17c411d4", "server_mean_ns": 120863.7, "service_mean_ns": 717078.2, "shaped": false,
                "streams": 100, "threads": 1, "version": "0.1.0", "worker_load": 0.349}]}
            """
        let sample = try #require(JSONDecoder().decode(CalibrationDocument.self, from: Data(text.utf8)).samples.first)
        #expect(sample.clientCPU == 1790.4 && sample.mockCPU == 3813.5 && sample.clientMemory == 51_392_512)
        #expect(sample.mockThreads == nil && sample.cores == nil && sample.pace == nil && sample.answers == nil)
        #expect(sample.totals == nil && sample.pushesPerConnection == nil)
    }
}
