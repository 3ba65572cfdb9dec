import Foundation
import Measurement
import Settings

/// A condition on a run's figures, such as `p99 < 50ms`, `round_trip.p99.9 < 200ms`, `accepted >= 99.99%`,
/// `rate >= 0.95 * target`, `goodput > 20k`, `rss < 200MB`, `p99{stage=hold} < 80ms`.
public struct Threshold: Sendable, Equatable {
    public enum Comparison: String, Sendable, CaseIterable {
        // Longest first, so that <= is not read as <.
        case atMost = "<="
        case atLeast = ">="
        case equal = "=="
        case below = "<"
        case above = ">"

        public func holds(_ value: Double, _ limit: Double) -> Bool {
            switch self {
            case .atMost: value <= limit
            case .atLeast: value >= limit
            case .equal: value == limit
            case .below: value < limit
            case .above: value > limit
            }
        }
    }

    /// What is compared.
    public enum Metric: Sendable, Equatable {
        /// Nanoseconds; of a part when `part` is given, which only `total` has.
        case latency(stage: String, statistic: Statistic, part: Part?)
        /// Pushes, or their share of those planned.
        case count(String, isShare: Bool)
        /// Pushes a second, or their share of the target: what was offered.
        case rate(Rate, ofTarget: Bool)
        /// Peak memory, bytes: `rss` of the client, `mock_rss`.
        case memory(String)
        /// Client CPU a push, nanoseconds.
        case cpu
        /// Time for which pushes were due and no connection was open, nanoseconds.
        case noConnection
        /// Of what devices ask of their backend: the peak, requests a second; or a count of requests, or its share of all.
        case echo(String, isShare: Bool)
    }

    /// The four rates of a result, as conditions call them.
    public enum Rate: String, Sendable, CaseIterable {
        /// Answered pushes a second, whatever the answer.
        case answered = "rate"
        /// Accepted ones.
        case accepted = "goodput"
        /// Handed to the kernel, attempts counted.
        case sent = "sent_rate"
        /// Due; open loop only.
        case offered
    }

    public enum Statistic: Sendable, Equatable {
        case percentile(Double)
        case mean, min, max
    }

    public struct Part: Sendable, Equatable {
        public let dimension: String
        public let label: String
    }

    /// As it was written.
    public let text: String
    /// Its two sides without blanks: `total.p99`, `50ms`.
    package let name: String
    package let limitText: String
    public let metric: Metric
    public let comparison: Comparison
    public let limit: Double

    /// What devices ask of their backend: its latencies as a stage's, and its counts (`echo.peak < 50k`, `echo.failed == 0`).
    package static let echo = "echo"
    package static let echoCounts = ["peak", "requests", "answered", "failed", "given_up", "not_begun", "retries"]
    /// The figure `connections.no_connection` (`no_connection < 100ms`).
    static let noConnection = "no_connection"
    public static let stages = Stage.allCases.map(\.key) + [echo]
    public static let counts = [
        "accepted", "rejected", "failed", "not_sent", "retried", "lost", "duplicated", "overflowed",
    ]

    public init(parsing text: String) throws(SettingsError) {
        self.text = text
        // What stands in braces is a name as it is.
        var isName = false
        let plain = text.filter { character in
            if "{}".contains(character) { isName = character == "{" }
            return isName || character != " "
        }
        let open = plain.firstIndex(of: "{") ?? plain.endIndex
        let outside = [plain[..<open], plain[(plain[open...].firstIndex(of: "}") ?? open)...]]
        guard
            let found = outside.lazy.compactMap({ part in
                Comparison.allCases.compactMap { comparison in
                    part.range(of: comparison.rawValue).map { (comparison, $0) }
                }.min { ($0.1.lowerBound, -$0.0.rawValue.count) < ($1.1.lowerBound, -$1.0.rawValue.count) }
            }).first
        else {
            throw SettingsError("\"\(text)\": expected a comparison (<, <=, >, >=, ==), as in p99 < 50ms")
        }
        comparison = found.0
        let left = try Self.joined(String(plain[..<found.1.lowerBound]), text)
        let right = String(plain[found.1.upperBound...])
        guard let first = right.first else { throw SettingsError("\"\(text)\": nothing to compare with") }
        // At the beginning it belongs to the comparison, and in braces to a name.
        let further = right.prefix { $0 != "{" } + right.drop { $0 != "}" }
        guard Self.isOfComparison(first) || !further.contains(where: Self.isOfComparison) else {
            throw SettingsError("\"\(text)\": join conditions with &&, as in p99 < 50ms && rejected == 0")
        }
        (metric, limit) = try Self.read(left, right, text)
        (name, limitText) = (left, right)
    }

