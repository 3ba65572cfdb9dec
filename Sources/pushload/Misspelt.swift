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
