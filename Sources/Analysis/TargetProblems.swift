import Results
import Settings

/// Targets of several that were not there, a sentence each, and one for those beyond `most`.
enum TargetProblems {
    static let most = 8

    static func of(_ result: ResultDocument) -> [String] {
        let down = (result.targets ?? []).compactMap { problem($0, isInterrupted: result.run.interrupted) }
        guard down.count > most else { return down }
        return down.prefix(most) + [
            "and \(Units.grouped(UInt64(down.count - most))) more targets (targets in the result)"
        ]
    }

    private static func problem(_ target: ResultDocument.Target, isInterrupted: Bool) -> String? {
        let connections = target.connections
        if target.reachedAtEnd { return nil }
        let ends = connections.ends.keys.sorted().joined(separator: ", ")
        let why = ends.isEmpty ? "" : ": \(ends)"
        if connections.opened == 0 {
            // What was interrupted may not have come so far.
            return isInterrupted && connections.connectFailures == 0
                ? nil : "target \(target.target): no connection could be made\(why)"
        }
        return connections.lost == 0 && connections.goAways == 0
            ? "target \(target.target): not every worker could reach it, or was let send to it\(why)"
            : "target \(target.target): connections were lost and not made again before the end of the run\(why)"
    }
}
