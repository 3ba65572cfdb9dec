import Foundation
import Results
import Testing

/// The workers of one run, each a process of its own, and the mock they send to.
final class WorkerGroup {
    let count: Int
    let mock: Mock
    let output: OutputFolder
    let run: WholeRun
    private let load: [String]
    /// Exit statuses say nothing of how fast the machine was.
    static let anyRate = ["--threshold", "rate >= 1"]

    /// - Parameters:
    ///   - load: flags of every worker.
    ///   - folder: the rendezvous; nil: a new one.
    init(_ count: Int, _ load: [String], in folder: String? = nil) throws {
        self.count = count
        self.load = load
        mock = try Mock()
        output = try OutputFolder.made()
        run = WholeRun(folder: folder ?? output.path + "/run")
    }

    /// - Parameters:
    ///   - workers: of how many it is one; nil: as many as there are.
    ///   - more: its own flags, which come after those of all.
    func start(
        _ index: Int, of workers: Int? = nil, _ more: [String] = [], environment: [String: String] = [:]
    ) throws -> Running {
        let place = ["--worker", "\(index)/\(workers ?? count)", "--rendezvous", run.folder]
        let target = ["--target", mock.url, "--credentials", mock.folder]
        return try Programs.start(
            "pushload", ["run"] + place + target + Self.anyRate + load + more, environment: environment)
    }

    func startAll() throws -> [Running] { try (0..<count).map { try start($0) } }

    func path(_ index: Int, _ name: String) -> String { "\(run.folder)/worker-\(index)/\(name)" }

    func has(_ name: String) -> Bool { FileManager.default.fileExists(atPath: "\(run.folder)/\(name)") }

    /// Waits until a worker says so of itself.
    func wait(_ index: Int, for what: String, _ holds: (WholeRun.Status) -> Bool) throws {
        try EndToEndTests.wait(for: "worker \(index): \(what)") { run.status(index).map(holds) ?? false }
    }

    /// Waits until all of these have had pushes accepted, and go on.
    func waitForLoad(_ workers: [Int]) throws {
        for index in workers { try wait(index, for: "load") { $0.state == "running" && $0.accepted >= 50 } }
    }

    /// Ends a worker at once.
    static func kill(_ worker: Running) throws {
        Glibc.kill(worker.process.processIdentifier, SIGKILL)
        #expect(try worker.wait().status == SIGKILL)
    }

    /// Waits for the ends of workers; each has this exit status.
    @discardableResult
    static func ends(_ workers: [Running], status: Int32) throws -> [Finished] {
        try workers.map {
            let finished = try $0.wait()
            #expect(finished.status == status, "\(finished)")
            return finished
        }
    }

    /// The books of the whole run balance, and those of each worker.
    func expectBooks(planned: UInt64) throws -> ResultDocument {
        let result = try run.result
        let rows = try #require(result.workers)
        #expect(result.pushes.planned == planned && result.pushes.ended == planned, "\(result.pushes)")
        #expect(rows.map(\.index) == Array(0..<count), "\(rows)")
        #expect(rows.allSatisfy { $0.pushes == $0.accepted + $0.errors }, "\(rows)")
        #expect(rows.reduce(0) { $0 + $1.pushes } == planned, "\(rows)")
        #expect(rows.reduce(0) { $0 + $1.accepted } == result.pushes.accepted, "\(rows)")
        return result
    }

    /// Ends the mock, which has each push at most once: all that were accepted, and of those that failed nobody knows.
    func expectArrived(_ result: ResultDocument) throws {
        let text = try mock.stop().output
        let lines = text.split(separator: "\n").filter { $0.contains(" different push") }
        #expect(lines.count <= 1 && lines.allSatisfy { $0.hasSuffix(", 0 repeated") }, "\(text)")
        let number = lines.first?.split(separator: ": ").last?.prefix { $0 != " " }.filter { $0 != "," } ?? "0"
        let (arrived, pushes) = (try #require(UInt64(number), "\(text)"), result.pushes)
        #expect((pushes.accepted...(pushes.accepted + pushes.failed)).contains(arrived), "\(pushes): \(text)")
    }

    /// Nothing has arrived.
    func expectNothingSent() throws { #expect(try mock.stop().output.contains("requests 0: ")) }
}

extension Finished {
    /// It ended with one line that says all of this.
    func expectLine(_ status: Int32, _ parts: String...) {
        let lines = error.split(separator: "\n").filter { line in parts.allSatisfy { line.contains($0) } }
        #expect(self.status == status && lines.count == 1 && output.isEmpty, "expected \(parts): \(self)")
    }
}
