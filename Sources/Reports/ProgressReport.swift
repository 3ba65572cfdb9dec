import Results
import Settings

/// How far a run is.
package struct Progress: Sendable, Equatable {
    /// Pushes that ended, one way or the other.
    var done: UInt64
    /// nil when the number is not known beforehand.
    var planned: UInt64?
    /// Ended pushes a second over the last interval.
    var perSecond: Double
    /// Pushes a second the schedule asks for at this moment; nil without one.
    var target: Double?
    var inFlight: Int
    /// Intended time to answer over the last interval, ns; 0 when nothing was answered.
    var p50: UInt64
    var p99: UInt64
    /// Ended pushes that were not accepted.
    var errors: UInt64
    /// Seconds since the start.
    var elapsed: Double
    /// Seconds left, nil when that cannot be said.
    var secondsLeft: Double?
    /// Open loop: pushes that are due and wait.
    var backlog: UInt64
    /// That there is no connection for pushes that are due; empty: there is one.
    var outage: String

    package init(
        done: UInt64, planned: UInt64?, perSecond: Double, target: Double? = nil, inFlight: Int, p50: UInt64,
        p99: UInt64, errors: UInt64, elapsed: Double = 0, secondsLeft: Double?, backlog: UInt64 = 0, outage: String = ""
    ) {
        self.done = done
        self.planned = planned
        self.perSecond = perSecond
        self.target = target
        self.inFlight = inFlight
        self.p50 = p50
        self.p99 = p99
        self.errors = errors
        self.elapsed = elapsed
        self.secondsLeft = secondsLeft
        self.backlog = backlog
        self.outage = outage
    }

    /// `no connection for 1.2 s (connection refused), next in 30 ms`.
    ///
    /// - Parameters:
    ///   - lasts: ns.
    ///   - nextAttempt: after so long, ns; nil: one is under way.
    package static func outage(lasts: UInt64, cause: String, nextAttempt: UInt64?) -> String {
        let next =
            nextAttempt.map { "next in \(Units.fixed(Double($0) / 1e6, places: 0)) ms" } ?? "connecting"
        return
            "no connection for \(Units.fixed(Double(lasts) / 1e9, places: 1)) s\(cause.isEmpty ? "" : " (\(ResultDocument.NoConnection.plain(cause)))"), \(next)"
    }

    /// One line of at most `width` characters: that there is no connection, p99 and errors first, what is left last. What does not fit is left out, the
    /// median first, then what is in flight, the time left and the share that is done.
    package func line(width: Int) -> String {
        // Beside each part how soon it is left out.
        var parts: [(text: String, rank: Int)] = []
        if !outage.isEmpty {
            parts.append((outage, 8))
            parts.append(("backlog \(Units.grouped(backlog))", 7))
        }
        if p99 > 0 { parts.append(("p99 \(Units.duration(nanoseconds: Double(p99)))", 6)) }
        parts.append(("errors \(Units.grouped(errors))", 5))
        parts.append((Units.perSecond(perSecond.rounded()), 4))
        parts.append(("\(share ?? Units.grouped(done))", 3))
        parts.append(("in flight \(Units.grouped(UInt64(max(0, inFlight))))", 1))
        if p99 > 0 { parts.append(("p50 \(Units.duration(nanoseconds: Double(p50)))", 0)) }
        if let left { parts.append((left, 2)) }
        func joined() -> String { parts.map(\.text).joined(separator: "  ") }
        while parts.count > 1, joined().count > width {
            let least = parts.map(\.rank).min()
            parts.removeAll { $0.rank == least }
        }
        return String(joined().prefix(max(width, 1)))
    }

    /// `25% of 1,000,000`; nil when the whole is not known.
    var share: String? {
        planned.map { planned in
            let share = planned > 0 ? Double(done) / Double(planned) * 100 : 100
            return "\(Units.fixed(share.rounded(.down), places: 0))% of \(Units.grouped(planned))"
        }
    }

    /// `ETA 6s`.
    var left: String? {
        secondsLeft.flatMap { $0.isFinite && $0 >= 0 && $0 < 1e9 ? "ETA \(Units.clock(seconds: $0))" : nil }
    }
}
