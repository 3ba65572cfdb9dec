import Foundation
import Results
import Testing

/// The folder of a run of several workers, as somebody finds it who looks from outside.
struct WholeRun {
    let folder: String

    /// What a test reads of `worker-I/status.json`.
    struct Status: Decodable {
        let pid: Int32
        let attempt: Int
        let state: String
        let beat: UInt64
        let accepted: UInt64
    }

    /// What `Python/whole_run.py` found out.
    struct Books: Decodable {
        /// Different pushes that the mocks took of the run of one process, and of this run.
        let alone: Int
        let together: Int
        /// Those that only one of the runs has.
        let apart: Int
        /// Of this run, at each mock.
        let mocks: [Int]
        /// Arrivals of this run that repeated a push, at whichever mock.
        let repeated: Int
        /// Total, p50, p90, p99 and p99.9 of the workers' histograms added, ns; and what the result says.
        let shards: [UInt64]
        let result: [UInt64]
    }

    private static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().path

    var result: ResultDocument { get throws { try ResultFile.read(folder + "/result.json") } }

    var hasEnded: Bool { FileManager.default.fileExists(atPath: folder + "/end.json") }

    func status(_ worker: Int) -> Status? {
        FileManager.default.contents(atPath: "\(folder)/worker-\(worker)/status.json").flatMap {
            try? JSONDecoder().decode(Status.self, from: $0)
        }
    }

    /// Holds it against the run of one process with this id, by the mocks' ledgers.
    func books(besides alone: String, ledgers: [String]) throws -> Books {
        let python = Self.root + "/.build/python/bin/python3"
        try #require(FileManager.default.isExecutableFile(atPath: python), "run make test-deps first")
        let finished = try Programs.run(
            python, [Self.root + "/Tests/EndToEndTests/Python/whole_run.py", folder, alone] + ledgers)
        try #require(finished.status == 0, "\(finished)")
        return try finished.read(Books.self)
    }

    /// All workers have ended, each push was accepted, and each at one mock and once, the same ones as of the run of one process.
    ///
    /// - Parameter ledgers: of the mocks, with which the run was merged.
    func expectSame(as alone: ResultDocument, _ ledgers: [String], workers: Int) throws {
        let result = try result
        let count = alone.pushes.planned
        #expect(result.run.complete && result.pushes.planned == count && result.pushes.accepted == count)
        #expect(result.pushes.lost == 0 && result.pushes.duplicated == 0)
        let rows = try #require(result.workers)
        #expect(rows.map(\.index) == Array(0..<workers) && !rows.contains { $0.state == .lost }, "\(rows)")
        #expect(rows.reduce(0) { $0 + $1.accepted } == count, "\(rows)")
        let books = try books(besides: alone.run.id, ledgers: ledgers)
        #expect(books.alone == Int(count) && books.together == Int(count) && books.apart == 0, "\(books)")
        #expect(books.repeated == 0 && books.mocks.allSatisfy { $0 > 0 }, "\(books)")
        #expect(books.shards == books.result && books.result[0] == count, "\(books)")
    }
}

/// Waits until something holds.
///
/// - Throws: what never came, after two minutes.
func wait(for what: String, _ holds: () throws -> Bool) throws {
    for _ in 0..<6_000 {
        if try holds() { return }
        usleep(20_000)
    }
    throw Running.Failure(description: "\(what): not within two minutes")
}
