import Foundation
import Glibc

/// What a server is told by its user: SIGTERM and SIGINT to end, SIGUSR1 to say what it counted.
struct EndSignals {
    private let signals: sigset_t

    /// Before the first thread, so that every thread inherits it: signals are taken by `wait`.
    init() {
        signals = Self.hold([SIGTERM, SIGINT, SIGUSR1])
    }

    /// Before what is read at the start: a question that comes meanwhile waits for its answer, and ends nothing.
    static func holdReports() { _ = hold([SIGUSR1]) }

    private static func hold(_ numbers: [Int32]) -> sigset_t {
        var signals = sigset_t()
        sigemptyset(&signals)
        for number in numbers { sigaddset(&signals, number) }
        pthread_sigmask(SIG_BLOCK, &signals, nil)
        return signals
    }

    /// Who says it again so long after is not waited for: perhaps nobody reads what is being written. Sooner it is the same word, sent
    /// to a whole group and by its parent.
    private static let again = Duration.seconds(1)

    /// Returns when the server is to end; who says it again ends all at once.
    func wait(report: () -> Void) {
        var waited = signals
        while true {
            var number: Int32 = 0
            guard sigwait(&waited, &number) == 0 else { continue }
            guard number == SIGUSR1 else { return heedAgain() }
            report()
        }
    }

    private func heedAgain() {
        let (signals, first) = (signals, ContinuousClock.now)
        Thread.detachNewThread {
            var waited = signals
            while true {
                var number: Int32 = 0
                guard sigwait(&waited, &number) == 0, number != SIGUSR1, .now - first >= Self.again else { continue }
                // Standard error may be the pipe that nobody empties.
                var errors = pollfd(fd: STDERR_FILENO, events: Int16(POLLOUT), revents: 0)
                if poll(&errors, 1, 0) == 1 {
                    Output.error("mock-apns: told twice to end: what was being written is not complete")
                }
                _exit(128 + number)
            }
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
