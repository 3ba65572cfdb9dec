import Settings

/// A part of an open-loop run: how the rate goes, for how long or for how many pushes.
public struct LoadStage: Sendable, Equatable, Codable {
    public enum Shape: Sendable, Equatable, Codable {
        /// Pushes a second.
        case hold(rate: Double)
        /// From one rate to another, evenly.
        case ramp(from: Double, to: Double)
        /// Around a mean, by at most `amplitude`, one wave every `period` nanoseconds, beginning upwards.
        case sine(mean: Double, amplitude: Double, period: UInt64)
        /// So many at once, at the stage's beginning.
        case burst(pushes: UInt64)
        case pause
    }

    public var name: String
    public var shape: Shape
    /// Nanoseconds; of a burst, until the next stage begins.
    public var duration: UInt64?
    /// Ends the stage when reached before the duration.
    public var pushes: UInt64?

    public init(name: String, shape: Shape, duration: UInt64? = nil, pushes: UInt64? = nil) {
        self.name = name
        self.shape = shape
        self.duration = duration
        self.pushes = pushes
    }

    /// What is wrong with it; nil when it can be run.
    public var problem: String? {
        func isRate(_ rate: Double) -> Bool { rate >= 0 && rate <= 1e9 }
        switch shape {
        case .hold(let rate):
            if rate <= 0 || !isRate(rate) {
                return "rate \(rate): expected more than 0 and at most 1000000000 pushes/s"
            }
            if duration == nil, pushes == nil { return "a hold needs a duration (for) or a number of pushes" }
        case .ramp(let from, let to):
            if !isRate(from) || !isRate(to) || from + to <= 0 {
                return "ramp from \(from) to \(to): expected rates from 0 to 1000000000 pushes/s, not both 0"
            }
            if duration == nil { return "a ramp needs a duration (for)" }
        case .sine(let mean, let amplitude, let period):
            if mean <= 0 || !isRate(mean) || amplitude < 0 || amplitude > mean {
                return
                    "sine of mean \(mean) and amplitude \(amplitude): expected a mean above 0 and an amplitude from 0 to it"
            }
            if period == 0 { return "a sine needs a period above 0" }
            if duration == nil { return "a sine needs a duration (for)" }
        case .burst(let pushes):
            if pushes == 0 { return "a burst of 0 pushes: expected at least 1" }
        case .pause:
            if duration == nil { return "a pause needs a duration (for)" }
        }
        if duration == 0, !isBurst { return "duration 0: expected more than 0" }
        if pushes == 0 { return "pushes 0: expected at least 1" }
        return nil
    }

    private var isBurst: Bool { if case .burst = shape { true } else { false } }

    /// Names of stages as breakdowns have them: one that comes again gets a number (hold, hold 2).
    public static func told(apart names: [String]) -> [String] {
        var seen: [String: Int] = [:]
        return names.map { name in
            seen[name, default: 0] += 1
            return seen[name]! == 1 ? name : "\(name) \(seen[name]!)"
        }
    }
}

/// How pushes are spread around the stages' rates.
public enum Arrivals: Sendable, Equatable, Codable {
    /// Evenly.
    case constant
    /// As independent events are: gaps of an exponential distribution.
    case poisson
    /// Each late by a random part of this share (0 to 1) of the gap to the next.
    case jitter(share: Double)

    /// `constant`, `poisson`, `jitter` or `jitter:50%`.
    public init(parsing text: String) throws(SettingsError) {
        let parts = text.split(separator: ":", maxSplits: 1).map(String.init)
        switch (parts.first ?? "", parts.count) {
        case ("constant", 1): self = .constant
        case ("poisson", 1): self = .poisson
        case ("jitter", 1): self = .jitter(share: 1)
        case ("jitter", 2):
            do throws(Units.ParseError) { self = .jitter(share: try Units.share(parts[1])) } catch {
                throw SettingsError(error.description)
            }
        default: throw SettingsError("\"\(text)\" are no arrivals; expected constant, poisson, jitter or jitter:50%")
        }
    }

    public var description: String {
        switch self {
        case .constant: "constant"
        case .poisson: "poisson"
        case .jitter(let share): "jitter:\(Units.fixed(share * 100, places: 0))%"
        }
    }
}
