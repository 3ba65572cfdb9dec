import Results

/// What the workers of a run have of its targets, as one.
enum WorkerTargets {
    /// - Returns: those of the workers that know theirs, added up, and a sentence that says who does not; nil where none does.
    static func merge(_ rows: [WorkerRow]) -> (targets: [ResultDocument.Target]?, note: String?) {
        var known = rows.filter { $0.result.targets != nil }.map(\.part)
        guard !known.isEmpty else { return (nil, nil) }
        let tried = Set(known.flatMap { $0.result.targets ?? [] }.filter(wasTried).map(\.target))
        for index in known.indices {
            known[index].result.targets = known[index].result.targets?.map { target in
                // A worker with fewer connections than there are targets says nothing of the others.
                guard !wasTried(target), tried.contains(target.target) else { return target }
                var target = target
                target.reachedAtEnd = true
                return target
            }
        }
        let lacking = rows.filter { $0.result.targets == nil }
        return (
            TargetMerge.merge(known).targets,
            lacking.isEmpty ? nil : "figures by target are without \(WorkerRow.named(lacking.map(\.index)))"
        )
    }

    private static func wasTried(_ target: ResultDocument.Target) -> Bool {
        target.connections.opened > 0 || target.connections.connectFailures > 0 || !target.connections.ends.isEmpty
    }
}
