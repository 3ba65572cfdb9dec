import Results

extension PlanDocument {
    /// What the devices of a fan-out ask of their backend, expected values. Intervals hold what the sample of devices may be off by,
    /// 95 %. Times in nanoseconds.
    struct Echo: Codable, Sendable, Equatable {
        /// `on`, or a file.
        var deviceModel: String
        /// When the first push is sent, nanoseconds since midnight UTC.
        var timeOfDay: UInt64
        var seed: UInt64
        /// Devices that were simulated, and the requests they made.
        var sampledDevices: Int
        var sampledRequests: Int
        /// Over which the pushes are sent, at equal distances.
        var spread: Double
        /// Until 30 days after each push.
        var requests: Figure
        /// Of these, more than an hour after their push.
        var laterThanHour: Figure
        /// The most within a second, and when that second begins after the first push.
        var peak: Figure
        var peakAfter: Double
        /// While pushes are sent.
        var mean: Double
        /// By `fetch`, `rich`, `attachment` and `action`; those that there are.
        var byKind: [String: Kind]
        /// Requests of a push until so long after it.
        var response: [Response]
        /// Requests until so long after the first push, up to three times `spread`.
        var wave: [Wave]
        /// From a request to its answer: the mean; 0: at once.
        var backendTime: Double
        /// Requests that wait for an answer at the same time, at most; nil when they are answered at once.
        @Nullable var open: Figure?
        /// Of an answer to a fetch or a download, bytes; nil: not said.
        @Nullable var body: Double?
        /// Of such answers, bytes a second in the busiest second.
        @Nullable var bandwidth: Double?
        var goals: [EchoGoal]

        enum CodingKeys: String, CodingKey {
            case seed, requests, response, wave, goals
            case deviceModel = "device_model"
            case timeOfDay = "time_of_day_ns"
            case sampledDevices = "sampled_devices"
            case sampledRequests = "sampled_requests"
            case spread = "spread_ns"
            case laterThanHour = "later_than_hour"
            case peak = "peak_per_second"
            case peakAfter = "peak_after_ns"
            case mean = "mean_per_second"
            case byKind = "by_kind"
            case backendTime = "backend_time_ns"
            case open = "open_at_once"
            case body = "body_bytes"
            case bandwidth = "peak_body_bytes_per_second"
        }

        struct Kind: Codable, Sendable, Equatable {
            var requests: Figure
            /// From the push to the request: half and 99 % of them come within so long.
            var half: Double
            var most: Double

            enum CodingKeys: String, CodingKey {
                case requests
                case half = "p50_ns"
                case most = "p99_ns"
            }
        }

        struct Response: Codable, Sendable, Equatable {
            var within: Double
            var perPush: Double

            enum CodingKeys: String, CodingKey {
                case within = "within_ns"
                case perPush = "per_push"
            }
        }

        struct Wave: Codable, Sendable, Equatable {
            var at: Double
            var requests: Double

            enum CodingKeys: String, CodingKey {
                case requests
                case at = "at_ns"
            }
        }

        /// A limit of the peak.
        struct EchoGoal: Codable, Sendable, Equatable {
            var text: String
            var held: Bool
            /// What the peak is below the limit, as a share of it; nil where the goal is missed.
            @Nullable var headroom: Double?
            /// Where it is missed: the shortest time from the first connection to the last answer that keeps it, and its pushes a
            /// second; nil where none up to ten years does.
            @Nullable var shortest: Double?
            @Nullable var perSecond: Double?

            enum CodingKeys: String, CodingKey {
                case text, held, headroom
                case shortest = "shortest_ns"
                case perSecond = "per_second"
            }
        }
    }
}
