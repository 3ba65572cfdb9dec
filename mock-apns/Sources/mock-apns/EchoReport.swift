import Echo
import Measurement
import Settings

/// What devices asked of their backend, for people.
enum EchoReport {
    static func lines(_ echo: EchoFigures) -> [String] {
        let (books, total) = (echo.books, echo.books.total)
        let endings = MockReport.listed([
            "answered": total.answered, "failed": total.failed, "given up": total.givenUp,
            "not begun": total.notBegun, "under way": total.underWay,
        ])
        var lines = [
            "asked of \(echo.url) \(Units.grouped(total.requests))" + (total.requests > 0 ? ": \(endings)" : "")
        ]
        if total.failed > 0 { lines.append("  failed: \(MockReport.listed(books.failures))") }
        if total.answered > 0 {
            let latency = books.latency.summary
            lines.append(
                "  latency p50 \(Units.duration(nanoseconds: Double(latency.p50))), "
                    + "p99 \(Units.duration(nanoseconds: Double(latency.p99))), "
                    + "max \(Units.duration(nanoseconds: Double(latency.max)))")
        }
        lines.append(
            "  connections opened \(Units.grouped(books.connections)), retries \(Units.grouped(books.retries)), "
                + "received \(Units.bytes(books.bytes))")
        return lines
    }
}
