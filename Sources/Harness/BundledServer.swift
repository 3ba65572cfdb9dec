import Foundation
import Glibc
import Synchronization

/// A server of ours as a child process: it says where it listens in its first line, and what it counted whenever it is asked
/// (SIGUSR1) and at its end (SIGTERM), a JSON object a line.
struct BundledServer<Counts: Decodable & Sendable>: Sendable {
    /// A running one.
    struct Handle: Sendable {
        let url: String
        let pid: pid_t
        fileprivate let process: ChildProcess
        fileprivate let said: Said

        var isOver: Bool { said.isOver.load(ordering: .relaxed) }

        /// What it has counted by now; nil when it does not say so within 2 s.
        func ask() async -> Counts? {
            let before = said.last.withLock { $0.number }
            process.send(SIGUSR1)
            for _ in 0..<400 where !said.isOver.load(ordering: .relaxed) {
                try? await Task.sleep(nanoseconds: 5_000_000)
                let last = said.last.withLock { $0 }
                if last.number > before { return last.counts }
            }
            return nil
        }
    }

    /// What it said last, and whether it was told to end.
    fileprivate final class Said: Sendable {
        let isStopping = Atomic(false)
        /// It says nothing more.
        let isOver = Atomic(false)
        let last = Mutex<(number: Int, counts: Counts?)>((0, nil))
    }

    private struct Event: Decodable {
        let event: String
        let url: String?
    }

    /// How long it may take to end, ns.
    private static var patience: UInt64 { 15_000_000_000 }
    /// And to start, ns.
    private static var patienceAtStart: UInt64 { 60_000_000_000 }

    /// "the bundled mock".
    let name: String
    let arguments: [String]
    /// The flag that gave some of the arguments; nil: all are ours.
    let flag: String?

    /// `mock-apns`, beside our own executable.
    private func locate() throws(HarnessError) -> String {
        let own =
            (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? CommandLine.arguments[0]
        let path = URL(fileURLWithPath: own).deletingLastPathComponent().appendingPathComponent("mock-apns").path
        guard FileManager.default.isExecutableFile(atPath: path) else {
            throw HarnessError(
                "\(name) is missing: expected \(path); build it (swift build) or give --target", .failed)
        }
        return path
    }

    /// Starts it, calls `body` with it, stops it, and reads what it counted.
    ///
    /// - Parameters:
    ///   - ended: called when it ends before `body` does.
    /// - Returns: what `body` returned, and the last counts, nil when it died.
    func run<Result: Sendable>(
        ended: @escaping @Sendable () -> Void, _ body: @escaping @Sendable (Handle) async throws -> Result
    ) async throws -> (Result, Counts?) {
        let executable = try locate()
        let process: ChildProcess
        do { process = try ChildProcess(executable, arguments, hasInput: true) } catch {
            throw HarnessError("\(name) did not start: \(error)", .failed)
        }
        let starter = Task {
            try await Task.sleep(nanoseconds: Self.patienceAtStart)
            process.send(SIGKILL)
        }
        var lines = process.lines.makeAsyncIterator()
        guard let first = await lines.next(),
            let event = try? JSONDecoder().decode(Event.self, from: Data(first.utf8)), let url = event.url
        else {
            process.send(SIGKILL)
            _ = await process.end()
            starter.cancel()
            throw HarnessError(
                "\(name) did not start" + (flag.map { ": see \($0)" } ?? ""), flag == nil ? .failed : .usage)
        }
        starter.cancel()
        let said = Said()
        let handle = Handle(url: url, pid: process.pid, process: process, said: said)
        let work = Task { try await body(handle) }
        let stopper = Task {
            _ = await work.result
            said.isStopping.store(true, ordering: .relaxed)
            process.send(SIGTERM)
            // One that is frozen, or does not end for any other reason, must not hold up the result.
            try await Task.sleep(nanoseconds: Self.patience)
            process.send(SIGKILL)
        }
        var counts: Counts?
        while let line = await lines.next() {
            guard let read = try? JSONDecoder().decode(Counts.self, from: Data(line.utf8)) else { continue }
            // What it said while it was asked is not what it counted at its end.
            if said.isStopping.load(ordering: .relaxed) { counts = read }
            said.last.withLock { $0 = ($0.number + 1, read) }
        }
        said.isOver.store(true, ordering: .relaxed)
        _ = await process.end()
        ended()
        let result = await work.result
        stopper.cancel()
        return (try result.get(), counts)
    }
}
