import Foundation
import Measurement
import Results
import Testing

/// `--device-log`: what became of each push at its device.
@Suite(.serialized, .waitsForPrograms) struct DeviceLogTests {
    /// Every kind of thing becomes of pushes in it, and soon.
    private static let busy = """
        platforms: {phone: 80%, tablet: 5%, tv: 5%, watch: 10%}
        online: {share: 70%, dwell: 1s}
        unlocked: {share: 40%, dwell: 1s}
        foreground: {share: 30%, dwell: 1s}
        silent: {per_hour: 2, fetches: 80%}
        service_extension: {time: {median: 20ms, sigma: 1}, crashes: 5%, best_attempt: 50%}
        reaction: {opens: 20%, dismisses: 20%, delay: {median: 100ms, sigma: 1}}

        """

    private struct Said {
        var names: [String] = []
        /// By outcome, of pushes by their numbers.
        var outcomes: [String: Set<UInt64>] = [:]
        var (content, noContent): (Set<UInt64>, Set<UInt64>) = ([], [])
        var (earliest, latest): (UInt64, UInt64) = (.max, 0)
        var pushes: Int { outcomes.values.reduce(0) { $0 + $1.count } }
        var numbers: Set<UInt64> { outcomes.values.reduce(into: []) { $0.formUnion($1) } }

        mutating func take(_ sequence: UInt64, _ event: DeviceLog.Event, _ time: UInt64) {
            let isNew =
                switch event {
                case .outcome(let code): outcomes[names[code], default: []].insert(sequence).inserted
                case .content: content.insert(sequence).inserted
                case .noContent: noContent.insert(sequence).inserted
                }
            #expect(isNew, "\(sequence) \(event) twice")
            if time > 0 { (earliest, latest) = (min(earliest, time), max(latest, time)) }
        }
    }

    private func read(_ path: String, run: UInt64) throws -> (said: Said, unlogged: UInt64) {
        var said = Said()
        var names: [String] = []
        let unlogged = try DeviceLogFile.read(path, run: run) {
            names = $0
        } _: {
            if said.names.isEmpty { said.names = names }
            said.take($0, $1, $2)
        }
        return (said, unlogged)
    }

    private func run(_ mock: Mock, _ arguments: [String]) throws -> UInt64 {
        let (result, status, error) = try Programs.load(
            ["--target", mock.url, "--credentials", mock.folder, "--devices", "2000", "--warmup", "0s"] + arguments)
        #expect(status == 0 && result.pushes.accepted == result.pushes.planned, "\(error)")
        return result.pushes.accepted
    }

    private func now() -> UInt64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
    }

    @Test("The log of two runs has each push's last outcome, as many of each as the mock counted, and when")
    func agrees() throws {
        let folder = try OutputFolder.made()
        let (model, log) = (folder.path + "/model.yaml", folder.path + "/devices.log")
        try Self.busy.write(toFile: model, atomically: true, encoding: .utf8)
        let mock = try Mock(["--device-model", model, "--device-log", log, "--threads", "3"])
        let begun = now()
        let profile = ["--profile", "alert:2,silent:2,rich:1"]
        let first = try run(mock, ["-n", "20000", "--connections", "4"] + profile)
        let second = try run(mock, ["-n", "5000"] + profile)
        let report = try mock.stop()
        #expect(report.status == 0, "\(report.error)")
        let lines = report.output.split(separator: "\n")
        let given = try #require(lines.first { $0.hasPrefix("given to devices 25,000: ") })
        let outcomes = given.split(separator: ": ")[1].components(separatedBy: ", ").map { $0.split(separator: " ") }
        let ids = lines.filter { $0.hasPrefix("run ") }.map { $0.dropFirst(4).prefix(16) }
        #expect(ids.count == 2)
        let runs = try ids.map { try read(log, run: try #require(UInt64($0, radix: 16))).said }
        for (said, accepted) in zip(runs, [first, second]) {
            #expect(said.numbers == Set(0..<accepted) && said.pushes == Int(accepted))
            #expect(said.content.isDisjoint(with: said.noContent))
            #expect(said.earliest >= begun && said.latest <= now())
        }
        for outcome in outcomes {
            let (name, count) = (String(outcome[0]), outcome[1].replacingOccurrences(of: ",", with: ""))
            let logged = runs.reduce(0) { $0 + ($1.outcomes[name]?.count ?? 0) }
            #expect(logged == Int(count), "\(name)")
        }
        // Without a backend no silent push has content; the sealed ones have.
        #expect(runs[0].noContent.isSuperset(of: runs[0].outcomes["fetch_failed"] ?? []))
        #expect(runs[0].content.count > 100)
        #expect(runs[0].outcomes.count > 8, "\(runs[0].outcomes.keys)")
        #expect(throws: DeviceLog.Failure.self) { try read(log, run: 1) }
    }

    @Test("A mock that was killed leaves a log that is read up to its last whole record")
    func killed() throws {
        let folder = try OutputFolder.made()
        let log = folder.path + "/devices.log"
        let mock = try Mock(["--device-model", "on", "--device-log", log, "--times-out", folder.path + "/times"])
        _ = try run(mock, ["-n", "50000", "--profile", "alert:1,silent:1"])
        kill(mock.running.process.processIdentifier, SIGKILL)
        _ = try mock.running.wait()
        let bytes = try Data(contentsOf: URL(fileURLWithPath: log))
        let head = 16 + Int(bytes[8]) + Int(bytes[9]) << 8
        // The first record says which run it is.
        let run = bytes.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: head + 8, as: UInt64.self) }
        var said = Said()
        var names: [String] = []
        let error = #expect(throws: DeviceLog.Failure.self) {
            try DeviceLogFile.read(log, run: run) {
                names = $0
            } _: {
                said.names = names
                said.take($0, $1, $2)
            }
        }
        #expect(error?.description == "\(log): the device log is truncated")
        // What is missing is at most one block of its one thread, and what was still under way.
        #expect(said.pushes > 10_000 && said.numbers.isSubset(of: Set(0..<50_000)))
        #expect(1 + said.pushes + said.content.count + said.noContent.count == (bytes.count - head) / 16)
    }

    @Test("A log without a model, or where none can be, is refused; a full disk is told at the end, with status 74")
    func refused() throws {
        func refusal(_ arguments: [String]) throws -> Finished {
            let refused = try Programs.run("mock-apns", ["--port", "0"] + arguments)
            #expect(refused.status == 64 && refused.output.isEmpty, "\(refused)")
            return refused
        }
        #expect(try refusal(["--device-log", "x"]).error == "mock-apns: --device-log needs --device-model\n")
        let folder = try OutputFolder.made()
        #expect(
            try refusal(["--device-model", "on", "--device-log", folder.path]).error
                == "mock-apns: --device-log \(folder.path): expected a file, not a folder\n")
        let mock = try Mock(["--device-model", "on", "--device-log", "/dev/full"])
        _ = try run(mock, ["-n", "20000"])
        let finished = try mock.stop()
        #expect(finished.status == 74 && finished.output.contains("given to devices 20,000: "))
        #expect(finished.error == "mock-apns: cannot write the device log /dev/full: No space left on device\n")
    }
}
