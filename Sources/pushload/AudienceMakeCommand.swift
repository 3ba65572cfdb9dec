import ArgumentParser
import Audience
import Flags
import Foundation
import Harness
import Settings
import Synchronization

struct AudienceMakeCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "make", abstract: "Write made-up registrations, the same for the same seed.",
        discussion: """
            Without --description ten million, with 200 tags: teams, cities, languages, and others as popular as Zipf's law has it. \
            Device tokens are those of the synthetic population with this seed, which the mock knows. The index is not made: the \
            first command that needs it makes it. docs/audiences.md says what a description can say.
            """)

    @Argument(
        help: ArgumentHelp(
            "The file to write: .csv, .ndjson or .jsonl; - for standard output, as CSV.", valueName: "file"))
    var file: String

    @Option(
        name: [.customShort("n"), .customLong("registrations")],
        help: ArgumentHelp("How many registrations, such as 50k.", valueName: "count"))
    var registrations: String?

    @Option(help: ArgumentHelp("How many users, each with all their devices.", valueName: "count"))
    var users: String?

    @Option(help: ArgumentHelp("Seed of the population.", valueName: "number"))
    var seed: String?

    @Option(help: ArgumentHelp("A YAML file that says what they are like.", valueName: "file"))
    var description: String?

    @Flag(help: "Write over a file that is there.")
    var force = false

    private static func count(_ flag: String, _ text: String) throws(HarnessError) -> UInt64 {
        do throws(Units.ParseError) { return try Units.count(text) } catch { throw HarnessError("\(flag): \(error)") }
    }

    private func described() throws(HarnessError) -> SyntheticDescription {
        guard registrations == nil || users == nil else { throw HarnessError("give -n or --users, not both") }
        var described = SyntheticDescription.standard
        if let description {
            do throws(AudienceError) { described = try SyntheticFile.read(description) } catch {
                throw HarnessError(error.description)
            }
        }
        if let registrations { described.amount = .rows(try Self.count("-n", registrations)) }
        if let users { described.amount = .users(try Self.count("--users", users)) }
        if let seed { described.seed = try Self.count("--seed", seed) }
        return described
    }

    func run() throws {
        let made: SyntheticRegistrations
        let description = try described()
        do throws(AudienceError) {
            made = try SyntheticRegistrations(description, format: try SyntheticFormat(path: file))
        } catch {
            throw HarnessError(error.description)
        }
        for note in made.description.notes { Console.error(note) }
        let threads = max(1, min(8, ProcessInfo.processInfo.activeProcessorCount))
        guard file != "-" else {
            let code = SyntheticWriter.writeOutput(made, threads: threads)
            // Who reads no more has what was wanted.
            guard code == 0 || code == EPIPE else {
                throw HarnessError(
                    "standard output cannot be written: \(String(cString: strerror(code)))", .unwritable)
            }
            return
        }
        guard force || !FileManager.default.fileExists(atPath: file) else {
            throw HarnessError("\(file) is there already; give another name, or --force")
        }
        try write(made, threads: threads)
        let size = (try? FileManager.default.attributesOfItem(atPath: file)[.size] as? UInt64) ?? 0
        let tags = Units.counted(Set(made.description.allTags).count, "possible tag")
        Console.output(
            "wrote \(file): \(Units.counted(made.count, "registration")) with some of \(tags), "
                + "\(Units.bytes(size)), seed \(made.description.seed)\n")
    }

    private func write(_ made: SyntheticRegistrations, threads: Int) throws(HarnessError) {
        let line = ProgressLine("writing \(file)")
        // Otherwise what was written so far would stay beside it.
        let stopping = StopFlag()
        let signals = StopSignals { stopping.set() }
        defer { signals.cancel() }
        do throws(AudienceError) {
            try SyntheticWriter.write(
                made, to: file, threads: threads, isStopped: { stopping.isSet }, progress: { line.show($0) })
            line.end()
        } catch {
            line.end()
            if stopping.isSet { throw HarnessError("interrupted; nothing of \(file) was kept", .failed) }
            throw HarnessError(error.description, .unwritable)
        }
    }
}

/// Set once, by a signal.
private final class StopFlag: Sendable {
    private let flag = Atomic(false)
    var isSet: Bool { flag.load(ordering: .relaxed) }
    func set() { flag.store(true, ordering: .relaxed) }
}
