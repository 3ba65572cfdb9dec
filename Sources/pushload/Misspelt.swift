import ArgumentParser
import Foundation
import Settings

/// Finds what was typed nearly right where ArgumentParser only says what is missing or too much.
enum Misspelt {
    /// - Parameter message: of ArgumentParser; it names the flag that has to be there.
    /// - Returns: the flag that was probably meant for it; nil when there is none.
    static func flag(_ arguments: [String], _ message: String) -> String? {
        guard let start = message.range(of: "Missing expected argument '--") else { return nil }
        let missing = "--" + message[start.upperBound...].prefix { $0 != " " && $0 != "'" }
        let typed = arguments.dropFirst().map { String($0.prefix { $0 != "=" }) }.first {
            $0.hasPrefix("--") && $0 != missing && NearestName.of($0, among: [missing]) != nil
        }
        return typed.map { "unknown option \"\($0)\"; did you mean \"\(missing)\"?" }
    }

    /// ArgumentParser looks for what was meant only among the flags that `--help` shows, not among those of `--help-all`.
    ///
    /// - Parameter message: of ArgumentParser, which found none.
    /// - Returns: the flag that was probably meant; nil when there is none.
    static func hiddenFlag(
        _ arguments: [String], _ message: String, of root: any ParsableCommand.Type
    ) -> String? {
        guard let start = message.range(of: "Unknown option '--"), !message.contains("Did you mean") else { return nil }
        let typed = "--" + message[start.upperBound...].prefix { $0 != "'" && $0 != "=" }
        var command: any ParsableCommand.Type = root
        for word in arguments.dropFirst() {
            guard let next = command.configuration.subcommands.first(where: { $0.configuration.commandName == word })
            else { break }
            command = next
        }
        // Lines of flags begin with them; the prose around may name those of other commands.
        let lines = root.helpMessage(for: command, includeHidden: true).split(separator: "\n").filter {
            $0.hasPrefix("  -")
        }
        let known = lines.flatMap { line in
            line.prefix(upTo: line.dropFirst(2).firstRange(of: "  ")?.lowerBound ?? line.endIndex)
                .split { !($0.isLetter || $0.isNumber || $0 == "-") }.filter { $0.hasPrefix("--") }.map(String.init)
        }
        let near = NearestName.of(typed, among: known.filter { $0 != typed })
        return near.map { "unknown option \"\(typed)\"; did you mean \"\($0)\"?" }
    }

    /// - Parameter arguments: of the program, its own name first.
    /// - Returns: what is wrong with the first word that is no command where only one can be; nil when there is none.
    static func command(_ arguments: [String], of root: any ParsableCommand.Type) -> String? {
        var command: any ParsableCommand.Type = root
        var path = ""
        for word in arguments.dropFirst() {
            let commands = command.configuration.subcommands
            guard !commands.isEmpty, !word.hasPrefix("-"), word != "help" else { return nil }
            if let next = commands.first(where: { $0.configuration.commandName == word }) {
                command = next
                path += " " + word
                continue
            }
            var names: [String] = []
            for known in commands where known.configuration.shouldDisplay {
                names.append(known.configuration.commandName ?? "")
            }
            let place = path.isEmpty ? "" : " of pushload\(path)"
            return "no command \"\(word)\"\(place)" + NearestName.hint(word, among: names)
        }
        return nil
    }
}
