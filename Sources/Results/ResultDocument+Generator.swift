extension ResultDocument {
    /// How the generator itself did: whether it, rather than the target, set the limit.
    public struct Generator: Codable, Sendable, Equatable {
        /// The generator was the limit, or close to it: the figures say more of it than of the target.
        package var limited = false
        /// Why, one sentence each.
        public var reasons: [String] = []
        /// How late pushes were sent as far as that is the generator's own fault: since they were due, or since the event loop
        /// last waited with nothing to do, whichever was later; open loop only.
        package var loopLag = Latency()
        /// Of each worker thread: CPU time, without `spin`, as a share of the run's time, the busiest first.
        package var workerLoad: [Double] = []
        /// Of the worker thread that had to wait for a core most: the share of the run's time in which it could have run and did
        /// not; nil where the kernel does not tell.
        @Nullable package var runQueueDelay: Double?
        /// Share of the worker threads' time spun away until pushes were due.
        package var spin = 0.0
        /// Share of the machine's CPU time that the hypervisor gave to others.
        package var steal = 0.0
        /// What the CPU limit of the container did; nil where there is none, or it cannot be read.
        @AddedLater package var cpuLimit: CPULimit?
        /// Of the pushes that overflowed, those that came due while a worker thread stood still or was busy.
        @AddedLater package var overflowed: UInt64?
        /// Where the workers' CPU time went.
        package var cpu = CPU()

        enum CodingKeys: String, CodingKey {
            case limited, reasons, spin, steal, overflowed
            case cpu = "cpu_ns_per_push"
            case cpuLimit = "cpu_limit"
            case loopLag = "loop_lag_ns"
            case workerLoad = "worker_load"
            case runQueueDelay = "run_queue_delay"
        }

        public init() {}

        /// Periods in which a container's CPU limit was counted, those in which it stopped threads, and for how long, seconds of all cores.
        package struct CPULimit: Codable, Sendable, Equatable {
            package var periods: UInt64
            package var throttled: UInt64
            package var seconds: Double

            package init(periods: UInt64, throttled: UInt64, seconds: Double) {
                (self.periods, self.throttled, self.seconds) = (periods, throttled, seconds)
            }
        }

        /// Nanoseconds of CPU time a push; together they are `cost.client_cpu_ns_per_push`.
        public struct CPU: Codable, Sendable, Equatable {
            public var encode: Double
            package var sign: Double
            package var tls: Double
            package var socket: Double
            /// Nothing but waiting for a push to be due.
            package var spin: Double
            package var other: Double

            package init(
                encode: Double = 0, sign: Double = 0, tls: Double = 0, socket: Double = 0, spin: Double = 0,
                other: Double = 0
            ) {
                self.encode = encode
                self.sign = sign
                self.tls = tls
                self.socket = socket
                self.spin = spin
                self.other = other
            }
        }
    }

    /// What was waited for at the end.
    public struct Cooldown: Codable, Sendable, Equatable {
        /// From the last push being taken to the last answer.
        public var seconds = 0.0
        /// Pushes open when the last one had been taken.
        public var pushes: UInt64 = 0

        public init() {}
    }

    /// Outcomes of one label of a breakdown.
    public struct Part: Codable, Sendable, Equatable {
        public var accepted: UInt64
        public var rejected: UInt64
        public var failed: UInt64
        public var notSent: UInt64
        /// Intended send time to answer.
        public var total: Latency

        enum CodingKeys: String, CodingKey {
            case accepted, rejected, failed
            case notSent = "not_sent"
            case total = "total_ns"
        }

        package init(accepted: UInt64, rejected: UInt64, failed: UInt64, notSent: UInt64 = 0, total: Latency) {
            self.accepted = accepted
            self.rejected = rejected
            self.failed = failed
            self.notSent = notSent
            self.total = total
        }
    }

    /// Pushes sent again after an answer or a loss (`--retry`); what was refused unprocessed is `pushes.retried`.
    public struct Retries: Codable, Sendable, Equatable {
        public var attempts: UInt64 = 0
        /// Pushes accepted after at least one.
        public var recovered: UInt64 = 0
        /// Pushes that had been sent again as often as allowed, or for which the budget was used up.
        public var exhausted: UInt64 = 0
        public var overBudget: UInt64 = 0

        enum CodingKeys: String, CodingKey {
            case attempts, recovered, exhausted
            case overBudget = "over_budget"
        }

        public init() {}

        package mutating func add(_ other: Retries) {
            attempts &+= other.attempts
            recovered &+= other.recovered
            exhausted &+= other.exhausted
            overBudget &+= other.overBudget
        }
    }

    /// What was left out of rate and latencies.
    public struct Warmup: Codable, Sendable, Equatable {
        /// From the start to the first push that was measured.
        public var seconds = 0.0
        /// Answered pushes that were not measured.
        public var answered: UInt64 = 0
        /// With `--warmup auto`: the figures had become steady; false: they had not after a quarter of the run.
        @Nullable package var steady: Bool?

        package init() {}
    }
}
