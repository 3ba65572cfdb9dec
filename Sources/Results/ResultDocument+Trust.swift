extension ResultDocument {
    /// Whether the figures may be believed: what the run's own blocks say of them, and how the generator kept its schedule.
    public struct Trust: Codable, Sendable, Equatable {
        /// What does not hold, one sentence each; empty: nothing speaks against the figures.
        public var doubts: [String] = []
        /// Of `latency_ns.total`, by the names of its figures: `p50`, `p90`, `p99`, `p99_9`; empty where nothing was measured.
        public var figures: [String: Figure] = [:]
        /// nil: a closed loop, or too few pushes.
        @Nullable public var arrivals: Arrivals?
        /// nil: nobody asked for a precision.
        @Nullable public var until: Until?

        public init() {}

        package subscript(figure: LatencyFigure) -> Figure? { figures[figure.rawValue] }
    }

    /// What one percentile is like over the blocks of a run.
    public struct TrustedFigure: Codable, Sendable, Equatable {
        /// Ends of the 95 % confidence interval, nanoseconds; nil: there is none.
        @Nullable public var low: UInt64?
        @Nullable public var high: UInt64?
        /// Why there is none: `few_blocks`, `few_pushes`, `unanswered`, `not_steady` or `not_independent`; nil: there is one.
        @Nullable public var without: String?
        /// With `few_pushes`: how many are enough.
        @Nullable public var needed: UInt64?
        /// The figure did not change in the run; nil: too few blocks to tell.
        @Nullable public var steady: Bool?
        /// How it changed; nil: it did not.
        @Nullable public var shift: Shift?
        /// Blocks are slow and fast by turns; nil: they are not, or too few to tell.
        @AddedLater public var swing: Swing?
        /// Blocks do not resemble their neighbours; nil: too few to tell.
        @Nullable public var independent: Bool?
        /// What was judged.
        public var blocks: Int
        public var blockSeconds: Double
        @Nullable public var correlation: Double?
        @Nullable public var correlationP: Double?
        @Nullable public var trendP: Double?

        enum CodingKeys: String, CodingKey {
            case without, needed, steady, shift, swing, independent, blocks, correlation
            case low = "low_ns"
            case high = "high_ns"
            case blockSeconds = "block_seconds"
            case correlationP = "correlation_p"
            case trendP = "trend_p"
        }

        package init(blocks: Int, blockSeconds: Double) {
            self.blocks = blocks
            self.blockSeconds = blockSeconds
        }

        /// The figure of the faster half of the blocks and of the slower one.
        public struct Swing: Codable, Sendable, Equatable {
            public var fast: UInt64
            public var slow: UInt64

            enum CodingKeys: String, CodingKey {
                case fast = "fast_ns"
                case slow = "slow_ns"
            }

            package init(fast: UInt64, slow: UInt64) { (self.fast, self.slow) = (fast, slow) }
        }

        /// A figure that was another one before than after.
        public struct Shift: Codable, Sendable, Equatable {
            /// Seconds since the start; nil: little by little, from the first third of the blocks to the last one.
            @Nullable public var at: Double?
            public var before: UInt64
            public var after: UInt64

            enum CodingKeys: String, CodingKey {
                case at = "at_seconds"
                case before = "before_ns"
                case after = "after_ns"
            }

            package init(at: Double?, before: UInt64, after: UInt64) {
                (self.at, self.before, self.after) = (at, before, after)
            }
        }
    }

    /// What a run was to go on for.
    public struct TrustedUntil: Codable, Sendable, Equatable {
        /// As it was asked for: `p99 +- 2 %`.
        public var asked: String
        public var reached: Bool
        /// Half of the interval's width as a share of the figure; nil: there was no interval.
        @Nullable public var halfWidth: Double?
        /// How long was measured, seconds.
        public var seconds: Double
        /// Why not: `generator`, `machine`, `not_steady`, `not_independent`, `unanswered`, `time` or `interrupted`; nil: it was reached.
        @Nullable public var obstacle: String?
        /// With `time`: how long would be enough, seconds; nil: not known.
        @Nullable public var neededSeconds: Double?

        enum CodingKeys: String, CodingKey {
            case asked, reached, seconds, obstacle
            case halfWidth = "half_width"
            case neededSeconds = "needed_seconds"
        }

        package init(asked: String, reached: Bool, seconds: Double) {
            (self.asked, self.reached, self.seconds) = (asked, reached, seconds)
        }
    }

    /// The times at which pushes were begun, held against those that the schedule asks for.
    public struct TrustedArrivals: Codable, Sendable, Equatable {
        /// What was asked for: `poisson` or `constant`.
        public var process: String
        /// They are what was asked for.
        public var kept: Bool
        /// Stretches of rounds of a worker's event loop that were looked at, pushes one began and seconds it lasted, on average.
        public var gaps: Int
        public var gapPushes: Int
        public var gapSeconds: Double
        /// Poisson: the Anderson–Darling statistic of the numbers begun against what was drawn, and the chance of one as large.
        @Nullable public var andersonDarling: Double?
        @Nullable public var p: Double?
        /// Constant: the 95th percentile of how far numbers were from what was asked for, as a share of it.
        @Nullable public var deviation: Double?

        enum CodingKeys: String, CodingKey {
            case process, kept, gaps, deviation
            case p
            case gapPushes = "gap_pushes"
            case gapSeconds = "gap_seconds"
            case andersonDarling = "anderson_darling"
        }

        package init(process: String, kept: Bool, gaps: Int, gapPushes: Int, gapSeconds: Double) {
            (self.process, self.kept) = (process, kept)
            (self.gaps, self.gapPushes, self.gapSeconds) = (gaps, gapPushes, gapSeconds)
        }
    }
}

extension ResultDocument.Trust {
    public typealias Figure = ResultDocument.TrustedFigure
    public typealias Until = ResultDocument.TrustedUntil
    public typealias Arrivals = ResultDocument.TrustedArrivals
}

extension ResultDocument {
    /// How long a run of such pushes is to be measured for intervals of its figures, seconds; nil: it was long enough, or does not tell.
    package var enoughSeconds: Double? {
        guard let trust else { return nil }
        let figures = LatencyFigure.allCases.compactMap { figure in trust[figure].map { (figure: figure, trusted: $0) }
        }
        guard !figures.isEmpty, figures.allSatisfy({ $0.trusted.without == "few_blocks" }) else { return nil }
        // Ten blocks in which pushes end: these come one by one, or all together as often as they take. The first ones are not judged.
        let slowest = Double(figures.map { latency[.total].value($0.figure) }.max() ?? 0) / 1e9
        let block = max(
            0.05, slowest, figures.map(\.trusted.blockSeconds).max() ?? 0,
            throughput.answered > 0 ? 1 / throughput.answered : 0)
        return slowest + 10 * block
    }
}
