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
            if !text.isEmpty { code.isSuccess ? Output.line(text) : Output.error(text) }
            return code.rawValue
        }
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
