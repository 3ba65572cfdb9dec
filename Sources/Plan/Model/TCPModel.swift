import Foundation

/// What TCP does to a connection over a real network: how long it takes to become fast, and how fast it gets where segments are
/// lost. Formulas of papers and RFCs; nothing of it is measured.
struct TCPModel {
    /// Segments that a new connection may send before anything is acknowledged (RFC 6928, section 2).
    static let initialWindow = 10.0
    /// C and β of CUBIC (RFC 9438, section 4.6: 0.4 and 0.7).
    private static let cubic = (c: 0.4, beta: 0.7)
    /// A segment that is lost twice waits for a timeout, at least so long (RFC 6298 allows 200 ms, as Linux does), ns.
    static let leastTimeout = 200e6

    private let question: PlanQuestion

    init(_ question: PlanQuestion) { self.question = question }

    /// What slow start costs: time at full speed in which the same bytes would have been sent, ns; 0 without a network.
    ///
    /// A round trip each, 10, 20, 40 … segments are sent, until there are as many as the streams, the window or the link let be on
    /// their way, W (RFC 5681, section 3.1). Of k such rounds, k − (2ᵏ − 1) × 10 / W are lost.
    var slowStart: Double {
        guard question.hasNetwork, question.segmentBytes > 0 else { return 0 }
        var full = Double(question.streams) * question.segmentBytes
        if let window = question.window, question.payloadBytes > 0 {
            full = min(full, window / question.payloadBytes * question.segmentBytes)
        }
        if let rate = question.linkRate { full = min(full, rate * question.roundTrip / 1e9) }
        let first = Self.initialWindow * PlanQuestion.segment
        guard full > first else { return 0 }
        let rounds = log2(full / first).rounded(.up)
        return question.roundTrip * (rounds - (exp2(rounds) - 1) * first / full)
    }

    /// Pushes a second of a connection whose segments are lost at random; nil without loss or network.
    var lossRate: Double? {
        guard question.hasNetwork, question.segmentBytes > 0,
            let window = Self.window(loss: question.loss, roundTrip: question.roundTrip)
        else { return nil }
        return window * PlanQuestion.segment / question.segmentBytes / question.roundTrip * 1e9
    }

    /// Segments on their way on average, where a share of them is lost at random: √(3/2) / √p (Mathis, Semke, Mahdavi, Ott: The
    /// Macroscopic Behavior of the TCP Congestion Avoidance Algorithm, 1997, section 3, an acknowledgement for each), or
    /// CUBIC's (C (3 + β) / (4 (1 − β)))^¼ r^¾ / p^¾ where that is larger (RFC 9438, section 5.1), r in seconds. The former knows no
    /// timeouts: at a loss of 5 % it is 1.4 times too high.
    ///
    /// - Parameters:
    ///   - loss: 0 … 1.
    ///   - roundTrip: nanoseconds.
    /// - Returns: nil without loss.
    static func window(loss: Double, roundTrip: Double) -> Double? {
        guard loss > 0 else { return nil }
        let reno = (1.5 / loss).squareRoot()
        let factor = pow(cubic.c * (3 + cubic.beta) / (4 * (1 - cubic.beta)), 0.25)
        return max(1, reno, factor * pow(roundTrip / 1e9 / loss, 0.75))
    }
}
