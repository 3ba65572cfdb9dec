import ArgumentParser
import Glibc
import Networking
import Settings

@main
struct MockCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "mock-apns",
        abstract: "A mock of Apple's push notification service (APNs) for tests and load tests.",
        discussion: """
            Without a subcommand it listens: `mock-apns --port 2197 --credentials ./credentials`. The flags are listed by \
            `mock-apns serve --help`.
            """,
        version: Version.number,
        subcommands: [
            ServeCommand.self, CheckCommand.self, ExamCommand.self, BackendCommand.self, TokenCommand.self,
            DeviceTokenCommand.self, HealthCommand.self,
        ],
        defaultSubcommand: ServeCommand.self)

    static func main() {
        StandardStreams.prepare()
        OpenSSLMemory.install()
        Glibc.exit(StandardStreams.status(status(), program: "mock-apns"))
    }

    private static func status() -> Int32 {
        do {
            var command = try parseAsRoot()
            try command.run()
            return 0
        } catch {
            // Help and version are no errors; they go to standard output.
            let code = exitCode(for: error)
            let text = fullMessage(for: error)
            if let misuse = misuse(CommandLine.arguments, text) {
                Output.error("mock-apns: \(misuse)")
                return ExitCode.validationFailure.rawValue
            }
            if !text.isEmpty { code.isSuccess ? Output.line(text) : Output.error(text) }
            return code.rawValue
        }
    }
}

extension MockCommand {
    /// What is said better than by ArgumentParser: one line; nil for everything else.
    ///
    /// - Parameters:
    ///   - arguments: of the program, its own name first.
    ///   - message: ArgumentParser's.
    private static func misuse(_ arguments: [String], _ message: String) -> String? {
        // A number below 0 looks like a flag.
        let isMissing = ["Missing value for '", "Missing expected argument '"].contains { message.contains($0) }
        if isMissing,
            let place = arguments.dropFirst().firstIndex(where: {
                $0.hasPrefix("-") && $0.dropFirst().first?.isNumber == true
            })
        {
            let flag = arguments[place - 1]
            let isOfFlag = flag.hasPrefix("-") && message.contains("Missing value for '\(flag)")
            return (isOfFlag ? "\(flag) " : "") + "\(arguments[place]): cannot be negative"
        }
        let line = message.prefix { $0 != "\n" }
        if let value = line.wholeMatch(of: #/Error: The value '(.*)' is invalid for '([^ ']*)[^']*'/#) {
            return "\(value.2) \(value.1): expected a number"
        }
        let words = arguments.dropFirst().drop { $0 == "help" }
        guard let word = words.first, !word.hasPrefix("-") else { return nil }
        let names = configuration.subcommands.map { $0.configuration.commandName ?? "" }
        return names.contains(word) ? nil : "no command \"\(word)\"" + NearestName.hint(word, among: names)
    }
}

/// A flag or file that cannot be used: one line.
struct Misuse: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}

/// Reads a flag's text; its complaint is given the flag's name.
func reading<Value, Failure: Error & CustomStringConvertible>(
    _ flag: String, _ text: String, _ read: (String) throws(Failure) -> Value
) throws(Misuse) -> Value {
    do throws(Failure) { return try read(text) } catch { throw Misuse("\(flag): \(error)") }
}

/// Whole lines, at once.
enum Output {
    static func line(_ text: String) {
        StandardStreams.output(text + "\n")
    }

    static func error(_ text: String) {
        StandardStreams.error(text + "\n")
    }
}
