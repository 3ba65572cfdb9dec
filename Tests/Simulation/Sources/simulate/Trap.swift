import Glibc

/// A line for people, at once: what traps next must not take it along.
func say(_ text: String) {
    var line = Array(text.utf8)
    line.append(10)
    _ = write(1, line, line.count)
}

/// A run that traps takes the process along: its seed is said before.
enum Trap {
    nonisolated(unsafe) static var seed: UInt64 = 0

    static func arm() {
        for number in [SIGILL, SIGTRAP, SIGSEGV, SIGABRT, SIGBUS, SIGFPE] {
            signal(number) { _ in
                say("seed \(Trap.seed): FAILED: the process trapped (make simulate SEED=\(Trap.seed))")
                _exit(2)
            }
        }
    }
}
