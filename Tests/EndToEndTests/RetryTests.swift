import Foundation
import Results
import Testing

@Suite(.serialized, .waitsForPrograms) struct RetryTests {
    @Test(
        "Rejections that a provider would send again are, and nearly all pushes get through",
        arguments: Programs.engines)
    func recovers(_ engine: String) throws {
        let (result, status, error) = try Programs.load([
            "-n", "3000", "--engine", engine, "--retry", "429,5xx", "--retry-backoff", "5ms", "--retry-attempts", "5",
            "--retry-budget", "50%", "--mock-flags",
            "--fault-seed 3 --reject ServiceUnavailable=10% --reject TooManyRequests=5%",
        ])
        #expect(status == 0, "\(error)")
        #expect(result.pushes.accepted == 3000 && result.pushes.rejected == 0 && result.pushes.lost == 0)
        let retries = result.retries
        // 15 % of 3,000, and 15 % of those again.
        #expect((400...680).contains(retries.attempts) && retries.recovered > 350, "\(retries)")
        #expect(retries.exhausted == 0 && retries.overBudget == 0)
        #expect(result.pushes.sentAgain == retries.attempts && result.pushes.sent == 3000 + retries.attempts)
    }

    @Test("Attempts and budget are bounds: what is left stays rejected")
    func bounds() throws {
        let flags = [
            "-n", "2000", "--retry", "5xx", "--retry-backoff", "1ms", "--expect-reasons", "ServiceUnavailable",
        ]
        let (hopeless, status, error) = try Programs.load(
            flags + [
                "--retry-attempts", "2", "--retry-budget", "100%", "--mock-flags", "--reject ServiceUnavailable=100%",
            ])
        #expect(status == 0 && hopeless.pushes.rejected == 2000, "\(error)")
        #expect(hopeless.retries.recovered == 0 && hopeless.retries.attempts > 1000)
        let (budget, _, _) = try Programs.load(
            flags + ["--retry-budget", "1%", "--mock-flags", "--fault-seed 1 --reject ServiceUnavailable=20%"])
        #expect(budget.retries.attempts <= 25 && budget.retries.overBudget > 300, "\(budget.retries)")
        #expect(budget.pushes.accepted + budget.pushes.rejected == 2000)
    }

    @Test(
        "Answered pushes that wait to be sent again when the run ends are rejected: nothing more was sent, nobody was silent"
    )
    func waitsAtTheEnd() throws {
        let (result, _, error) = try Programs.load([
            "-D", "500ms", "--rate", "100", "--retry", "5xx", "--retry-backoff", "60s", "--retry-budget", "100%",
            "--mock-flags", "--reject ServiceUnavailable=100%",
        ])
        #expect(result.pushes.planned == 50 && result.pushes.rejected == 50 && result.pushes.failed == 0, "\(error)")
        #expect(result.statuses == ["503": 50] && result.reasons == ["ServiceUnavailable": 50], "\(result.failures)")
        #expect(result.retries.attempts == 0 && result.pushes.sent == 50 && result.pushes.sentAgain == 0)
        #expect(result.latency[.total].unanswered == 0 && result.latency[.total].count == 50)
    }

    @Test("Pushes on lost connections are sent again when asked; the books balance, and doubles are counted")
    func connections() throws {
        let (result, _, error) = try Programs.load([
            "-D", "1s", "--rate", "3000", "-c", "2", "--retry", "connection", "--retry-budget", "100%",
            "--retry-backoff", "5ms",
            "--mock-flags", "--tcp-reset-every 200ms --latency 10ms",
        ])
        #expect(result.pushes.planned == 3000 && result.pushes.lost == 0, "\(error)")
        #expect(result.retries.attempts > 0 && result.retries.recovered > 0, "\(result.retries) \(result.failures)")
    }
}
