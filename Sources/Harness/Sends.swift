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
        /// After the run's start, ns.
        let start: UInt64
        /// The run's number of its first push, and how many registrations its audience has.
        let first: UInt64
        let count: UInt64
        /// The first of its mix's entries among those of all sends.
        let firstEntry: Int
        /// Different device tokens.
        let tokens: UInt64
    }

    package let all: [Send]
    /// Each registration gets one push; otherwise pushes go round, until a number or the time ends them.
    let isOnce: Bool
    package let registrations: Registrations
    /// What a reader must know besides, one sentence each.
    let notes: [String]

    /// Pushes of all of them.
    var count: UInt64 { all.reduce(0) { $0 + $1.count } }
    /// What pushes are made by, one send after the other.
    var mix: ProfileMix { ProfileMix(all.flatMap(\.mix.entries)) }

    /// - Throws: what is wrong with the registrations, an expression or a template, or that nobody is in an audience.
    init(_ scenario: Scenario, _ path: String) throws {
        let now = Int64(Date().timeIntervalSince1970)
        registrations = try Registrations.open(path, now: now)
        let reachable = try Self.reachable(registrations, scenario.topic)
        let templates = try scenario.templates.map { path throws(AudienceError) in try TemplateSet(path: path) }
        let settings =
            scenario.sends.isEmpty
            ? [SendSetting(name: scenario.name, audience: scenario.audience ?? "*")] : scenario.sends
        isOnce = !scenario.sends.isEmpty
        var all: [Send] = []
        var (first, entry): (UInt64, Int) = (0, 0)
        for setting in settings {
            let origin = scenario.sends.isEmpty ? "audience" : "sends: \(setting.name)"
            let rows = try Self.rows(setting.audience, registrations, reachable, origin)
            let content = try Content(setting, scenario, registrations, rows, templates ?? TemplateSet(), origin)
            all.append(
                Send(
                    name: setting.name, audience: setting.audience,
                    devices: AudienceDevices(registrations, rows, entries: content.entries), mix: content.mix,
                    priority: setting.priority ?? scenario.priority, start: setting.start, first: first,
                    count: rows.count, firstEntry: entry, tokens: registrations.devices(in: rows)))
            first += rows.count
            entry += content.mix.entries.count
        }
        self.all = all
        var notes = registrations.notes
        func note(_ count: UInt64, _ why: String) {
            if count > 0 { notes.append("\(Units.counted(count, "registration")) of \(path) left out: \(why)") }
        }
        note(registrations.expired.count, "expired")
        note(registrations.removed.subtracting(registrations.expired).count, "gone by feedback")
        note(registrations.alive.count - reachable.count, "of another topic than \(scenario.topic), or of none")
        self.notes = notes
    }

    /// Alive, and of this topic where the file has topics.
    private static func reachable(_ registrations: Registrations, _ topic: String) throws -> RowSet {
        guard !registrations.topics.isEmpty else { return registrations.alive }
        let reachable = registrations.alive.intersection(registrations.rows(topic: topic) ?? RowSet())
        guard !reachable.isEmpty || registrations.alive.isEmpty else {
            throw HarnessError(
                "topic \(topic): no registration of \(registrations.path) has it; there are "
                    + registrations.topics.prefix(5).joined(separator: ", "))
        }
        return reachable
    }

    private static func rows(
        _ text: String, _ registrations: Registrations, _ reachable: RowSet, _ origin: String
    ) throws -> RowSet {
        let expression: TagExpression
        do throws(AudienceError) { expression = try TagExpression(parsing: text) } catch {
            throw HarnessError(origin == "audience" ? "\(error)" : "\(origin): \(error)")
        }
        if let unknown = expression.unknownTags(registrations).first {
            throw HarnessError(
                "\(origin), line \(unknown.line), column \(unknown.column): no registration has the tag \"\(unknown.tag)\""
                    + (unknown.nearest.map { "; did you mean \"\($0)\"?" } ?? ""))
        }
        let chosen = expression.evaluate(registrations)
        let rows = chosen.intersection(reachable)
        guard !rows.isEmpty else {
            let gone = chosen.intersection(registrations.removed).count
            let expired = chosen.intersection(registrations.expired).count
            throw HarnessError(
                "\(origin): nobody of \(registrations.path) is in the audience \(text)"
                    + (chosen.isEmpty
                        ? ""
                        : ": of its \(Units.counted(chosen.count, "registration")) \(expired) expired, \(gone) gone by feedback")
            )
        }
        return rows
    }

    /// What the pushes of a send are made by.
    private struct Content {
        let mix: ProfileMix
        /// As `AudienceDevices` takes them.
        var entries: [Int] = []

        init(
            _ setting: SendSetting, _ scenario: Scenario, _ registrations: Registrations, _ rows: RowSet,
            _ templates: TemplateSet, _ origin: String
        ) throws {
            let own = Set(setting.properties.map(Self.name))
            let bag = try PropertyBag(
                flags: scenario.properties.filter { !own.contains(Self.name($0)) } + setting.properties)
            let longest = registrations.longestToken
            if let name = setting.template {
                guard let template = templates[name] else {
                    throw HarnessError(
                        "\(origin): no template \"\(name)\" among templates"
                            + NearestName.hint(name, among: templates.names))
                }
                mix = ProfileMix(try template.profile(bag, name: name, longestToken: longest))
                return
            }
            let standard = try RunInputs.mix(scenario, profile: setting.profile, longestToken: longest)
            // Templates may be there for a send that names one.
            let isGiven =
                !scenario.properties.isEmpty || !setting.properties.isEmpty
                || scenario.templates != nil && scenario.sends.allSatisfy { $0.template == nil }
            guard isGiven, setting.profile == nil, !registrations.templates.isEmpty else {
                mix = standard
                return
            }
            var profiles = standard.entries
            for (number, name) in registrations.templates.enumerated() {
                guard let users = registrations.rows(template: name)?.intersection(rows), let row = users.first else {
                    entries.append(0)
                    continue
                }
                let shown = name.hasPrefix("{") ? "template \(number + 1)" : name
                func profile(_ place: String) throws(AudienceError) -> Profile {
                    let use = TemplateUse(name, registration: place)
                    let template = try templates.template(use)
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
            mix = ProfileMix(profiles)
        }

        /// Of `NAME=VALUE`; case makes no difference.
        private static func name(_ property: String) -> String { property.prefix { $0 != "=" }.lowercased() }
    }

    /// Which send a push is of.
    func place(_ sequence: UInt64) -> Int {
        var place = 0
        while place + 1 < all.count, sequence >= all[place + 1].first { place += 1 }
        return place
    }
}
