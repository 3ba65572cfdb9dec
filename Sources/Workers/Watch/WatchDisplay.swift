import Flags
import Glibc
import Reports
import Synchronization

/// Where a watched run is shown: on a terminal in place, on its other screen; elsewhere as one block of lines after the other.
final class WatchDisplay: Sendable {
    let isRedrawn = Console.isRedrawn(STDOUT_FILENO)
    /// The terminal's other screen is shown.
    private let isOpen = Mutex(false)

    func show(_ run: WatchedRun) {
        guard isRedrawn else { return write(run) }
        let (_, rows) = Console.size(of: STDOUT_FILENO)
        let lines = WatchView.lines(run, rows: rows - 1, Console.picture)
        isOpen.withLock { isOpen in
            if !isOpen { Console.output("\u{1B}[?1049h\u{1B}[?25l") }
            isOpen = true
            Console.output("\u{1B}[H" + lines.map { $0 + "\u{1B}[K" }.joined(separator: "\r\n") + "\u{1B}[J")
        }
    }

    /// Stays where it is printed.
    func write(_ run: WatchedRun) {
        let (_, rows) = Console.size(of: STDOUT_FILENO)
        let lines = WatchView.lines(run, rows: rows - 1, Console.picture)
        Console.output(lines.map { $0 + "\n" }.joined())
        if !isRedrawn, run.workers.count > 0 { Console.output("\n") }
    }

    /// Leaves the terminal as it was.
    func close() {
        isOpen.withLock { isOpen in
            if isOpen { Console.output("\u{1B}[?25h\u{1B}[?1049l") }
            isOpen = false
        }
    }
}
