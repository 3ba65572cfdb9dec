import Measurement
import Scenarios
import Testing
import Transport

@testable import Harness

@Suite struct RunMetricsTests {
    private func lines(_ snapshot: RunSnapshot, _ change: (inout Scenario) -> Void) throws -> [String] {
        var scenario = Scenario()
        change(&scenario)
        return RunMetrics.text(snapshot, inputs: try RunInputs(scenario), target: "a \"b\"")
            .split(separator: "\n").map(String.init)
    }

    @Test(
        "A run's metrics are its snapshot: outcomes, causes, what is open, the rate asked for at the moment, latencies")
    func open() throws {
        var snapshot = RunSnapshot()
        snapshot.elapsed = 2_500_000_000
        snapshot.counts.taken = 100
        snapshot.counts.sent = 90
        snapshot.counts.accepted = 70
        snapshot.counts.rejected = 2
        snapshot.counts.failed = 3
        snapshot.counts.notSent = 4
        snapshot.inFlight = 21
        snapshot.backlog = 11
        snapshot.failures = [UInt64](repeating: 0, count: FailureCause.count)
        snapshot.failures[FailureCause.pushTimeout.index] = 3
        snapshot.failures[FailureCause.streamReset(.cancel).index] = 1
        let recorder = Recorder(causes: FailureCause.count)
        for _ in 0..<3 { recorder.accepted(total: 2_000_000, isMeasured: true) }
        recorder.accepted(total: 5, isMeasured: false)
        recorder.handOver(&snapshot.totals)
        let lines = try lines(snapshot) {
            $0.stages = [
                LoadStage(name: "ramp", shape: .ramp(from: 0, to: 1000), duration: 5_000_000_000),
                LoadStage(name: "hold", shape: .hold(rate: 1000), duration: 1_000_000_000),
            ]
        }
        for line in [
            "# TYPE pushload_latency_seconds histogram", "pushload_target_pushes_per_second 500",
            "pushload_due_total 111", "pushload_planned_pushes 3500", "pushload_sent_total 90",
            "pushload_pushes_total{outcome=\"accepted\"} 70", "pushload_pushes_total{outcome=\"not_sent\"} 4",
            "pushload_failures_total{cause=\"push_timeout\"} 3", "pushload_failures_total{cause=\"tls_failed\"} 0",
            "pushload_failures_total{cause=\"stream_reset_CANCEL\"} 1",
            "pushload_not_sent_total{cause=\"overflowed\"} 0",
            "pushload_in_flight 21", "pushload_backlog 11", "pushload_elapsed_seconds 2.5",
            "pushload_latency_seconds_bucket{outcome=\"accepted\",le=\"0.0015\"} 0",
            "pushload_latency_seconds_bucket{outcome=\"accepted\",le=\"0.002\"} 3",
            "pushload_latency_seconds_bucket{outcome=\"accepted\",le=\"+Inf\"} 3",
            "pushload_latency_seconds_sum{outcome=\"accepted\"} 0.006",
            "pushload_latency_seconds_count{outcome=\"accepted\"} 3",
            "pushload_latency_seconds_count{outcome=\"rejected\"} 0",
        ] { #expect(lines.contains(line), "\(line) is not in:\n\(lines.joined(separator: "\n"))") }
        #expect(lines.contains { $0.hasPrefix("pushload_info{") && $0.hasSuffix("target=\"a \\\"b\\\"\"} 1") })
        let named = lines.filter { $0.hasPrefix("# TYPE") }.map { $0.split(separator: " ")[2] }
        #expect(Set(named).count == named.count)
    }

    @Test("A closed loop asks for no rate, so there is none")
    func closed() throws {
        let lines = try lines(RunSnapshot()) { $0.pushes = 10 }
        #expect(!lines.contains { $0.contains("target_pushes") || $0.contains("due_total") })
        #expect(lines.contains("pushload_planned_pushes 10"))
    }
}
