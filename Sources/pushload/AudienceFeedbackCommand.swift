import ArgumentParser
import Audience
import Flags
import Harness
import Networking
import Settings

struct AudienceFeedbackCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "feedback",
        abstract: "Show what servers said of the devices of a registrations file, or apply it.",
        discussion: """
            FILE.feedback has a line for each push that was answered with Unregistered, ExpiredToken, BadDeviceToken and the like. \
            Registrations of the first two are not pushed any more unless they are younger. --apply writes the registrations file \
            anew without them, and moves the journal to FILE.feedback.applied-TIME.
            """)

    @Argument(help: ArgumentHelp("The registrations file.", valueName: "file"))
    var file: String

    @Flag(help: "Write the registrations file anew without those that are gone.")
    var apply = false

    @Flag(help: "Print JSON: with every line of the journal, or what was applied.")
    var json = false

    private struct Entry: Encodable {
        let token: String
        let topic: String?
        let reason: String
        let timestamp: UInt64?
        let seen: Int64
    }

    private struct Shown: Encodable {
        let registrations: UInt64
        let left: UInt64
        let reasons: [String: Int]
        let entries: [Entry]
    }

    private struct Applied: Encodable {
        let entries: Int
        let left: UInt64
        let stay: UInt64
        let reported: [String: Int]
        let archive: String?
    }

    func run() throws {
        let journal = FeedbackJournal(of: file)
        do throws(AudienceError) {
            if apply { try applied(journal) } else { try shown(journal) }
        } catch {
            throw HarnessError(error.description, error.isUnwritable ? .unwritable : .usage)
        }
    }

    private func output(_ value: some Encodable, or text: String) throws(AudienceError) {
        guard json else { return Console.output(text + "\n") }
        do { try JSONOutput.print(value) } catch { throw AudienceError("\(error)") }
    }

    private func counts(_ reasons: [String: Int]) -> String {
        reasons.sorted { ($0.value, $1.key) > ($1.value, $0.key) }
            .map { "\(Units.grouped(UInt64($0.value))) \($0.key)" }.joined(separator: ", ")
    }

    private func shown(_ journal: FeedbackJournal) throws(AudienceError) {
        let entries = try journal.read().entries
        let opened: Registrations
        do throws(HarnessError) { opened = try RegistrationsFile.open(file) } catch {
            throw AudienceError(error.description)
        }
        var reasons: [String: Int] = [:]
        for entry in entries { reasons[entry.reason, default: 0] += 1 }
        let answer = Shown(
            registrations: opened.count, left: opened.removed.count, reasons: reasons,
            entries: entries.map {
                Entry(token: $0.token, topic: $0.topic, reason: $0.reason, timestamp: $0.timestamp, seen: $0.seen)
            })
        try output(
            answer,
            or: entries.isEmpty
                ? "\(journal.path): nothing"
                : "\(journal.path): \(Units.counted(entries.count, "line")) (\(counts(reasons))); "
                    + "\(Units.grouped(opened.removed.count)) of \(Units.counted(opened.count, "registration")) gone")
    }

    private func applied(_ journal: FeedbackJournal) throws(AudienceError) {
        let outcome = try journal.apply(now: MonotonicClock.unixSeconds())
        if let note = outcome.note { Console.error(note) }
        let answer = Applied(
            entries: outcome.entries, left: outcome.left, stay: outcome.stay, reported: outcome.reported,
            archive: outcome.archive)
        guard let archive = outcome.archive else {
            return try output(answer, or: "\(journal.path): nothing to apply")
        }
        let others = outcome.reported.isEmpty ? "" : "; only reported: \(counts(outcome.reported))"
        try output(
            answer,
            or:
                "\(file): \(Units.counted(outcome.left, "registration")) gone, \(Units.grouped(outcome.stay)) stay\(others)\n"
                + "the journal is now \(archive)")
    }
}
