import ArgumentParser
import Foundation
import Networking

@main
struct MockCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "mock-apns",
        abstract: "A mock of Apple's push notification service (APNs) for tests and load tests.",
        discussion: """
            Without a subcommand it listens: `mock-apns --port 2197 --credentials ./credentials`. The flags are listed by \
            `mock-apns serve --help`.
            """,
        version: "0.2.0",
        subcommands: [ServeCommand.self, CheckCommand.self], defaultSubcommand: ServeCommand.self)

    static func main() {
        OpenSSLMemory.install()
        main(nil)
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
        FileHandle.standardOutput.write(Data((text + "\n").utf8))
    }

    static func error(_ text: String) {
        FileHandle.standardError.write(Data((text + "\n").utf8))
    }
}
