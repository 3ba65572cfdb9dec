import Glibc
import Results

/// Where a run leaves what it has while it goes on: `latency.hlog`, to which each interval is added as it ends, and every few
/// seconds a partial `result.json`.
package struct RunOutput: Sendable {
    /// The run's own folder, which exists.
    let folder: String
    /// The run is a worker's part of one: its journal and ledger are kept there too, and what it has more often.
    let isShard: Bool
    /// Told what cannot be written, and what connections ran into, one line each; the run goes on.
    let warn: @Sendable (String) -> Void
    /// Told what the run is busy with when it sends no more, one line each.
    let tell: @Sendable (String) -> Void
    /// Names of a shard's files.
    package static let journal = "journal.json"
    package static let accepted = "accepted.ledger"
    package static let times = "times"

    /// Nobody else has taken the run up meanwhile: what is written is this process's to write.
    let isCurrent: @Sendable () -> Bool

    /// - Throws: when something that is no file stands there.
    static func checkPlain(_ path: String) throws(ResultError) {
        var facts = stat()
        guard lstat(path, &facts) == 0, facts.st_mode & S_IFMT != S_IFREG else { return }
        throw ResultError("cannot write \(path): it is no file")
    }

    package init(
        folder: String, isShard: Bool = false, isCurrent: @escaping @Sendable () -> Bool = { true },
        warn: @escaping @Sendable (String) -> Void,
        tell: @escaping @Sendable (String) -> Void = { _ in }
    ) {
        self.folder = folder
        self.isShard = isShard
        self.isCurrent = isCurrent
        self.warn = warn
        self.tell = tell
    }
}
