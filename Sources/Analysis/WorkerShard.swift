import Results

/// What one worker of a run brought home, or one of its attempts where it was taken up again.
package struct WorkerShard: Sendable {
    /// 0 ..< the run's workers.
    package var index: Int
    package var host: String
    /// `done` becomes `running` where the result is partial, and `saturated` where its generator was a limit.
    package var state: ResultDocument.Worker.State
    /// Which attempt it is of: from 1 on.
    package var attempt: Int
    /// Its own result: counts, times and series are of its own share, and count from its own start. Of a lost one it has what it
    /// had written last.
    package var result: ResultDocument
    /// From the run's common start to its own, seconds: 0 but for one that was late or taken up again.
    package var begun: Double
    /// As in `ResultDocument.Worker`.
    package var lateSeconds: Double?
    package var clockOffset: Int64?
    package var clockBound: UInt64?

    package init(
        index: Int, host: String, state: ResultDocument.Worker.State, attempt: Int = 1, result: ResultDocument,
        begun: Double = 0, lateSeconds: Double? = nil, clockOffset: Int64? = nil, clockBound: UInt64? = nil
    ) {
        self.index = index
        self.host = host
        self.state = state
        self.attempt = attempt
        self.result = result
        self.begun = begun
        self.lateSeconds = lateSeconds
        self.clockOffset = clockOffset
        self.clockBound = clockBound
    }

    /// `worker 3 (n1)`.
    var name: String { "worker \(index)" + (host.isEmpty ? "" : " (\(host))") }

    /// The state that its result tells.
    var ownState: ResultDocument.Worker.State {
        guard state == .done else { return state }
        return result.isPartial ? .running : result.generator.limited ? .saturated : .done
    }
}
