import Foundation
import Glibc
import Networking
import Reports

/// Printing: reports to standard error while JSON is on standard output, one live line on a terminal.
package enum Console {
    package static func output(_ text: String) { StandardStreams.output(text) }
    package static func diagnostic(_ text: String) { StandardStreams.error(text) }

    /// One line a problem; on a terminal, on as many of its lines as that takes. Of what strangers wrote into it nothing moves the cursor.
    package static func error(_ text: String) {
        let lines = text.split(separator: "\n").map { "pushload: \(TextLines.plain(String($0)))" }
        let width = isatty(STDERR_FILENO) == 1 ? windowSize(STDERR_FILENO)?.columns : nil
        for line in width.map({ TextLines.fitted(lines, width: $0) }) ?? lines { diagnostic(line + "\n") }
    }

    /// Standard error is a terminal whose lines can be written anew.
    package static var isRedrawn: Bool { isRedrawn(STDERR_FILENO) }

    /// The same of another stream.
    package static func isRedrawn(_ descriptor: Int32) -> Bool {
        isatty(descriptor) == 1 && ProcessInfo.processInfo.environment["TERM"] != "dumb"
    }

    /// Columns and rows of the terminal that is standard error; 80 and 24 when that cannot be said.
    package static var size: (columns: Int, rows: Int) { size(of: STDERR_FILENO) }

    /// The same of another stream.
    package static func size(of descriptor: Int32) -> (columns: Int, rows: Int) {
        let size = windowSize(descriptor)
        return (size?.columns ?? 80, size?.rows ?? 24)
    }

    private static func windowSize(_ descriptor: Int32) -> (columns: Int, rows: Int)? {
        var size = winsize()
        guard ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0, size.ws_row > 0 else { return nil }
        return (Int(size.ws_col), Int(size.ws_row))
    }

    /// What standard output can show.
    package static var picture: TextPicture { picture(of: STDOUT_FILENO) }

    /// What a stream can show: its columns (COLUMNS or 80 where it is no terminal), whether its characters are those of
    /// Unicode, and whether it has colours: terminals have, unless NO_COLOR is set (no-color.org) or TERM is `dumb`.
    package static func picture(of descriptor: Int32) -> TextPicture {
        let environment = ProcessInfo.processInfo.environment
        let width = windowSize(descriptor)?.columns ?? environment["COLUMNS"].flatMap(Int.init) ?? 80
        let isColoured =
            isatty(descriptor) == 1 && environment["TERM"] != "dumb" && (environment["NO_COLOR"] ?? "").isEmpty
        return TextPicture(width: min(width, 1000), isUnicode: isUnicode(environment), isColoured: isColoured)
    }

    /// As POSIX finds the character set: the first of these variables that says anything.
    private static func isUnicode(_ environment: [String: String]) -> Bool {
        let names = ["LC_ALL", "LC_CTYPE", "LANG"]
        let locale = names.lazy.compactMap { environment[$0] }.first { !$0.isEmpty } ?? ""
        return locale.uppercased().contains("UTF-8") || locale.uppercased().contains("UTF8")
    }
}
