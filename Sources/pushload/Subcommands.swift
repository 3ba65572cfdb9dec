import ArgumentParser
import Settings

/// Names of commands as people type them.
enum Subcommands {
    /// - Parameter arguments: of the program, its own name first.
    /// - Returns: what is wrong with the first word that is no command where only one can be; nil when there is none.
    static func misspelt(_ arguments: [String], of root: any ParsableCommand.Type) -> String? {
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
