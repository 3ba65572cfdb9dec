import ArgumentParser
import Audience
import Flags
import Foundation
import Harness
import Networking
import Settings

struct AudienceCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "audience",
        abstract: "Make, check and question files of registrations: devices with their tags.",
        discussion: """
            A registrations file is CSV with a header line, or NDJSON. Beside it FILE.index is kept, which the first command that \
            needs it makes, and FILE.feedback, what servers said of its devices. docs/audiences.md has the formats.
            """,
        subcommands: [
            AudienceMakeCommand.self, AudienceCheckCommand.self, AudienceCountCommand.self, AudienceListCommand.self,
            AudienceExplainCommand.self, AudienceStatsCommand.self, AudienceFeedbackCommand.self,
        ])
}

struct AudienceCheckCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "Look at every row of a registrations file and every template in it, and make its index anew.",
        discussion: "Prints the first mistake with its line and column. Exit status 0 when there is none, else 64.")

    @Argument(help: ArgumentHelp("The registrations file.", valueName: "file"))
    var file: String

    func run() throws {
        let registrations = try RegistrationsFile.open(file, isIndexedAnew: true)
        if let problem = registrations.templateProblem { throw HarnessError(problem.description) }
        let all = registrations.count
        let devices = registrations.devices(in: registrations.everyone)
        var parts = [
            "\(Units.counted(all, "registration")) of \(Units.counted(devices, "device"))",
            Units.counted(registrations.tagCount, "tag"), Units.counted(registrations.topics.count, "topic"),
            "\(Units.grouped(registrations.expired.count)) expired",
        ]
        if registrations.removed.count > 0 {
            parts.append("\(Units.grouped(registrations.removed.count)) gone by feedback")
        }
        Console.output("\(file): \(parts.joined(separator: ", "))\n")
    }
}

struct AudienceCountCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "count", abstract: "Print how many registrations an expression selects.",
        discussion: "Those that have expired, or are gone by feedback, are not among them.")

    @OptionGroup var question: AudienceQuestion

    @Flag(help: "Print JSON: registrations, devices, and out of how many.")
    var json = false

    private struct Answer: Encodable {
        let registrations: UInt64
        let devices: UInt64
        let all: UInt64
    }

    func run() throws {
        let asked = try question.asked()
        let rows = asked.rows()
        guard json else {
            Console.output("\(rows.count)\n")
            return
        }
        let registrations = asked.registrations
        try JSONOutput.print(
            Answer(registrations: rows.count, devices: registrations.devices(in: rows), all: registrations.count))
    }
}

struct AudienceListCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "Print the device tokens that an expression selects, in the file's order.",
        discussion: "One a line for each registration: a device with several is there several times.")

    @OptionGroup var question: AudienceQuestion

    func run() throws {
        let asked = try question.asked()
        let registrations = asked.registrations
        let longest = registrations.longestToken + 1
        // A write for each token would be most of the time.
        let capacity = 1 << 17
        let buffer = UnsafeMutablePointer<UInt8>.allocate(capacity: capacity + longest)
        defer { buffer.deallocate() }
        var filled = 0
        func flush() {
            Console.output(String(decoding: UnsafeBufferPointer(start: buffer, count: filled), as: UTF8.self))
            filled = 0
        }
        asked.rows().forEach { row in
            guard StandardStreams.isOutputOpen else { return }
            filled += registrations.writeToken(row, into: buffer + filled)
            buffer[filled] = 0x0A
            filled += 1
            if filled >= capacity { flush() }
        }
        flush()
    }
}

/// JSON on standard output.
enum JSONOutput {
    static func print(_ value: some Encodable) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        Console.output(String(decoding: try encoder.encode(value), as: UTF8.self) + "\n")
    }
}
