import ArgumentParser
import Audience
import Flags
import Harness
import Networking
import Scenarios
import Settings
import Synchronization

/// Whom an expression selects, and of which registrations: what `count`, `list` and `explain` are asked.
struct AudienceQuestion: ParsableArguments {
    @Argument(
        help: ArgumentHelp(
            "A tag expression, such as '(follows_RedSox || follows_Cardinals) && location_Boston'; '*' is everyone.",
            valueName: "expression"))
    var expression: String

    @Option(help: ArgumentHelp("The registrations file.", valueName: "file"))
    var registrations: String

    @Option(help: ArgumentHelp("Only registrations of this topic, of a file that has topics.", valueName: "topic"))
    var topic: String?

    @Option(
        help: ArgumentHelp(
            "Only registrations of production, or of development, of a file that has environments.", valueName: "name"))
    var environment = "any"

    @Flag(help: "Allow expressions of more tags than Azure Notification Hubs takes.")
    var noLimits = false

    @Flag(help: "A tag or topic that no registration has selects nobody, instead of being an error.")
    var allowUnknown = false

    /// - Throws: what is wrong with the expression, the file, or what is asked of it.
    func asked() throws(HarnessError) -> AskedAudience {
        guard Scenario.environments.contains(environment) else {
            throw HarnessError(
                "--environment: unknown environment \"\(environment)\""
                    + NearestName.hint(environment, among: Scenario.environments))
        }
        let parsed: TagExpression
        do throws(AudienceError) {
            parsed = try TagExpression(parsing: expression, limits: noLimits ? .none : .notificationHubs)
        } catch {
            let isTooLong = !noLimits && (try? TagExpression(parsing: expression, limits: .none)) != nil
            throw HarnessError(error.description + (isTooLong ? "; --no-limits takes more" : ""))
        }
        let opened = try RegistrationsFile.open(registrations)
        // As in a run: who has none is of any, unless others of the file have one.
        if topic != nil, opened.topics.isEmpty {
            Console.error("--topic: no registration of \(registrations) has a topic: none is left out for it")
        }
        if environment != "any", opened.environments.isEmpty {
            Console.error(
                "--environment: no registration of \(registrations) has an environment: none is left out for it")
        }
        if !allowUnknown {
            let unknown = parsed.unknownTags(opened).map { tag, line, column, nearest in
                "audience, line \(line), column \(column): no registration has the tag \"\(tag)\""
                    + (nearest.map { "; did you mean \"\($0)\"?" } ?? "; --allow-unknown takes it for nobody")
            }
            guard unknown.isEmpty else { throw HarnessError(unknown.joined(separator: "\n")) }
            if let topic, !opened.topics.isEmpty, opened.rows(topic: topic) == nil {
                throw HarnessError(
                    "--topic: no registration has the topic \"\(topic)\""
                        + NearestName.hint(topic, among: Array(opened.topics.prefix(10))))
            }
        }
        return AskedAudience(registrations: opened, expression: parsed, topic: topic, environment: environment)
    }
}

/// An expression that was found right for its registrations.
struct AskedAudience {
    let registrations: Registrations
    let expression: TagExpression
    let topic: String?
    let environment: String

    /// What the rows of the expression must have besides, in the order in which it is looked at.
    var filters: [(what: String, rows: RowSet)] {
        var filters: [(what: String, rows: RowSet)] = []
        if let topic, !registrations.topics.isEmpty {
            filters.append(("topic \(topic)", registrations.rows(topic: topic) ?? RowSet()))
        }
        if environment != "any", !registrations.environments.isEmpty {
            filters.append(("environment \(environment)", registrations.rows(environment: environment) ?? RowSet()))
        }
        if registrations.alive.count < registrations.count {
            filters.append(("neither expired nor gone", registrations.alive))
        }
        return filters
    }

    func rows() -> RowSet { filters.reduce(expression.evaluate(registrations)) { $0.intersection($1.rows) } }
}

/// Registrations files as commands open them.
enum RegistrationsFile {
    /// With a line on standard error while an index is made, where that is a terminal.
    static func open(_ path: String, isIndexedAnew: Bool = false) throws(HarnessError) -> Registrations {
        let line = ProgressLine("indexing \(path)")
        defer { line.end() }
        do throws(AudienceError) {
            let registrations = try Registrations.open(
                path, now: MonotonicClock.unixSeconds(), isIndexedAnew: isIndexedAnew, progress: line.show)
            line.end()
            for note in registrations.notes { Console.error(note) }
            return registrations
        } catch {
            throw HarnessError(error.description)
        }
    }
}

/// A line on standard error that is written anew, ten times a second at most: how many registrations are done. Nothing where that
/// is no terminal.
final class ProgressLine: Sendable {
    private let what: String
    private let isRedrawn = Console.isRedrawn
    /// When it was shown last; 0: it does not stand there.
    private let shown = Atomic<UInt64>(0)

    init(_ what: String) { self.what = what }

    func show(_ rows: UInt64) {
        let now = MonotonicClock.now()
        guard isRedrawn, now >= shown.load(ordering: .relaxed) + 100_000_000 else { return }
        shown.store(now, ordering: .relaxed)
        let text = "\(what): \(Units.counted(rows, "registration"))"
        Console.diagnostic("\r\u{1B}[K" + text.suffix(max(20, Console.size.columns - 1)))
    }

    func end() {
        if shown.exchange(0, ordering: .relaxed) != 0 { Console.diagnostic("\r\u{1B}[K") }
    }
}
