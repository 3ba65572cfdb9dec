import Faults
import Settings

/// What is asked of the backend, as fault rules tell it apart.
package enum RequestKind: String, CaseIterable, Sendable {
    case create, fetch, attachment, action, content

    static func named(_ text: String) throws(SettingsError) -> RequestKind {
        guard let kind = RequestKind(rawValue: text) else {
            throw SettingsError(
                "\"\(text)\" is not a kind of request" + NearestName.hint(text, among: allCases.map(\.rawValue)))
        }
        return kind
    }
}

/// How the backend misbehaves. The first rule that matches a request, and whose burst is on, decides.
package struct BackendFaults: Sendable, Equatable {
    package struct Rule: Sendable, Equatable {
        /// nil: all.
        package var kinds: [RequestKind]?
        /// nil: always.
        package var burst: FaultBurst?
        package var latency = AnswerLatency.none
        /// Statuses, 400 to 599, and the share of the requests that each is for.
        package var rejections: [Rejection] = []
        /// Done, but never answered.
        package var silentShare = 0.0
        /// Reset (TCP RST) and not done.
        package var resetShare = 0.0
        /// Of the requests for `/api/content`, those for which there is nothing new: 204.
        package var emptyShare = 0.0

        package init() {}

        /// Of all shares together; at most 1.
        package var totalShare: Double { rejections.reduce(silentShare + resetShare + emptyShare) { $0 + $1.share } }
    }

    package struct Rejection: Sendable, Equatable {
        package var status: Int
        /// 0 to 1.
        package var share: Double

        /// `503=2%`.
        package init(parsing text: String) throws(SettingsError) {
            let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            guard parts.count == 2 else {
                throw SettingsError("\"\(text)\": expected a status and its share, as in 503=2%")
            }
            status = try Self.status(parts[0])
            do throws(Units.ParseError) { share = try Units.share(parts[1]) } catch {
                throw SettingsError(error.description)
            }
        }

        init(status: Int, share: Double) {
            self.status = status
            self.share = share
        }

        static func status(_ text: String) throws(SettingsError) -> Int {
            guard let status = Int(text), (400...599).contains(status) else {
                throw SettingsError("\"\(text)\" is not a status of an error; expected 400 to 599, as in 503")
            }
            return status
        }
    }

    package var rules: [Rule] = []
    /// All random choices follow from it.
    package var seed: UInt64 = .random(in: 1...999_999_999)

    package init() {}

    /// Reads them from YAML: `seed`, and `rules` with `kind`, `latency`, `reject`, `silent`, `reset`, `start`, `for` and `every`.
    ///
    /// - Throws: `file:line:column: …`
    package init(file: String) throws(SettingsError) {
        try self.init(parsing: try FileContents.text(file, "fault file", limit: 16 << 20, orPipe: true), file: file)
    }

    init(parsing text: String, file: String) throws(SettingsError) {
        var map = try YAMLValue(parsing: text, file: file).map()
        if let seed = map.take("seed") { self.seed = try seed.count() }
        if let rules = map.take("rules") {
            for rule in try rules.list() { self.rules.append(try Rule(rule)) }
        }
        try map.finish()
    }

    /// The rule that decides about a request.
    ///
    /// - Parameter age: of the server, nanoseconds.
    func rule(for kind: RequestKind, age: UInt64) -> Rule? {
        rules.first { ($0.burst?.isOn(age: age) ?? true) && ($0.kinds?.contains(kind) ?? true) }
    }
}

extension BackendFaults.Rule {
    enum Fate: Equatable {
        case normal, silent, reset, empty
        case rejected(Int)
    }

    fileprivate init(_ value: YAMLValue) throws(SettingsError) {
        var map = try value.map()
        if let kinds = map.take("kind") {
            var found: [RequestKind] = []
            for kind in try kinds.oneOrMore() { found.append(try kind.reading(RequestKind.named)) }
            self.kinds = found
        }
        if let latency = map.take("latency") { self.latency = try latency.reading(AnswerLatency.init(parsing:)) }
        if let reject = map.take("reject") {
            if reject.isMap {
                for entry in try reject.map().entries {
                    rejections.append(
                        .init(
                            status: try entry.key.reading(BackendFaults.Rejection.status),
                            share: try entry.value.share()))
                }
            } else {
                rejections = [.init(status: try reject.reading(BackendFaults.Rejection.status), share: 1)]
            }
        }
        if let share = map.take("silent") { silentShare = try share.share() }
        if let share = map.take("reset") { resetShare = try share.share() }
        if let share = map.take("empty") {
            emptyShare = try share.share()
            guard kinds?.contains(.content) != false else {
                throw share.error("goes with kind content, which alone can be empty")
            }
        }
        burst = try FaultBurst(taking: &map, of: value)
        try map.finish()
        guard totalShare <= 1.000_000_1 else {
            throw value.error("the shares of this rule add up to more than 100%")
        }
    }

    func fate(_ random: inout SeededRandom) -> Fate {
        guard totalShare > 0 else { return .normal }
        var number = random.unit()
        for rejection in rejections {
            if number < rejection.share { return .rejected(rejection.status) }
            number -= rejection.share
        }
        if number < silentShare { return .silent }
        number -= silentShare
        if number < resetShare { return .reset }
        number -= resetShare
        return number < emptyShare ? .empty : .normal
    }
}