    private static func isOfComparison(_ character: Character) -> Bool { "<>=".contains(character) }

    /// `time_to_content p99` is `time_to_content.p99`.
    ///
    /// - Throws: when it is a statistic of no stage, or stands before its stage.
    private static func joined(_ left: String, _ text: String) throws(SettingsError) -> String {
        let words = text.prefix { !"<>={".contains($0) }.split(separator: " ").map(String.init)
        guard words.count > 1, left == words.joined() else { return left }
        if words.count == 2, stages.contains(words[0]) { return words.joined(separator: ".") }
        let name: String
        let statistic: String
        if isStatistic(words[words.count - 1]), !words[words.count - 2].contains(".") {
            name = words.dropLast().joined(separator: " ")
            statistic = words[words.count - 1]
        } else if isStatistic(words[0]), words[1].first?.isLetter == true {
            name = words.dropFirst().joined(separator: " ")
            statistic = words[0]
            if stages.contains(name) {
                throw SettingsError("\"\(text)\": the stage stands first; did you mean \"\(name) \(statistic)\"?")
            }
        } else {
            return left
        }
        throw SettingsError("\"\(text)\": \"\(name)\" is not a stage" + NearestName.hint(name, among: stages))
    }

    private static func isStatistic(_ word: String) -> Bool {
        ["mean", "min", "max"].contains(word) || word.hasPrefix("p") && Double(word.dropFirst()) != nil
    }

    /// Several, joined by `&&`.
    public static func list(parsing text: String) throws(SettingsError) -> [Threshold] {
        var list: [Threshold] = []
        let parts = conditions(text)
        guard parts.count == 1 || !parts.contains("") else {
            throw SettingsError(
                "\"\(text)\": expected a condition on either side of &&, as in p99 < 50ms && rejected == 0")
        }
        for part in parts { list.append(try Threshold(parsing: part)) }
        return list
    }

    /// What stands between `&&`, but for those in braces.
    private static func conditions(_ text: String) -> [String] {
        var parts: [String] = []
        var isOpen = false
        for piece in text.components(separatedBy: "&&") {
            if isOpen { parts[parts.count - 1] += "&&" + piece } else { parts.append(piece) }
            if let brace = piece.last(where: { "{}".contains($0) }) { isOpen = brace == "{" }
        }
        return parts.map { $0.trimmingCharacters(in: .whitespaces) }
    }

    /// It can be seen to be crossed before the run is over; see `abort_on_fail`.
    package var isJudgedEarly: Bool {
        switch metric {
        case .latency, .rate: isJudgedInWindow
        case .count(let name, _):
            ["failed", "rejected"].contains(name) && [.below, .atMost, .equal].contains(comparison)
        case .memory, .cpu, .noConnection, .echo: false
        }
    }

    /// Likewise, by what the last seconds of the run were like.
    package var isJudgedInWindow: Bool {
        switch metric {
        case .latency(let stage, _, let part): stage == "total" && part == nil
        case .rate(let rate, _): rate != .offered && [.above, .atLeast].contains(comparison)
        case .count, .memory, .cpu, .noConnection, .echo: false
        }
    }

    /// The more a server has to do, the sooner it holds: a figure that load makes larger is to be large.
    public var isHelpedByLoad: Bool {
        guard [.above, .atLeast].contains(comparison) else { return false }
        return switch metric {
        case .latency, .memory: true
        case .count(let name, _): name != "accepted"
        case .rate(_, let ofTarget): !ofTarget
        case .cpu, .noConnection: false
        case .echo(let name, _): name != "answered"
        }
    }

