import Measurement

extension ResultDocument {
    /// One send of a run to registrations: who it was for, and when they had it.
    public struct Send: Codable, Sendable, Equatable {
        public var name: String
        /// The tag expression.
        public var audience: String
        /// Different device tokens in the audience.
        public var devices: UInt64
        /// Pushes planned: one a registration of the audience, where nothing else was asked for.
        public var pushes: UInt64
        public var accepted: UInt64
        public var rejected: UInt64
        /// Begun, and not answered.
        public var failed: UInt64
        /// Never begun.
        public var notSent: UInt64
        /// After the run's start, seconds.
        public var start: Double
        /// From the send's start, seconds.
        public var fanOut: FanOut
        /// Of which registrations the audience is, 16 hexadecimal digits: the same where these are the same ones of the same file,
        /// wherever it lies. nil: merged of several audiences, and in results of older versions.
        @AddedLater public var fingerprint: String?

        enum CodingKeys: String, CodingKey {
            case name, audience, devices, pushes, accepted, rejected, failed, fingerprint
            case notSent = "not_sent"
            case start = "start_seconds"
            case fanOut = "fan_out_seconds"
        }

        package init(
            name: String, audience: String, devices: UInt64, fingerprint: String? = nil, pushes: UInt64, start: Double
        ) {
            self.name = name
            self.audience = audience
            self.devices = devices
            self.fingerprint = fingerprint
            self.pushes = pushes
            self.start = start
            (accepted, rejected, failed, notSent) = (0, 0, 0, 0)
            fanOut = FanOut(LatencyHistogram(), of: pushes)
        }
    }

    /// When an audience had its pushes, seconds from the send's start; null where it never came so far.
    public struct FanOut: Codable, Sendable, Equatable {
        /// The first and the last accepted answer.
        @Nullable public var first: Double?
        @Nullable public var last: Double?
        /// When 50, 99 and 100 % of the pushes planned had been accepted.
        @Nullable public var p50: Double?
        @Nullable public var p99: Double?
        @Nullable public var max: Double?

        /// - Parameters:
        ///   - times: from the send's start to each accepted answer, µs.
        ///   - pushes: planned.
        package init(_ times: LatencyHistogram, of pushes: UInt64) {
            let summary = times.summary
            func seconds(_ time: UInt64) -> Double? { times.count > 0 ? Self.seconds(time) : nil }
            first = seconds(summary.min)
            last = seconds(summary.max)
            func reached(_ share: Double) -> Double? {
                let rank = Swift.max(1, (share * Double(pushes)).rounded(.up))
                guard times.count > 0, Double(times.count) >= rank else { return nil }
                return seconds(Swift.min(times.value(atPercentile: 100 * rank / Double(times.count)), summary.max))
            }
            p50 = reached(0.5)
            p99 = reached(0.99)
            max = reached(1)
        }

        /// A value of such a histogram. They count microseconds, up to 1,000 hours: an hour of nanoseconds, as latencies have
        /// them, is shorter than runs are.
        package static func seconds(_ time: UInt64) -> Double { Double(time) / 1e6 }
    }

    /// Under which the times of a send's accepted answers are among `histograms`, from the send's start, in microseconds.
    package static func fanOutKey(_ send: String) -> String { "fan_out_us{send=\(send)}" }

    /// The send that all figures of the run are of, as it has no other: it is not kept apart.
    package var onlySend: Send? {
        guard let sends, sends.count == 1, sends[0].pushes == pushes.planned else { return nil }
        return sends[0]
    }
}
