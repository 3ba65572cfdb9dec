import Foundation
import Testing

@testable import Plan

@Suite struct CostSampleTests {
    @Test("A calibration of before there were rates, servers that answer one by one and mock threads is read, without them")
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
