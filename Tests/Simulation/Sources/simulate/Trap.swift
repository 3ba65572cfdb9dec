import Glibc

/// A line for people, at once: what traps next must not take it along.
func say(_ text: String) {
    var line = Array(text.utf8)
    line.append(10)
    _ = write(1, line, line.count)
}

/// A run that traps takes its process along: its seed is said before, and what came before it.
enum Trap {
    nonisolated(unsafe) static var seed: UInt64 = 0
    nonisolated(unsafe) static var before = ""
    private static let words = ": FAILED: the process trapped"

    static func arm() {
        for number in [SIGILL, SIGTRAP, SIGSEGV, SIGABRT, SIGBUS, SIGFPE] {
            signal(number) { _ in
                if !Trap.before.isEmpty { say(Trap.before) }
                say("seed \(Trap.seed)\(Trap.words) (make simulate SEED=\(Trap.seed))")
                _exit(2)
            }
        }
    }

    /// The seed that `line` says has trapped.
    static func seed(of line: String) -> UInt64? {
        guard line.contains(words) else { return nil }
        return UInt64(line.split(separator: " ")[1].prefix { $0.isNumber })
    }
}
