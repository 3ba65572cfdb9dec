import Foundation
import Testing

/// Two mocks with the same credentials, which write their ledgers and times when they end.
final class MockPair {
    let folder: OutputFolder
    let urls: [String]
    private var running: [Running] = []
    var credentials: String { folder.path + "/credentials" }
    var ledgers: [String] { [0, 1].map { "\(folder.path)/mock-\($0).ledger" } }
    private var times: [String] { [0, 1].map { "\(folder.path)/mock-\($0).times" } }

    /// - Parameters:
    ///   - host: the address they listen on, by which clients call them.
    ///   - launcher: a command and its arguments that start them, such as `ip netns exec …`.
    init(host: String = "127.0.0.1", launcher: [String] = []) throws {
        folder = try OutputFolder.made()
        var urls: [String] = []
        for index in 0..<2 {
            let command =
                launcher + [
                    Programs.path("mock-apns"), "--host", host, "--port", "0", "--credentials",
                    folder.path + "/credentials", "--ledger-out", "\(folder.path)/mock-\(index).ledger",
                    "--times-out", "\(folder.path)/mock-\(index).times",
                ]
            let mock = try Running(command[0], Array(command[1...]))
            try mock.waitFor("listening on ")
            urls.append(String(try #require(mock.text.split { $0.isWhitespace }.first { $0.hasPrefix("https://") })))
            running.append(mock)
        }
        self.urls = urls
    }

    /// Flags of a client of both.
    var targets: [String] { urls.flatMap { ["--target", $0] } + ["--credentials", credentials] }

    /// Ends both, so that their ledgers are there.
    func stop() throws {
        for mock in running { kill(mock.process.processIdentifier, SIGTERM) }
        for mock in running {
            let finished = try mock.wait()
            try #require(finished.status == 0, "\(finished)")
        }
    }

    /// Merges a run's folder with what the mocks wrote.
    func merge(_ rendezvous: String) throws -> Finished {
        try Programs.run("pushload", ["merge", rendezvous, "--ledger"] + ledgers + ["--times"] + times)
    }
}
