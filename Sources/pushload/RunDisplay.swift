import Flags
import Glibc
import Reports
import Synchronization

/// What a run shows of itself on standard error while it goes on: charts that fill the terminal, one line that is renewed, or,
/// where nothing can be renewed, a line now and then.
final class RunDisplay: Sendable {
    private struct State {
        var view: LiveView
        /// The terminal's other screen is shown.
        var isOpen = false
        /// The renewed line is there.
        var hasLine = false
        /// Said while the other screen is shown; the last ones are said again when it goes.
        var messages: [String] = []
    }

    private static let mostMessages = 20

    private let isQuiet: Bool
    private let isLive: Bool
    /// Whether what is shown can be renewed.
    let isRedrawn: Bool
    private let state: Mutex<State>

    /// - Parameter isLive: charts, where the terminal has room for them.
    init(name: String, isQuiet: Bool, isLive: Bool) {
        self.isQuiet = isQuiet
        self.isLive = isLive
        isRedrawn = !isQuiet && Console.isRedrawn
        state = Mutex(State(view: LiveView(name: name)))
    }

    func show(_ progress: Reports.Progress) {
        guard !isQuiet else { return }
        state.withLock { state in
            let (columns, rows) = Console.size
            guard isRedrawn else { return Console.diagnostic("\(progress.line(width: columns))\n") }
            state.view.add(progress)
            guard isLive, LiveView.fits(columns: columns, rows: rows) else {
                Self.close(&state)
                state.hasLine = true
                // The terminal's own ^C still fits behind it: what goes on below would not be erased.
                return Console.diagnostic("\r\u{1B}[K\(progress.line(width: columns - 3))")
            }
            // The other screen, without a cursor; at the end the first one is back as it was.
            if !state.isOpen { Console.diagnostic("\u{1B}[?1049h\u{1B}[?25l") }
            state.isOpen = true
            let lines = state.view.lines(
                rows: rows, message: state.messages.last ?? "", Console.picture(of: STDERR_FILENO))
            Console.diagnostic(
                "\u{1B}[H" + lines.prefix(rows - 1).map { $0 + "\u{1B}[K" }.joined(separator: "\r\n") + "\u{1B}[J")
        }
    }

    /// A line that stays, said with the program's name.
    func say(_ text: String) {
        let text = TextLines.plain(text)
        state.withLock { state in
            if state.isOpen {
                state.messages = (state.messages + [text]).suffix(Self.mostMessages)
            } else {
                Self.close(&state)
                Console.error(text)
            }
        }
    }

    /// Leaves the terminal as it was.
    func close() { state.withLock { Self.close(&$0) } }

    private static func close(_ state: inout State) {
        if state.isOpen {
            Console.diagnostic("\u{1B}[?25h\u{1B}[?1049l")
            state.isOpen = false
            for message in state.messages { Console.error(message) }
            state.messages = []
        }
        if state.hasLine { Console.diagnostic("\r\u{1B}[K") }
        state.hasLine = false
    }
}
