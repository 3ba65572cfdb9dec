import Faults
import HTTP2
import Payloads
import Settings

/// Reads a fault plan from YAML (README, "The fault file").
public enum FaultFile {
    public static func read(_ path: String) throws(SettingsError) -> FaultPlan {
        try parse(try FileContents.text(path, "fault file", limit: 16 << 20, orPipe: true), file: path)
    }

    /// A plan that names no seed is given one of its own.
    ///
    /// - Throws: `file:line:column: …`
    public static func parse(_ text: String, file: String) throws(SettingsError) -> FaultPlan {
        try parse(try YAMLValue(parsing: text, file: file))
    }

    /// - Parameter bundleID: of the only app whose requests come to these rules; nil: any may.
    static func parse(_ value: YAMLValue, bundleID: String? = nil) throws(SettingsError) -> FaultPlan {
        var plan = FaultPlan()
        var map = try value.map()
        plan.seed = try map.take("seed")?.count() ?? FaultPlan.drawnSeed()
        if let link = map.take("link") { plan.link = try Self.link(link) }
        if let connections = map.take("connections") { plan.connections = try Self.connections(connections) }
        if let rules = map.take("rules") {
            let list = try rules.list()
            guard list.count <= FaultPlan.mostRules else {
                throw rules.error("\(list.count) rules; expected at most \(FaultPlan.mostRules)")
            }
            // The rules that leave later ones no request of a kind.
            var decided: [FaultRule.Request: Int] = [:]
            for item in list {
                let rule = try Self.rule(item)
                if let bundleID, let topics = rule.match.topics, !topics.contains(where: { isTopic($0, of: bundleID) })
                {
                    throw item.error("\"topic\": no request of namespace \(bundleID) has such a topic")
                }
                let earlier = rule.match.kinds.map { decided[$0] }
                if !earlier.contains(nil), let earlier = earlier.compactMap({ $0 }).max() {
                    throw item.error(
                        "it is for no request: rules[\(earlier)] decides about all of that kind; put that one last, or give it a \"share\""
                    )
                }
                if rule.decidesAlways {
                    for kind in rule.match.kinds { decided[kind] = decided[kind] ?? plan.rules.count }
                }
                plan.rules.append(rule)
            }
            try check(plan, rules)
        }
        try map.finish()
        return plan
    }

    /// A topic, or the beginning of one with a `*` behind it.
    private static func isTopic(_ text: String, of bundleID: String) -> Bool {
        guard text.hasSuffix("*") else { return NamespaceRule.bundleID(ofTopic: text) == bundleID }
        let start = text.dropLast()
        return bundleID.hasPrefix(start) || start.hasPrefix(bundleID + ".")
    }

    private static func check(_ plan: FaultPlan, _ value: YAMLValue) throws(SettingsError) {
        let steps = plan.rules.reduce(0) { $0 + $1.steps.count }
        let texts = plan.rules.reduce(0) { sum, rule in
            sum + rule.match.texts.count + rule.steps.reduce(0) { $0 + $1.match.texts.count }
        }
        for (count, what) in [(steps, "steps"), (texts, "texts to match")] where count > FaultPlan.mostParts {
            throw value.error("\(count) \(what) in all rules; expected at most \(FaultPlan.mostParts)")
        }
    }

    private static func link(_ value: YAMLValue) throws(SettingsError) -> LinkSettings {
        var link = LinkSettings()
        var map = try value.map()
        if let time = map.take("rtt") { link.roundTrip = try time.duration() }
        if let time = map.take("jitter") { link.jitter = try time.duration() }
        if let rate = map.take("bandwidth") { link.bandwidth = try rate.reading(Units.bandwidth) }
        try map.finish()
        return link
    }

    private static func connections(_ value: YAMLValue) throws(SettingsError) -> ConnectionFaults {
        var faults = ConnectionFaults()
        var map = try value.map()
        if let count = map.take("goaway_after") { faults.goAwayAfter = try positive(count) }
        if let time = map.take("goaway_age") { faults.goAwayAge = try time.duration() }
        if let time = map.take("tcp_reset_every") { faults.tcpResetEvery = try time.duration() }
        if let share = map.take("handshake_failures") { faults.handshakeFailureShare = try share.share() }
        if let stall = map.take("stall") {
            let text = try stall.reading(FaultText.stall)
            (faults.stallLength, faults.stallEvery) = (text.length, text.every)
        }
        if let rate = map.take("slow_reading") { faults.slowReading = try rate.reading(Units.bandwidth) }
        if let penalty = map.take("penalty") { faults.penalty = try PenaltySettings.reading(penalty) }
        if let repeats = map.take("repeat_settings") { faults.repeatsSettings = try repeats.flag() }
        if let changes = map.take("settings") {
            let list = try changes.list()
            guard list.count <= FaultPlan.mostRules else {
                throw changes.error("\(list.count) changes; expected at most \(FaultPlan.mostRules)")
            }
            for change in list { faults.settings.append(try settingsChange(change)) }
        }
        try map.finish()
        return faults
    }

    static func positive(_ value: YAMLValue) throws(SettingsError) -> UInt64 {
        let count = try value.count()
        guard count > 0 else { throw value.error("expected at least 1") }
        return count
    }

    private static func settingsChange(
        _ value: YAMLValue
    ) throws(SettingsError) -> ConnectionFaults.SettingsChange {
        var map = try value.map()
        var change = ConnectionFaults.SettingsChange(after: try map.need("after").duration())
        func number(_ name: String, _ range: ClosedRange<Int>) throws(SettingsError) -> UInt32? {
            guard let value = map.take(name) else { return nil }
            let number =
                name == "max_concurrent_streams" ? Int(clamping: try value.count()) : try value.bytes()
            guard range.contains(number) else {
                throw value.error("\(number): expected \(range.lowerBound) to \(range.upperBound)")
            }
            return UInt32(number)
        }
        change.maxConcurrentStreams = try number("max_concurrent_streams", 0...1_000_000)
        change.streamWindow = try number("stream_window", 0...2_147_483_647)
        change.maxFrameSize = try number("max_frame_size", 16_384...16_777_215)
        change.headerTableSize = try number("header_table_size", 0...65_536)
        try map.finish()
        return change
    }
}
