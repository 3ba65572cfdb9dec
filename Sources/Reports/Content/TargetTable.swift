import Results

/// The table of a run's targets, where there are several.
enum TargetTable {
    /// Rows in a summary.
    static let mostShown = 20

    static let names = [
        "target", "opened", "lost", "attempts failed", "GOAWAYs", "accepted", "rejected", "failed", "at the end",
    ]

    /// Those first that were not there at the end.
    static func sorted(_ targets: [ResultDocument.Target]) -> [ResultDocument.Target] {
        targets.filter { !$0.reachedAtEnd } + targets.filter(\.reachedAtEnd)
    }

    /// - Parameter written: writes a count.
    static func cells(_ target: ResultDocument.Target, _ written: (UInt64) -> String) -> [String] {
        let connections = target.connections
        let counts = [
            connections.opened, connections.lost, connections.connectFailures, connections.goAways, target.accepted,
            target.rejected, target.failed,
        ]
        return [target.target] + counts.map(written) + [target.reachedAtEnd ? "reached" : "NOT REACHED"]
    }
}
