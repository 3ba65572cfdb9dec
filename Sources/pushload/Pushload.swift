import ArgumentParser
import Comparison
import Flags
import Gate
import Glibc
import Harness
import History
import Networking
import Plan
import Sweep
import Workers

@main
struct Pushload: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "pushload",
        abstract: "A load-testing and benchmark harness for push fan-out.",
        version: Versions.pushload,
        subcommands: [GateRoundCommand.self],
        groupedSubcommands: [
            CommandGroup(name: "Run", subcommands: [RunCommand.self, ScenarioCommand.self, AudienceCommand.self]),
            CommandGroup(name: "Judge", subcommands: [CompareCommand.self, ABCommand.self, GateCommand.self]),
            CommandGroup(name: "Explore", subcommands: [SearchCommand.self, SweepCommand.self]),
            CommandGroup(name: "Plan", subcommands: [PlanCommand.self]),
            CommandGroup(
                name: "Look",
                subcommands: [WatchCommand.self, ReportCommand.self, HistoryCommand.self, MergeCommand.self]),
            CommandGroup(name: "Mock", subcommands: [TokenCommand.self, DeviceTokenCommand.self]),
        ])

    static func main() async {
        // A peer that closes its connection is an outcome to count, not a reason to die.
        StandardStreams.prepare()
        OpenSSLMemory.install()
        FileLimit.raise()
        Glibc.exit(StandardStreams.status(await status(), program: "pushload"))
    }

    private static func status() async -> Int32 {
        do {
            // ArgumentParser's own word for it is --help-hidden.
            var command = try parseAsRoot(
                CommandLine.arguments.dropFirst().map { $0 == "--help-all" ? "--help-hidden" : $0 })
            if var asynchronous = command as? any AsyncParsableCommand {
                try await asynchronous.run()
            } else {
                try command.run()
            }
            return 0
        } catch let error as HarnessError {
            Console.error(error.description)
            return error.kind.rawValue
        } catch {
            // Help and version are no errors; they go to standard output.
            let code = exitCode(for: error)
            let text = fullMessage(for: error)
            if let joined = CommandLine.arguments.first(where: {
                text.contains("Missing value for '\($0.prefix(2)) <") && text.contains("Unknown option '\($0)'")
            }) {
                Console.error("\(joined): write \(joined.prefix(2)) \(joined.dropFirst(2))")
                return code.rawValue
            }
            if let (flag, value) = negativeValue(text) {
                Console.error("\(flag) \(value): cannot be negative")
                return code.rawValue
            }
            // Behind a word that is no command every flag is unknown.
            let isTooMuch = text.contains("nexpected argument") || text.contains("Unknown option")
            let command = isTooMuch ? Misspelt.command(CommandLine.arguments, of: self) : nil
            if let misspelt = command ?? Misspelt.flag(CommandLine.arguments, text)
                ?? Misspelt.hiddenFlag(CommandLine.arguments, text, of: self)
            {
                Console.error(misspelt)
                return code.rawValue
            }
            if !text.isEmpty { code.isSuccess ? Console.output(text + "\n") : Console.diagnostic(text + "\n") }
            return code.rawValue
        }
    }

    /// The flag that misses its value, which is there but begins as a flag does: `-n -5`.
    private static func negativeValue(_ message: String) -> (flag: String, value: String)? {
        zip(CommandLine.arguments, CommandLine.arguments.dropFirst()).first { flag, value in
            (message.contains("Missing value for '\(flag) <") || message.contains("Missing value for '\(flag)'"))
                && value.hasPrefix("-")
                && value.dropFirst().first?.isNumber == true
        }
    }
}
