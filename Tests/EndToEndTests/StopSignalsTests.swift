import Flags
import Glibc
import Synchronization
import Testing

struct StopSignalsTests {
    @Test("A signal that comes at once is not lost, nor is any of several")
    func atOnce() async throws {
        for _ in 0..<50 {
            let count = Mutex(0)
            let signals = StopSignals([SIGUSR2]) { count.withLock { $0 += 1 } }
            for _ in 0..<3 { kill(getpid(), SIGUSR2) }
            for _ in 0..<3000 where count.withLock({ $0 }) == 0 { try await Task.sleep(for: .milliseconds(10)) }
            signals.cancel()
            try #require(count.withLock { $0 } >= 1)
        }
    }
}
