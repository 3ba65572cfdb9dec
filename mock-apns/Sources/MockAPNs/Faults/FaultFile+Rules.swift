import Faults
import HTTP2
import Payloads
import Settings

/// The rules of a fault file.
extension FaultFile {
    static func rule(_ value: YAMLValue) throws(SettingsError) -> FaultRule {
        var rule = FaultRule()
        var map = try value.map()
        try match(&map, &rule.match)
        rule.burst = try FaultBurst(taking: &map, of: value)
        if let count = map.take("next") { rule.next = try positive(count) }
        if let count = map.take("times") { rule.times = try positive(count) }
        if let share = map.take("share") {
            rule.share = try share.share()
            guard rule.share > 0 else { throw share.error("0% is for no request; leave the rule out") }
        }
        let (steps, repeats) = (map.take("then"), map.take("repeat"))
        if let steps {
            for step in try steps.list() { rule.steps.append(try self.step(step)) }
            guard !rule.steps.isEmpty else { throw steps.error("expected at least one step, as in [503, 200]") }
        }
        if let repeats {
            rule.repeatsSteps = try repeats.flag()
            guard steps != nil else { throw repeats.error("there are no steps to repeat; expected \"then\" beside it") }
        }
        rule.batch = try batch(&map)
        try deeds(&map, &rule, of: value)
        try map.finish()
        try check(rule, value)
        return rule
    }

    private static func match(_ map: inout YAMLMap, _ match: inout FaultRule.Match) throws(SettingsError) {
        if let kinds = map.take("request") { match.requests = try requests(kinds) }
        if let tokens = map.take("token") { match.tokens = try patterns(tokens, token).map { $0.lowercased() } }
        if let topics = map.take("topic") { match.topics = try patterns(topics) }
        if let types = map.take("push_type") {
            var found: [PushType] = []
            for type in try some(types) { found.append(try type.reading(FaultText.pushType)) }
            match.pushTypes = found
        }
        if let environment = map.take("environment") {
            match.environment = try environment.reading(FaultText.environment)
        }
        if let ids = map.take("apns_id") { match.identifiers = try patterns(ids, identifier).map { $0.lowercased() } }
        if let ids = map.take("collapse_id") { match.collapseIDs = try patterns(ids) }
        if let teams = map.take("team") { match.teams = try patterns(teams, team) }
        if let priorities = map.take("priority") {
            var found: [Int] = []
            for priority in try some(priorities) {
                guard let number = Int(try priority.text()), [10, 5, 1].contains(number) else {
                    throw priority.error("\"\(try priority.text())\" is not a priority; expected 10, 5 or 1")
                }
                found.append(number)
            }
            match.priorities = found
        }
        if let connections = map.take("connection") {
            var found: [UInt64] = []
            for connection in try some(connections) {
                let number = try connection.count()
                guard number > 0 else { throw connection.error("connections are numbered from 1") }
                found.append(number)
            }
            match.connections = found
        }
    }

    /// One or more.
    private static func some(_ value: YAMLValue) throws(SettingsError) -> [YAMLValue] {
        let items = try value.oneOrMore()
        guard !items.isEmpty else { throw value.error("the list is empty: no request is like that") }
        return items
    }

    private static func requests(_ value: YAMLValue) throws(SettingsError) -> [FaultRule.Request] {
        var found: [FaultRule.Request] = []
        for kind in try some(value) {
            if try kind.text() == "any" {
                found = FaultRule.Request.allCases
            } else {
                found.append(try choice(kind, "a kind of request", also: ["any"]))
            }
        }
        return found
    }

    /// One of a few words.
    static func choice<Choice: RawRepresentable & CaseIterable>(
        _ value: YAMLValue, _ what: String, also others: [String] = []
    ) throws(SettingsError) -> Choice where Choice.RawValue == String {
        let text = try value.text()
        if let found = Choice(rawValue: text) { return found }
        let words = Choice.allCases.map(\.rawValue) + others
        throw value.error(
            "\"\(text)\" is not \(what); expected \(words.dropLast().joined(separator: ", ")) or \(words.last ?? "")")
    }

    /// - Parameter problem: of a pattern without its `*`, if it can match nothing; nil: anything can be there.
    private static func patterns(
        _ value: YAMLValue, _ problem: (_ text: Substring, _ isPrefix: Bool) -> String? = { _, _ in nil }
    ) throws(SettingsError) -> [String] {
        var found: [String] = []
        for item in try some(value) {
            let text = try item.text()
            let isPrefix = text.hasSuffix("*")
            let rest = isPrefix ? text.dropLast() : text[...]
            if rest.contains("*") { throw item.error("\"\(text)\": * may only stand at the end: what begins so") }
            if let problem = problem(rest, isPrefix) { throw item.error("\"\(text)\" \(problem)") }
            found.append(text)
        }
        return found
    }

