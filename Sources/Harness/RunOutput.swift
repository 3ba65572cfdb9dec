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
    /// Another process has taken this worker's part up: what is in the folder is that one's, and nothing more is written there.
    let isReplaced: @Sendable () -> Bool

    /// Names of a shard's files.
    package static let journal = "journal.json"
    package static let accepted = "accepted.ledger"
    package static let times = "times"

    package init(
        folder: String, isShard: Bool = false, warn: @escaping @Sendable (String) -> Void,
        tell: @escaping @Sendable (String) -> Void = { _ in }, isReplaced: @escaping @Sendable () -> Bool = { false }
    ) {
        self.folder = folder
        self.isShard = isShard
        self.warn = warn
        self.tell = tell
        self.isReplaced = isReplaced
    }
}
