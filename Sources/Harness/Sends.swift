import Audience
import Foundation
import Payloads
import Scenarios
import Settings

/// What a run to registrations sends: one send, or several, each to an audience of its own.
package struct Sends: Sendable {
    package struct Send: Sendable {
        package let name: String
        /// The tag expression.
        package let audience: String
        let devices: AudienceDevices
        /// What its pushes are made by.
        let mix: ProfileMix
        /// `apns-priority`; nil: the push type's own.
        let priority: Int?
        /// `apns-collapse-id`.
        let collapseID: String?
        /// After the run's start, ns.
        let start: UInt64
        /// The run's number of its first push, and how many registrations its audience has.
        let first: UInt64
        let count: UInt64
        /// The first of its mix's entries among those of all sends.
        let firstEntry: Int
        /// Different device tokens.
        package let tokens: UInt64
        /// As `Registrations.fingerprint` has it.
        let fingerprint: String
    }

    package let all: [Send]
    /// Each registration gets one push; otherwise pushes go round, until a number or the time ends them.
    let isOnce: Bool
    package let registrations: Registrations
    /// What a reader must know besides, one sentence each.
    package let notes: [String]

    /// Pushes of all of them.
    var count: UInt64 { all.reduce(0) { $0 + $1.count } }
    /// What pushes are made by, one send after the other.
    var mix: ProfileMix { ProfileMix(all.flatMap(\.mix.entries)) }

    /// - Parameter now: seconds since 1970, by which registrations have expired; nil: the time it is.
    /// - Throws: what is wrong with the registrations, an expression or a template, or that nobody is in an audience.
    init(_ scenario: Scenario, _ path: String, now: Int64? = nil) throws {
        let now = now ?? Int64(Date().timeIntervalSince1970)
        registrations = try Self.naming("registrations", path) { path throws(AudienceError) in
            try Registrations.open(path, now: now)
        }
        let reachable = try Reachable(registrations, scenario)
        let templates = try scenario.templates.map { path in
            try Self.naming("templates", path) { path throws(AudienceError) in try TemplateSet(path: path) }
        }
        let settings =
            scenario.sends.isEmpty
            ? [(number: 0, setting: SendSetting(name: scenario.name, audience: scenario.audience ?? "*"))]
            : scenario.sends.enumerated().flatMap { number, send in send.each.map { (number: number, setting: $0) } }
        isOnce = !scenario.sends.isEmpty
        var all: [Send] = []
        var (first, entry): (UInt64, Int) = (0, 0)
        var content: [Content] = []
        var expired: [(send: String, count: UInt64)] = []
        // Each by itself, so that all that is wrong is told at once; a repeated one once.
        var (errors, wrong): ([HarnessError], Set<Int>) = ([], [])
        for (number, setting) in settings where !wrong.contains(number) {
            do {
                let origin = Origin(send: isOnce ? (number, setting.name) : nil)
                var rows = try Self.rows(setting.audience, registrations, reachable, origin)
                let late = Int64(clamping: setting.start / 1_000_000_000)
                let expiring = late > 0 ? rows.intersection(registrations.expired(at: now + late)) : RowSet()
                if !expiring.isEmpty {
                    rows = rows.subtracting(expiring)
                    expired.append((setting.name, expiring.count))
                    guard !rows.isEmpty else {
                        throw origin.error(
                            "audience",
                            "all \(Units.counted(expiring.count, "registration")) of \(path) in it expire before its start"
                        )
                    }
                }
                let made = try Content(setting, scenario, registrations, rows, templates ?? TemplateSet(), origin)
                all.append(
                    Send(
                        name: setting.name, audience: setting.audience,
                        devices: AudienceDevices(registrations, rows, entries: made.entries), mix: made.mix,
                        priority: setting.priority ?? scenario.priority,
                        collapseID: setting.collapseID ?? scenario.collapseID, start: setting.start, first: first,
                        count: rows.count, firstEntry: entry, tokens: registrations.devices(in: rows),
                        fingerprint: registrations.fingerprint(of: rows)))
                first += rows.count
                entry += made.mix.entries.count
                content.append(made)
            } catch {
                errors.append(error as? HarnessError ?? HarnessError("\(error)"))
                wrong.insert(number)
            }
        }
        guard errors.isEmpty else { throw HarnessError(errors) }
        self.all = all
        var notes = registrations.notes
        func note(_ count: UInt64, _ why: String) {
            if count > 0 { notes.append("\(Units.counted(count, "registration")) of \(path) left out: \(why)") }
        }
        note(registrations.expired.count, "expired")
        for (send, count) in expired { note(count, "they expire before the start of send \"\(send)\"") }
        note(registrations.removed.subtracting(registrations.expired).count, "gone by feedback")
        note(reachable.otherTopic, "of another topic than \(scenario.topic), or of none")
        note(reachable.otherEnvironment, "of another environment than \(scenario.environment), or of none")
        if scenario.environment != Scenario().environment, scenario.environment != "any",
            registrations.environments.isEmpty
        {
            notes.append(
                "environment \(scenario.environment): no registration of \(path) has an environment: none is left out for it"
            )
        }
        let unfilled = RowSet.union(content.compactMap(\.unfilled)).count
        if unfilled > 0 {
            notes.append(
                "\(Units.counted(unfilled, "registration")) of \(path) \(unfilled == 1 ? "has" : "have") a template of "
                    + "\(unfilled == 1 ? "its" : "their") own, which was not used: give "
                    + (scenario.templates == nil
                        ? "templates or properties (--templates, --property)" : "properties (--property)"))
        }
        self.notes = notes + Self.unused(scenario, settings.map(\.setting), content.map(\.used))
    }

    /// A path that leads nowhere is a mistake of the setting, anything else one of the file.
    private static func naming<Value>(
        _ key: String, _ path: String, _ open: (String) throws(AudienceError) -> Value
    ) throws -> Value {
        do throws(AudienceError) { return try open(path) } catch {
            guard !FileManager.default.fileExists(atPath: path) else { throw error }
            throw HarnessError(error.description, of: SettingPart(key))
        }
    }

    /// A sentence for each property that no template has a place for.
    ///
    /// - Parameter used: of each send, the names its templates have.
    private static func unused(_ scenario: Scenario, _ settings: [SendSetting], _ used: [Set<String>]) -> [String] {
        func notes(_ properties: [String], _ used: Set<String>, _ origin: String) -> [String] {
            properties.map(Content.name).filter { !used.contains(Content.folded($0)) }.map { name in
                let near = NearestName.of(name, among: used.sorted()).map { "; did you mean \"\($0)\"?" } ?? ""
                return "\(origin)property \"\(name)\" is in no template that is used\(near)"
            }
        }
        let all = used.reduce(into: Set()) { $0.formUnion($1) }
        return notes(scenario.properties, all, "")
            + zip(settings, used).flatMap { notes($0.properties, $1, "sends: \($0.name): ") }
    }

    /// What an audience is asked of: alive, of the run's topic where the file has topics, and of its environment where it has those.
    private struct Reachable {
        let rows: RowSet
        /// Alive and left out for one of them.
        var (otherTopic, otherEnvironment): (UInt64, UInt64) = (0, 0)

        init(_ registrations: Registrations, _ scenario: Scenario) throws(HarnessError) {
            var left = registrations.alive
            func keep(_ key: String, _ name: String, _ rows: RowSet?, of all: [String]) throws(HarnessError) -> UInt64 {
                guard !all.isEmpty, !left.isEmpty else { return 0 }
                let kept = left.intersection(rows ?? RowSet())
                guard !kept.isEmpty else {
                    throw HarnessError(
                        "\(key) \"\(name)\": no registration of \(registrations.path) that is neither expired nor gone has it; there are "
                            + all.prefix(5).map { "\"\($0)\"" }.joined(separator: ", "), of: SettingPart(key))
                }
                defer { left = kept }
                return left.count - kept.count
            }
            let (topic, environment) = (scenario.topic, scenario.environment)
            otherTopic = try keep("topic", topic, registrations.rows(topic: topic), of: registrations.topics)
            if environment != "any" {
                otherEnvironment = try keep(
                    "environment", environment, registrations.rows(environment: environment),
                    of: registrations.environments)
            }
            rows = left
        }
    }

    /// Whose expression it is, for messages.
    private struct Origin: CustomStringConvertible {
        /// One of several; nil: the run's `audience`.
        let send: (number: Int, name: String)?

        var description: String { send.map { "sends: \($0.name)" } ?? "audience" }

        func part(_ field: String) -> SettingPart {
            send.map { SettingPart("sends", item: $0.number, field: field) } ?? SettingPart(field)
        }

        /// Something in the expression, at its place.
        func error(_ line: Int, _ column: Int, _ problem: String) -> HarnessError {
            var part = part("audience")
            (part.line, part.column) = (line, column)
            return HarnessError("\(self), line \(line), column \(column): \(problem)", of: part, "\(self): \(problem)")
        }

        func error(_ field: String, _ problem: String) -> HarnessError {
            HarnessError("\(self): \(problem)", of: part(field))
        }
    }

    private static func rows(
        _ text: String, _ registrations: Registrations, _ reachable: Reachable, _ origin: Origin
    ) throws(HarnessError) -> RowSet {
        let expression: TagExpression
        do throws(AudienceError) { expression = try TagExpression(parsing: text) } catch {
            guard let spot = error.spot else { throw HarnessError("\(origin): \(error)", of: origin.part("audience")) }
            throw origin.error(spot.line, spot.column, spot.problem)
        }
        let unknown = expression.unknownTags(registrations).map { unknown in
            origin.error(
                unknown.line, unknown.column,
                "no registration has the tag \"\(unknown.tag)\""
                    + (unknown.nearest.map { "; did you mean \"\($0)\"?" } ?? ""))
        }
        guard unknown.isEmpty else { throw HarnessError(unknown) }
        let chosen = expression.evaluate(registrations)
        let rows = chosen.intersection(reachable.rows)
        guard !rows.isEmpty else {
            let gone = chosen.intersection(registrations.removed).count
            let expired = chosen.intersection(registrations.expired).subtracting(registrations.removed).count
            let others = chosen.count - gone - expired
            throw origin.error(
                "audience",
                "nobody of \(registrations.path) is in the audience \"\(text)\""
                    + (chosen.isEmpty
                        ? ""
                        : ": of its \(Units.counted(chosen.count, "registration")) \(expired) expired, \(gone) gone by feedback, "
                            + "\(others) of another topic or environment"))
        }
        return rows
    }

    /// What the pushes of a send are made by.
    private struct Content {
        let mix: ProfileMix
        /// As `AudienceDevices` takes them.
        var entries: [Int] = []
        /// Properties that its templates have a place for, in lower case.
        var used: Set<String> = []
        /// Registrations whose own template is not used, though nothing of the send's takes its place.
        var unfilled: RowSet?

        init(
            _ setting: SendSetting, _ scenario: Scenario, _ registrations: Registrations, _ rows: RowSet,
            _ templates: TemplateSet, _ origin: Origin
        ) throws {
            func key(_ property: String) -> String { Self.folded(Self.name(property)) }
            let own = Set(setting.properties.map(key))
            let bag = try PropertyBag(
                flags: scenario.properties.filter { !own.contains(key($0)) } + setting.properties)
            let longest = registrations.longestToken
            if let name = setting.template {
                guard let template = templates[name] else {
                    throw origin.error(
                        "template",
                        "no template \"\(name)\" among templates" + NearestName.hint(name, among: templates.names))
                }
                used = Set(template.properties.map(Self.folded))
                mix = ProfileMix(try template.profile(bag, name: name, longestToken: longest))
                return
            }
            let standard = try RunInputs.mix(scenario, profile: setting.profile, longestToken: longest)
            // Templates may be there for a send that names one.
            let isGiven =
                !scenario.properties.isEmpty || !setting.properties.isEmpty
                || scenario.templates != nil && scenario.sends.allSatisfy { $0.template == nil }
            let users = registrations.templates.map { name in
                registrations.rows(template: name)?.intersection(rows) ?? RowSet()
            }
            let templated = RowSet.union(users)
            guard isGiven, setting.profile == nil, !templated.isEmpty else {
                mix = standard
                unfilled = isGiven || setting.profile != nil ? nil : templated
                return
            }
            // The run's own is for those without one.
            var profiles = templated.count < rows.count ? standard.entries : []
            var asked: Set<String> = []
            for (number, name) in registrations.templates.enumerated() {
                guard let row = users[number].first else {
                    entries.append(0)
                    continue
                }
                let shown = name.hasPrefix("{") ? "template \(number + 1)" : name
                func profile(_ place: String) throws(AudienceError) -> Profile {
                    let use = TemplateUse(name, registration: place)
                    let template = try templates.template(use)
                    asked.formUnion(template.properties.map(Self.folded))
                    do throws(AudienceError) {
                        return try template.profile(bag, name: shown, longestToken: longest)
                    } catch { throw use.isBody ? error : AudienceError("\(place): \(error)") }
                }
                entries.append(profiles.count)
                // To find the place the file is read, which only a message is worth.
                if let made = try? profile(registrations.path) {
                    profiles.append(.init(profile: made, weight: 1))
                } else {
                    do throws(AudienceError) { _ = try profile(registrations.templatePlace(row)) } catch {
                        throw HarnessError(error.description)
                    }
                }
            }
            used = asked
            mix = ProfileMix(profiles)
        }

        /// Of `NAME=VALUE`.
        static func name(_ property: String) -> String { String(property.prefix { $0 != "=" }) }

        /// Case makes no difference.
        static func folded(_ name: String) -> String { name.lowercased() }
    }

    /// Which send a push is of.
    func place(_ sequence: UInt64) -> Int {
        var place = 0
        while place + 1 < all.count, sequence >= all[place + 1].first { place += 1 }
        return place
    }
}
