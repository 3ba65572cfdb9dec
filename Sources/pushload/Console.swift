import Foundation
import Glibc
import Networking
import Reports

/// Printing: reports to standard error while JSON is on standard output, one live line on a terminal.
enum Console {
    static func output(_ text: String) { StandardStreams.output(text) }
    static func diagnostic(_ text: String) { StandardStreams.error(text) }

    /// One line a problem.
    static func error(_ text: String) {
        for line in text.split(separator: "\n") { diagnostic("pushload: \(line)\n") }
    }

    static var isTerminal: Bool { isatty(STDERR_FILENO) == 1 }

    /// Columns of the terminal; 80 when that cannot be said.
    static var width: Int {
        var size = winsize()
        guard ioctl(STDERR_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return 80 }
        return Int(size.ws_col)
    }

    /// What standard output can show: its columns, and whether its characters are those of Unicode.
    static var picture: TextPicture {
        let environment = ProcessInfo.processInfo.environment
        var size = winsize()
        let isKnown = ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0 && size.ws_col > 0
        let width = isKnown ? Int(size.ws_col) : environment["COLUMNS"].flatMap(Int.init) ?? 80
        return TextPicture(width: min(width, 1000), isUnicode: isUnicode(environment))
    }

    /// As POSIX finds the character set: the first of these variables that says anything.
    private static func isUnicode(_ environment: [String: String]) -> Bool {
        let names = ["LC_ALL", "LC_CTYPE", "LANG"]
        let locale = names.lazy.compactMap { environment[$0] }.first { !$0.isEmpty } ?? ""
        return locale.uppercased().contains("UTF-8") || locale.uppercased().contains("UTF8")
    }
}
