import Foundation
import Glibc

/// Printing: reports to standard error while JSON is on standard output, one live line on a terminal.
enum Console {
    static func output(_ text: String) { FileHandle.standardOutput.write(Data(text.utf8)) }
    static func diagnostic(_ text: String) { FileHandle.standardError.write(Data(text.utf8)) }

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
}
