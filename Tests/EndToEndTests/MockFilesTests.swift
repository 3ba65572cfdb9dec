import Foundation
import Measurement
import Networking
import Results
import SampleRuns
import Testing

/// Two workers and two mocks: the workers are this test, which sends each push with curl, and leaves what workers leave.
@Suite(.serialized, .waitsForPrograms) struct MockFilesTests {
    private static let run: UInt64 = 0x1234_5678_9abc_def0
    private static let planned: UInt64 = 40

    /// What the workers keep.
    private struct Workers {
        let folder: OutputFolder
        let accepted = (0..<2).map { _ in DeliveryLedger(capacity: 1000)! }
        let times = (0..<2).map { _ in PushTimes(interval: 2)! }

        init() throws { folder = try OutputFolder.made() }

        /// Sends a push, and notes that it was accepted and when.
        func push(_ number: UInt64, to mock: Mock, _ authorization: String) throws {
            let worker = Int(number % 2)
            let (sent, finished) = (
                MonotonicClock.now(),
                try Programs.run(
                    "/usr/bin/curl",
                    [
                        "-s", "--http2-prior-knowledge", "-w", "%{http_code}", "-H", "authorization: \(authorization)",
                        "-H", "apns-topic: com.example.app", "-d",
                        "{\"aps\":{\"alert\":\"x\"},\"pushload-trace\":\"\(String(run, radix: 16))-\(number)\"}",
                        "\(mock.url)/3/device/\(String(repeating: "0a", count: 32))",
                    ])
            )
            try #require(finished.output == "200", "\(finished)")
            accepted[worker].mark(number)
            let sample = times[worker].sample(number)
            if sample >= 0 {
                times[worker].note(.departure, sample: sample, at: sent)
                times[worker].note(.arrival, sample: sample, at: MonotonicClock.now())
            }
        }

        /// - Returns: the rendezvous folder.
        func finish() throws -> String {
            let path = folder.path + "/rendezvous"
            for worker in 0..<2 {
                let own = "\(path)/worker-\(worker)"
                try FileManager.default.createDirectory(atPath: own, withIntermediateDirectories: true)
                try AcceptedFile.write(accepted[worker], run: run, to: own + "/accepted.ledger")
                try PushTimesFile.write(times[worker], run: run, to: own + "/times")
                var shard = SampleRun.make(String(run, radix: 16), 1)
                let count = accepted[worker].delivered
                (shard.pushes.planned, shard.pushes.sent, shard.pushes.accepted) = (count, count, count)
                (shard.pushes.lost, shard.pushes.duplicated) = (nil, nil)
                try ResultFile.write(shard, to: own + "/result.json")
                for (name, text) in [
                    ("begun-1.json", #"{"host": "h", "positions": [0], "planned": \#(count), "begun": 0}"#),
                    ("shard.json", #"{"attempt": 1}"#),
                ] {
                    try text.write(toFile: own + "/" + name, atomically: true, encoding: .utf8)
                }
            }
            try #"{"id": "\#(String(run, radix: 16))", "workers": 2, "created": 1.5, "scenario": {}}"#.write(
                toFile: path + "/run.json", atomically: true, encoding: .utf8)
            var whole = SampleRun.make("r", 1)
            (whole.pushes.planned, whole.pushes.sent, whole.pushes.accepted) = (planned, planned, planned)
            (whole.pushes.lost, whole.pushes.duplicated) = (nil, nil)
            try ResultFile.write(whole, to: path + "/result.json")
            return path
        }
    }