    private static func token(_ text: Substring, _ isPrefix: Bool) -> String? {
        if !text.allSatisfy({ $0.isASCII && $0.isHexDigit }) {
            return "is not hexadecimal: no device token is like that"
        }
        return isPrefix || text.count >= 64
            ? nil : "is shorter than a device token; did you mean \"\(text)*\", all that begin so?"
    }

    private static func identifier(_ text: Substring, _ isPrefix: Bool) -> String? {
        let isUUID =
            isPrefix
            ? text.allSatisfy { $0 == "-" || $0.isASCII && $0.isHexDigit }
            : Array(text.utf8).withUnsafeBytes(RequestChecks.isUUID)
        return isUUID ? nil : "is not a UUID, nor the beginning of one with a * behind it"
    }

    private static func team(_ text: Substring, _ isPrefix: Bool) -> String? {
        let isID = text.allSatisfy { $0.isASCII && ($0.isUppercase || $0.isNumber) } && (isPrefix || text.count == 10)
        return isID
            ? nil : "is not a team id, 10 characters of A-Z and 0-9, nor the beginning of one with a * behind it"
    }

    private static func batch(_ map: inout YAMLMap) throws(SettingsError) -> FaultRule.Batch? {
        let (count, within, order) = (map.take("batch"), map.take("within"), map.take("order"))
        guard let count else {
            if let other = within ?? order { throw other.error("needs \"batch\": how many pushes are held together") }
            return nil
        }
        let number = try count.count()
        guard (2...1000).contains(number) else { throw count.error("\(number): expected 2 to 1000") }
        var batch = FaultRule.Batch(count: Int(number))
        if let within { batch.within = try within.duration() }
        if let order { batch.order = try choice(order, "an order") }
        return batch
    }

    // MARK: What a rule does

    private static func deeds(
        _ map: inout YAMLMap, _ rule: inout FaultRule, of value: YAMLValue
    ) throws(SettingsError) {
        if let latency = map.take("latency") { rule.latency = try latency.reading(AnswerLatency.init(parsing:)) }
        if let reject = map.take("reject") { rule.rejections = try rejections(reject) }
        if let after = map.take("retry_after") { rule.retryAfter = try wholeSeconds(after) }
        if let share = map.take("silent") { rule.silentShare = try share.share() }
        let (reset, resetCode) = (map.take("reset"), map.take("reset_code"))
        if let reset { rule.resetShare = try reset.share() }
        if let resetCode { rule.resetCode = try resetCode.reading(FaultText.errorCode) }
        if let answer = map.take("answer") { rule.answer = try self.answer(answer) }
        if let close = map.take("close") { rule.close = try choice(close, "a way to close a connection") }
        if let goAway = map.take("goaway") { rule.goAway = try self.goAway(goAway) }
        if let count = map.take("ping") {
            let number = try count.count()
            guard (1...100).contains(number) else { throw count.error("\(number): expected 1 to 100 PING frames") }
            rule.pings = number
        }
        if let resetCode, reset == nil, rule.answer?.ending != .reset, rule.answer?.isAfterReset != true {
            throw resetCode.error("needs \"reset\", or an \"answer\" with \"end: reset\" or \"after_reset\"")
        }
        if rule.retryAfter != nil, rule.rejections.isEmpty {
            throw value.error("\"retry_after\" needs \"reject\"; an answer of your own has it among its headers")
        }
        guard rule.totalShare <= 1.000_000_1 else {
            throw value.error("the shares of this rule add up to more than 100%")
        }
        let ways = [rule.totalShare > 0, rule.answer != nil, rule.close != nil]
        guard ways.count(where: { $0 }) <= 1 else {
            throw value.error(
                "expected one of \"answer\", \"close\", and the shares of \"reject\", \"silent\" and \"reset\"")
        }
    }

