import Foundation
import Results
import Settings
import Testing

@testable import Gate

/// A baseline with every field filled.
func sampleBaseline() -> BaselineDocument {
    BaselineDocument(
        name: "alert", reason: "first", updatedAt: "2026-01-02T03:04:05Z", version: "0.1.0", commit: nil,
        scenario: ["pushes": .integer(5), "by": .array([]), "rate": .null, "retry_budget": .number(0.25)],
        machine: .init(host: "h", cpu: "c", cores: 2, kernel: "k", system: "s"), kernel: "record/1", oneCore: true,
        metrics: [
            .init(name: "client_cpu", unit: .nanoseconds, raw: [650, 651], normalised: [0.04, 0.041]),
            .init(name: "rate", unit: .perSecond, raw: [1e6, 1.1e6], normalised: nil),
        ])
}

@Suite struct BaselineFileTests {
    private func problem(_ text: String) -> String {
        do throws(ResultError) {
            _ = try BaselineFile.decode(Array(text.utf8), origin: "b.json")
            return ""
        } catch { return error.description }
    }

    @Test("A baseline is read as it was written, into a folder that is made for it")
    func roundTrip() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("baselines-\(UUID())").path
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let path = folder + "/deep/alert.json"
        try BaselineFile.write(sampleBaseline(), to: path)
        #expect(try BaselineFile.read(path) == sampleBaseline())
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder + "/deep") == ["alert.json"])
    }

    @Test("What is no baseline of this version gets one line that says so")
    func refused() throws {
        let text = String(decoding: try BaselineFile.encode(sampleBaseline()), as: UTF8.self)
        #expect(problem(text).isEmpty)
        #expect(problem(String(text.dropLast(20))) == "b.json: not complete JSON; the file is truncated or damaged")
        #expect(problem("{}") == "b.json: not a baseline of pushload gate: \"schema\" is missing or foreign")
        #expect(
            problem(#"{"schema": "pushload.result/2"}"#)
                == "b.json: not a baseline of pushload gate: its schema is pushload.result/2")
        #expect(
            problem(#"{"schema": "pushload.baseline/0"}"#)
                == "b.json: schema pushload.baseline/0; this version reads pushload.baseline/1")
        #expect(problem(#"{"schema": "pushload.baseline/1"}"#).hasSuffix("is missing"))
        func changed(_ change: (inout BaselineDocument) -> Void) throws -> String {
            var baseline = sampleBaseline()
            change(&baseline)
            return problem(String(decoding: try BaselineFile.encode(baseline), as: UTF8.self))
        }
        #expect(try changed { $0.metrics = [] } == "b.json: it has no metrics")
        #expect(
            try changed { $0.metrics[1].raw = [1] } == "b.json: metric \"rate\" does not have one value for each round")
        #expect(try changed { $0.metrics[0].raw = [-1, 2] } == "b.json: metric \"client_cpu\" has a value below 0")
        let apart = "b.json: metric \"client_cpu\": its raw and its normalised values do not belong together"
        #expect(try changed { $0.metrics[0].normalised = [0.04e9, 0.041e9] } == apart)
        #expect(try changed { $0.metrics[0].normalised = [0, 0] } == apart)
        #expect(try changed { $0.metrics[0].raw = [0, 0] } == apart)
        #expect(
            try changed { $0.metrics[0].normalised = nil } == "b.json: metric \"client_cpu\" has no normalised values")
        let second = try changed { baseline in
            baseline.metrics.append(
                .init(name: "mock_cpu", unit: .nanoseconds, raw: [650, 651], normalised: [0.04, 0.082]))
        }
        #expect(second == apart.replacing("client_cpu", with: "mock_cpu"))
        #expect(
            try changed { baseline in
                for index in baseline.metrics.indices {
                    baseline.metrics[index].raw = [Double](repeating: 1, count: 257)
                    baseline.metrics[index].normalised = nil
                }
            } == "b.json: metric \"client_cpu\" has 257 rounds; expected at most 256")
        do throws(ResultError) {
            _ = try BaselineFile.read("/nowhere/b.json")
            Issue.record("read what is not there")
        } catch {
            #expect(
                error.description.hasPrefix(
                    "cannot read /nowhere/b.json: No such file or directory; make a baseline with"))
        }
    }
}