    @Test("What two mocks wrote completes the result of two workers: nothing lost or doubled, one clock at all ends")
    func complete() throws {
        let workers = try Workers()
        let path = workers.folder.path
        let mocks = try (0..<2).map { number in
            try Mock(
                [
                    "--threads", "2", "--ledger-out", "\(path)/ledger-\(number)", "--times-out",
                    "\(path)/times-\(number)",
                    "--times-every", "2",
                ], plaintext: true)
        }
        let tokens = try mocks.map { mock in
            try Programs.run("pushload", ["token", "--credentials", mock.folder]).output
                .trimmingCharacters(in: .whitespacesAndNewlines)
        }
        for number in 0..<Self.planned {
            try workers.push(number, to: mocks[Int(number / 2 % 2)], tokens[Int(number / 2 % 2)])
        }
        for mock in mocks { #expect(try mock.stop().status == 0) }
        let rendezvous = try workers.finish()
        let (ledgers, times) = ((0..<2).map { "\(path)/ledger-\($0)" }, (0..<2).map { "\(path)/times-\($0)" })
        let merged = try Programs.run("pushload", ["merge", rendezvous, "--ledger"] + ledgers + ["--times"] + times)
        #expect(merged.status == 0 && merged.output.contains("ledger: 0 lost, 0 doubled"), "\(merged)")
        #expect(merged.output.contains("clock of"), "\(merged.output)")
        let result = try ResultFile.read(rendezvous + "/result.json")
        let clocks = try #require(result.clocks)
        #expect(clocks.count == 4 && clocks.reduce(0) { $0 + $1.samples } == Int(Self.planned) / 2)
        // One machine has one clock; what it is read by for a file may be off by some µs.
        for clock in clocks { #expect(abs(clock.offset) <= clock.bound + 100_000, "\(clock)") }
        #expect(result.latency[.inMock].count == Self.planned / 2)

        // One mock's files alone: the other's pushes are lost, and the run is not good.
        let half = path + "/half.json"
        let lost = try Programs.run("pushload", ["merge", rendezvous, "--ledger", ledgers[0], "-o", half])
        #expect(
            lost.status == 1 && lost.output.contains("20 pushes answered with 200 but not in the mock's ledger"),
            "\(lost)")
        #expect(try ResultFile.read(half).pushes.lost == 20)
        #expect(try ResultFile.read(rendezvous + "/result.json") == result)

        // Without the files what they had added is not in the new result, and that is said.
        let bare = try Programs.run("pushload", ["merge", rendezvous, "-o", half])
        #expect(
            bare.status == 0
                && bare.error
                    == "pushload: merged anew, without what the mocks' files had added to \(rendezvous)/result.json: "
                    + "lost and doubled pushes (--ledger FILE...); the ways there and back, and clocks (--times FILE...); give these "
                    + "files again to have it\n",
            "\(bare)")
        #expect(try ResultFile.read(half).pushes.lost == nil)
        // What a worker has brought home is read anew too: without it nothing is good.
        try Data("{".utf8).write(to: URL(fileURLWithPath: rendezvous + "/worker-0/result.json"))
        let damaged = try Programs.run("pushload", ["merge", rendezvous, "--ledger"] + ledgers)
        #expect(damaged.status == 1 && damaged.error.contains("worker-0/result.json"), "\(damaged)")
        try FileManager.default.removeItem(atPath: rendezvous + "/worker-1")
        try FileManager.default.removeItem(atPath: rendezvous + "/worker-0/shard.json")
        let gone = try Programs.run("pushload", ["merge", rendezvous, "-o", half, "--ledger"] + ledgers)
        #expect(gone.status == 1 && gone.output.contains("FAILED"), "\(gone)")
        #expect(try ResultFile.read(rendezvous + "/result.json") == result)
    }

    @Test("What cannot be used is one line, and leaves the result as it was")
    func refused() throws {
        let workers = try Workers()
        let path = workers.folder.path
        let rendezvous = try workers.finish()
        let before = try Data(contentsOf: URL(fileURLWithPath: rendezvous + "/result.json"))
        let missing = path + "/missing"
        for (arguments, problem) in [
            (["--ledger", missing], "pushload: cannot read the ledger file \(missing): No such file or directory\n"),
            (
                ["--times", rendezvous + "/run.json"],
                "pushload: \(rendezvous)/run.json: not a file of push times\n"
            ),
        ] {
            let finished = try Programs.run("pushload", ["merge", rendezvous] + arguments)
            #expect(finished.status == 64 && finished.error == problem && finished.output.isEmpty, "\(finished)")
        }
        let two = try Programs.run("pushload", ["merge", rendezvous, rendezvous, "--ledger", missing])
        #expect(two.status == 64 && two.error.contains("expected its folder alone, not 2 paths"), "\(two)")
        let no = try Programs.run("pushload", ["merge", rendezvous + "/result.json", rendezvous + "/result.json"])
        #expect(no.status == 64 && no.error.contains("expected --output FILE"), "\(no)")
        #expect(try Data(contentsOf: URL(fileURLWithPath: rendezvous + "/result.json")) == before)
    }
}
