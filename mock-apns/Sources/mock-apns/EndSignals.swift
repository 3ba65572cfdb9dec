import Foundation
import Glibc

/// What a server is told by its user: SIGTERM and SIGINT to end, SIGUSR1 to say what it counted.
struct EndSignals {
    private var signals = sigset_t()

    /// Before the first thread, so that every thread inherits it: signals are taken by `wait`.
    init() {
        sigemptyset(&signals)
        for number in [SIGTERM, SIGINT, SIGUSR1] { sigaddset(&signals, number) }
        pthread_sigmask(SIG_BLOCK, &signals, nil)
    }

    /// Before what is read at the start: a question that comes meanwhile waits for its answer, and ends nothing.
    static func holdReports() {
        var reports = sigset_t()
        sigemptyset(&reports)
        sigaddset(&reports, SIGUSR1)
        pthread_sigmask(SIG_BLOCK, &reports, nil)
    }

    /// Returns when the server is to end.
    func wait(report: () -> Void) {
        var waited = signals
        while true {
            var number: Int32 = 0
            guard sigwait(&waited, &number) == 0 else { continue }
            guard number == SIGUSR1 else { return }
            report()
        }
    }

    /// Whether one of them has come since the last time; waits for nothing.
    var hasCome: Bool {
        var waited = signals
        var none = timespec()
        let number = sigtimedwait(&waited, nil, &none)
        return number > 0 && number != SIGUSR1
    }

    /// Ends when standard input is closed.
    func watchStandardInput() {
        Thread.detachNewThread {
            var byte: UInt8 = 0
            while true {
                let count = read(STDIN_FILENO, &byte, 1)
                if count > 0 || (count < 0 && errno == EINTR) { continue }
                kill(getpid(), SIGTERM)
                return
            }
        }
    }
}
