import ArgumentParser
import Audience
import Flags
import Harness
import Settings

struct AudienceStatsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "stats",
        abstract: "Print what registrations are like: tags by frequency, languages, templates, devices.")

    @Argument(help: ArgumentHelp("The registrations file.", valueName: "file"))
    var file: String

    @Option(
        help: ArgumentHelp(
            "How many tags, topics and templates are listed; the most frequent first.", valueName: "count"))
    var most = "20"

    @Flag(help: "Print JSON.")
    var json = false

    private struct Named: Encodable {
        let name: String
        let registrations: UInt64
    }

    private struct Answer: Encodable {
        let file: String
        let registrations: UInt64
        let devices: UInt64
        let devicesWithSeveral: UInt64
        let expired: UInt64
        let leftByFeedback: UInt64
        let tagCount: Int
        let tags, topics, environments, languages, templates: [Named]

        enum CodingKeys: String, CodingKey {
            case file, registrations, devices, expired, tags, topics, environments, languages, templates
            case devicesWithSeveral = "devices_with_several"
            case leftByFeedback = "left_by_feedback"
            case tagCount = "tag_count"
        }
    }

    func run() throws {
        let most: Int
        do throws(Units.ParseError) { most = Int(clamping: try Units.count(self.most)) } catch {
            throw HarnessError("--most: \(error)")
        }
        let opened = try RegistrationsFile.open(file)
        func counted(_ names: [String], _ rows: (String) -> RowSet?) -> [Named] {
            let all = names.map { Named(name: $0, registrations: rows($0)?.count ?? 0) }
            return Array(all.sorted { ($0.registrations, $1.name) > ($1.registrations, $0.name) }.prefix(most))
        }
        let answer = Answer(
            file: file, registrations: opened.count, devices: opened.devices(in: opened.everyone),
            devicesWithSeveral: opened.devicesWithSeveral, expired: opened.expired.count,
            leftByFeedback: opened.removed.count, tagCount: opened.tagCount,
            tags: opened.tagCounts.prefix(most).map { Named(name: $0.tag, registrations: $0.rows) },
            topics: counted(opened.topics, opened.rows(topic:)),
            environments: counted(opened.environments, opened.rows(environment:)),
            languages: counted(opened.languages, opened.rows(language:)),
            templates: counted(opened.templates, opened.rows(template:)))
        guard !json else { return try JSONOutput.print(answer) }
        Console.output(text(answer, opened))
    }

    private func text(_ answer: Answer, _ opened: Registrations) -> String {
        var lines = [
            "\(Units.counted(answer.registrations, "registration")) of \(Units.counted(answer.devices, "device")), "
                + "\(Units.grouped(answer.devicesWithSeveral)) of them with several; "
                + "\(Units.grouped(answer.expired)) expired, \(Units.grouped(answer.leftByFeedback)) gone by feedback"
        ]
        func list(_ title: String, _ total: Int, _ named: [Named]) {
            guard !named.isEmpty else { return }
            let isCut = named.count < total
            lines.append("")
            lines.append("\(title): \(Units.grouped(UInt64(total)))\(isCut ? ", the first \(named.count):" : "")")
            let width = named.map { Units.grouped($0.registrations).count }.max() ?? 0
            for entry in named {
                let count = Units.grouped(entry.registrations)
                let share = Double(entry.registrations) / Double(max(1, answer.registrations)) * 100
                let name = entry.name.split(whereSeparator: \.isNewline).joined(separator: " ")
                lines.append(
                    "  \(String(repeating: " ", count: width - count.count))\(count)  "
                        + "\(share < 10 ? " " : "")\(Units.fixed(share, places: 1)) %  \(name.prefix(120))")
            }
        }
        list("tags", answer.tagCount, answer.tags)
        list("topics", opened.topics.count, answer.topics)
        list("environments", opened.environments.count, answer.environments)
        list("languages", opened.languages.count, answer.languages)
        list("templates", opened.templates.count, answer.templates)
        if opened.otherTagUses > 0 {
            lines.append("")
            lines.append("tags of users, and rare ones beyond the index: \(Units.grouped(opened.otherTagUses)) uses")
        }
        return lines.joined(separator: "\n") + "\n"
    }
}
