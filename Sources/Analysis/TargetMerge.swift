import Results

/// What several results have of targets, as one: those of the same name are added up.
enum TargetMerge {
    /// - Returns: the targets, in the order in which they are met, nil where a part did not keep its own apart; and a sentence
    ///   that says so.
    static func merge(
        _ results: [(name: String, result: ResultDocument)]
    ) -> (targets: [ResultDocument.Target]?, note: String?) {
        let lacking = results.filter { $0.result.targets == nil }
        guard lacking.isEmpty else {
            if lacking.count == results.count { return (nil, nil) }
            let names = lacking.map(\.name).joined(separator: ", ")
            return (nil, "no figures by target: \(names) did not keep them apart")
        }
        var targets: [ResultDocument.Target] = []
        var places: [String: Int] = [:]
        for target in results.flatMap({ $0.result.targets ?? [] }) {
            if let place = places[target.target] {
                add(target, to: &targets[place])
            } else {
                places[target.target] = targets.count
                targets.append(target)
            }
        }
        return (targets, nil)
    }

    private static func add(_ other: ResultDocument.Target, to target: inout ResultDocument.Target) {
        target.accepted &+= other.accepted
        target.rejected &+= other.rejected
        target.failed &+= other.failed
        target.reachedAtEnd = target.reachedAtEnd && other.reachedAtEnd
        target.connections.opened &+= other.connections.opened
        target.connections.lost &+= other.connections.lost
        target.connections.connectFailures &+= other.connections.connectFailures
        target.connections.goAways &+= other.connections.goAways
        target.connections.reconnects &+= other.connections.reconnects
        target.connections.ends.merge(other.connections.ends, uniquingKeysWith: &+)
    }
}
