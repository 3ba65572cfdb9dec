extension ResultDocument {
    /// What one worker did of a run of several, and how it fared: a worker is a process with its share of pushes and connections.
    public struct Worker: Codable, Sendable, Equatable {
        public enum State: String, Codable, Sendable, CaseIterable {
            /// Its own result never became final: what it had written last is in the figures, and what it had not written of is not
            /// accepted.
            case lost
            /// It began after the common start.
            case late
            /// Its generator was a limit (`generator.limited`).
            case saturated
            /// Only in a partial result: its own result is not final yet.
            case running
            case done
        }

        /// 0 ..< the run's workers.
        public var index: Int
        public var host: String
        public var state: State
        /// Planned: its share of the run.
        public var pushes: UInt64
        public var accepted: UInt64
        public var rejected: UInt64
        /// Begun, and not answered.
        public var failed: UInt64
        /// Never begun.
        public var notSent: UInt64
        /// Over its own window, pushes a second.
        public var answeredPerSecond: Double
        /// Of `total`, ns; where that is censored, what it exceeds; of a worker taken up again the largest of its parts'. nil where
        /// nothing was answered.
        @Nullable public var p99: UInt64?
        /// How often it was begun: 1, and one more each time that it was taken up again.
        public var attempts: Int
        /// After the common start, seconds; nil where it is not known, or it was in time.
        @Nullable public var lateSeconds: Double?
        /// What is to be added to its machine's wall clock to have that of the worker that gave the start, and how far that may be wrong
        /// either way, ns; nil where nobody measured it.
        @Nullable public var clockOffset: Int64?
        @Nullable public var clockBound: UInt64?

        enum CodingKeys: String, CodingKey {
            case index, host, state, pushes, accepted, rejected, failed, attempts
            case notSent = "not_sent"
            case answeredPerSecond = "answered_per_second"
            case p99 = "p99_ns"
            case lateSeconds = "late_seconds"
            case clockOffset = "clock_offset_ns"
            case clockBound = "clock_bound_ns"
        }

        package init(
            index: Int, host: String, state: State, attempts: Int = 1, pushes: Pushes = Pushes(),
            answeredPerSecond: Double = 0, p99: UInt64? = nil, lateSeconds: Double? = nil, clockOffset: Int64? = nil,
            clockBound: UInt64? = nil
        ) {
            self.index = index
            self.host = host
            self.state = state
            self.attempts = attempts
            self.pushes = pushes.planned
            (accepted, rejected) = (pushes.accepted, pushes.rejected)
            (failed, notSent) = (pushes.failed, pushes.notSent)
            self.answeredPerSecond = answeredPerSecond
            self.p99 = p99
            self.lateSeconds = lateSeconds
            self.clockOffset = clockOffset
            self.clockBound = clockBound
        }

        /// Pushes that ended and were not accepted.
        package var errors: UInt64 { rejected &+ failed &+ notSent }
    }
}

extension [ResultDocument.Worker] {
    /// Those first that want a look: lost, late, saturated, then the others; among these the slowest first, by p99.
    package var worstFirst: [ResultDocument.Worker] {
        let ranks = Dictionary(uniqueKeysWithValues: zip(ResultDocument.Worker.State.allCases, 0...))
        func key(_ worker: ResultDocument.Worker) -> (Int, UInt64, Int) {
            (ranks[worker.state] ?? 0, .max - (worker.p99 ?? 0), worker.index)
        }
        return sorted { key($0) < key($1) }
    }
}
