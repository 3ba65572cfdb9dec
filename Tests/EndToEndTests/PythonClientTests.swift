import Foundation
import Results
import Testing

/// A provider library of other people's: aioapns from PyPI, in the environment `make test-deps` makes.
@Suite(.serialized, .waitsForPrograms) struct PythonClientTests {
    private static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()
    private static let python = root.appendingPathComponent(".build/python/bin/python3").path

    @Test("aioapns sends token-authenticated pushes and sees BadDeviceToken and Unregistered where it should")
    func aioapns() throws {
        try #require(FileManager.default.isExecutableFile(atPath: Self.python), "run make test-deps first")
        let folder = try OutputFolder.made()
        let (gone, unknown) = (String(repeating: "c", count: 64), String(repeating: "d", count: 64))
        let known = (0..<50).map { String(repeating: "a", count: 62) + ($0 < 16 ? "0" : "") + String($0, radix: 16) }
        try (["token,state"] + known.map { $0 + "," } + [gone + ",unregistered"]).joined(separator: "\n")
            .write(toFile: folder.path + "/devices.csv", atomically: true, encoding: .utf8)
        let mock = try Mock(["--device-file", folder.path + "/devices.csv"])
        let finished = try Programs.run(
            Self.python,
            [Self.root.path + "/mock-apns/examples/aioapns_push.py", mock.folder, mock.port, gone, unknown, "xyz"]
                + known)
        #expect(finished.status == 0, "\(finished.error)")
        let expected =
            ["\(gone) 410 Unregistered", "\(unknown) 400 BadDeviceToken", "xyz 400 BadDeviceToken"]
            + known.map { "\($0) 200 accepted" }
        #expect(finished.output.split(separator: "\n").map(String.init) == expected, "\(finished.error)")
        #expect(try mock.stop().output.contains("requests 53: accepted 50, rejected 3"))
    }

    @Test(
        "HdrHistogram's reader for Python reads the log and the histograms, with exactly the percentiles of the result")
    func histogramLog() throws {
        let output = OutputFolder()
        let run = try Programs.run(
            "pushload", ["run", "-D", "2s", "--rate", "1000", "--quiet", "--output", output.path])
        #expect(run.status == 0, "\(run.error)")
        let folder = output.path + "/" + (try FileManager.default.contentsOfDirectory(atPath: output.path)[0])
        let finished = try Programs.run(
            Self.python, [Self.root.path + "/Tests/EndToEndTests/Python/read_hlog.py", folder])
        #expect(finished.status == 0, "\(finished.error)")
        let total = try ResultFile.read(folder + "/result.json").latency[.total]
        let expected = [total.count, total.p50, total.p90, total.p99, total.p999]
        struct Read: Decodable {
            let intervals: Int
            let log: [UInt64]
            let result: [UInt64]
        }
        let read = try finished.read(Read.self)
        #expect(total.count == 2000 && read.result == expected && read.log == expected && read.intervals >= 2)
        for name in ["latency.hgrm", "series.csv"] {
            #expect(try !String(contentsOfFile: folder + "/" + name, encoding: .utf8).isEmpty)
        }
    }
}