    private static func read(_ left: String, _ right: String, _ text: String) throws(SettingsError) -> (Metric, Double)
    {
        func wrapped<Value>(_ read: (String) throws(Units.ParseError) -> Value) throws(SettingsError) -> Value {
            do throws(Units.ParseError) { return try read(right) } catch {
                throw SettingsError("\"\(text)\": \(error)")
            }
        }
        if counts.contains(left) {
            if right.hasSuffix("%") { return (.count(left, isShare: true), try wrapped(Units.share)) }
            return (.count(left, isShare: false), Double(try wrapped(Units.count)))
        }
        if let rate = Rate(rawValue: left) {
            guard right.hasSuffix("*target") else { return (.rate(rate, ofTarget: false), try wrapped(Units.rate)) }
            guard rate != .offered else {
                throw SettingsError("\"\(text)\": the target is what is offered; expected a rate, as in offered >= 20k")
            }
            let factor = String(right.dropLast("*target".count))
            guard let share = factor.hasSuffix("%") ? try? Units.share(factor) : Double(factor), share > 0 else {
                throw SettingsError(
                    "\"\(text)\": expected a number before * target, as in \(left) >= 0.95 * target")
            }
            return (.rate(rate, ofTarget: true), share)
        }
        if left.hasPrefix(echo + "."), case let name = String(left.dropFirst(echo.count + 1)), echoCounts.contains(name)
        {
            if name == "peak" { return (.echo(name, isShare: false), try wrapped(Units.rate)) }
            if right.hasSuffix("%") { return (.echo(name, isShare: true), try wrapped(Units.share)) }
            return (.echo(name, isShare: false), Double(try wrapped(Units.count)))
        }
        switch left {
        case "rss", "mock_rss": return (.memory(left), Double(try wrapped(Units.bytes)))
        case "cpu" where right.hasSuffix("%"):
            throw SettingsError("\"\(text)\": cpu is CPU time a push, as in cpu < 2us")
        case "cpu": return (.cpu, Double(try wrapped(Units.duration)))
        case noConnection: return (.noConnection, Double(try wrapped(Units.duration)))
        default: return (try latency(left, text), Double(try wrapped(Units.duration)))
        }
    }

    /// A percentile that is only without its point gets it: `p999` is p99.9.
    private static func hint(_ name: Substring, among known: [String]) -> String {
        let digits = name.dropFirst()
        guard name.hasPrefix("p99"), digits.count > 2, digits.allSatisfy({ "0"..."9" ~= $0 }) else {
            return NearestName.hint(String(name), among: known)
        }
        return "; did you mean \"p99.\(digits.dropFirst(2))\"?"
    }

    /// `p99`, `round_trip.p99.9`, `total.max`, `p99{stage=hold}`.
    private static func latency(_ left: String, _ text: String) throws(SettingsError) -> Metric {
        var name = Substring(left)
        var part: Part?
        if let brace = name.firstIndex(of: "{") {
            let inside = name[name.index(after: brace)...].dropLast()
            let words = inside.split(separator: "=", maxSplits: 1).map { $0.trimmingCharacters(in: .whitespaces) }
            guard name.hasSuffix("}"), words.count == 2, !words.contains("") else {
                throw SettingsError("\"\(text)\": expected a part in braces, as in p99{stage=hold}")
            }
            part = Part(dimension: words[0], label: words[1])
            name = name[..<brace]
        }
        var stage = "total"
        if let point = name.firstIndex(of: "."), !name.hasPrefix("p") || stages.contains(String(name[..<point])) {
            stage = String(name[..<point])
            name = name[name.index(after: point)...]
        }
        guard stages.contains(stage) else {
            throw SettingsError("\"\(text)\": \"\(stage)\" is not a stage" + NearestName.hint(stage, among: stages))
        }
        if name == Substring(left), stages.contains(left) {
            throw SettingsError(
                "\"\(text)\": a statistic of \(left) is missing; expected for example \(left) p99"
                    + (left == echo ? ", or echo.peak" : ""))
        }
        guard part == nil || stage == "total" else {
            throw SettingsError("\"\(text)\": only total is kept apart by \(part?.dimension ?? "")")
        }
        let statistic: Statistic
        switch name {
        case "mean": statistic = .mean
        case "min": statistic = .min
        case "max": statistic = .max
        default:
            guard name.hasPrefix("p"), let percentile = Double(name.dropFirst()), percentile > 0, percentile <= 100
            else {
                let known =
                    ["p50", "p99", "p99.9", "mean", "min", "max"]
                    + (stage == echo
                        ? echoCounts
                        : ["rss", "mock_rss", "cpu", noConnection] + Rate.allCases.map(\.rawValue) + counts)
                if known.contains(String(name)) {
                    throw SettingsError(
                        "\"\(text)\": \"\(name)\" is of the whole run; a stage or part has latencies only, such as p99")
                }
                if name == Substring(left), NearestName.of(left, among: known) == nil,
                    let near = NearestName.of(left, among: stages)
                {
                    throw SettingsError("\"\(text)\": \"\(name)\" is not a figure; did you mean \"\(near) p99\"?")
                }
                throw SettingsError("\"\(text)\": \"\(name)\" is not a figure" + hint(name, among: known))
            }
            statistic = .percentile(percentile)
        }
        return .latency(stage: stage, statistic: statistic, part: part)
    }
}