    private static func check(_ rule: FaultRule, _ value: YAMLValue) throws(SettingsError) {
        if !rule.steps.isEmpty {
            var bare = FaultRule()
            (bare.match, bare.burst, bare.next, bare.times, bare.share, bare.steps, bare.repeatsSteps) =
                (rule.match, rule.burst, rule.next, rule.times, rule.share, rule.steps, rule.repeatsSteps)
            guard bare == rule else {
                throw value.error("a rule with \"then\" does what its steps say, and nothing besides; put it into them")
            }
        }
        if rule.batch != nil, let requests = rule.match.requests, requests != [.push] {
            throw value.error("\"batch\" is for pushes; expected no \"request\"")
        }
        if let next = rule.next, let times = rule.times, times > next {
            throw value.error("\"times\" is more than \"next\": the rule is for \(next) only")
        }
        for (name, count) in [("next", rule.next), ("times", rule.times)] {
            if let count, count < rule.steps.count {
                throw value.error("\"\(name)\" is less than there are steps: those after step \(count) never come")
            }
        }
        if let requests = rule.match.requests, !requests.contains(.push) {
            if rule.match.tokens != nil { throw value.error("\"token\" is of pushes; no other request has one") }
            if rule.match.pushTypes != nil, !requests.contains(.broadcast) {
                throw value.error("\"push_type\" is of pushes and broadcasts; management requests have none")
            }
        }
        if case .kept? = rule.goAway?.last, rule.batch == nil {
            throw value.error("\"keep\" needs \"batch\": of how many pushes")
        }
    }

    /// A step of `then`: a status or a reason, `silent` or `reset`, or a map of what a rule may do.
    private static func step(_ value: YAMLValue) throws(SettingsError) -> FaultRule {
        var step = FaultRule()
        if value.isMap {
            var map = try value.map()
            try deeds(&map, &step, of: value)
            try map.finish()
            if case .kept? = step.goAway?.last {
                throw value.error("\"keep\" needs \"batch\", which steps do not have")
            }
            return step
        }
        switch try value.text() {
        case "200": break
        case "silent": step.silentShare = 1
        case "reset": step.resetShare = 1
        case let text:
            if let reason = try? FaultText.reason(text) {
                step.rejections = [.init(reason, share: 1)]
            } else if let status = Int(text), RawAnswer.statuses.contains(status) {
                step.answer = RawAnswer(status: status)
            } else {
                throw value.error(
                    "\"\(text)\" is not a step; expected a status, a reason of APNs, silent, reset or what a rule may do, as in "
                        + "{latency: 1s, reject: 503}")
            }
        }
        return step
    }

    private static func wholeSeconds(_ value: YAMLValue) throws(SettingsError) -> UInt64 {
        let time = try value.duration()
        guard time % 1_000_000_000 == 0 else { throw value.error("expected whole seconds, as in 5s") }
        return time / 1_000_000_000
    }

    /// `ServiceUnavailable` (always), or `{ServiceUnavailable: 2%, TooManyRequests: 1%}`.
    private static func rejections(_ value: YAMLValue) throws(SettingsError) -> [FaultRule.Rejection] {
        guard value.isMap else { return [.init(try value.reading(FaultText.reason), share: 1)] }
        var found: [FaultRule.Rejection] = []
        for entry in try value.map().entries {
            found.append(.init(try entry.key.reading(FaultText.reason), share: try entry.value.share()))
        }
        return found
    }

    /// A code, or a map.
    private static func goAway(_ value: YAMLValue) throws(SettingsError) -> FaultRule.GoAway {
        var goAway = FaultRule.GoAway()
        guard value.isMap else {
            goAway.code = try value.reading(FaultText.errorCode)
            return goAway
        }
        var map = try value.map()
        if let code = map.take("code") { goAway.code = try code.reading(FaultText.errorCode) }
        if let debug = map.take("debug") {
            goAway.debug = try debug.text()
            guard goAway.debug!.utf8.count <= RawAnswer.mostHeaderBytes else {
                throw debug.error("expected at most \(RawAnswer.mostHeaderBytes) bytes")
            }
        }
        let (last, keep) = (map.take("last_stream"), map.take("keep"))
        if let last { goAway.last = try last.reading(lastStream) }
        if let keep {
            guard last == nil else { throw keep.error("expected either \"last_stream\" or \"keep\"") }
            goAway.last = .kept(Int(clamping: try keep.count()))
        }
        let (twice, pause) = (map.take("twice"), map.take("pause"))
        if let twice { goAway.isTwice = try twice.flag() }
        if let pause {
            guard goAway.isTwice else { throw pause.error("needs \"twice\": it stands between the two") }
            goAway.pause = try pause.duration()
        }
        try map.finish()
        return goAway
    }

    private static func lastStream(_ text: String) throws(SettingsError) -> FaultRule.GoAway.Last {
        guard let number = Int32(text), number > -100_000, number < .max else {
            throw SettingsError(
                "\"\(text)\" is not a last stream; expected a stream's id, or how many streams below this one, as in -2"
            )
        }
        return number < 0 ? .below(-number) : .stream(number)
    }
}
