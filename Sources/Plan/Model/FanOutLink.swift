import Foundation
import Statistics

/// The way between client and server: delay, jitter, and what TCP makes of lost segments. Order is kept on a connection, so that what
/// comes behind a late piece is late too.
struct FanOutLink {
    /// There and back, ns.
    var roundTrip = 0.0
    /// Each piece is late by a random time up to this, ns.
    var jitter = 0.0
    /// Of segments of `PlanQuestion.segment` bytes, 0 ... below 1.
    var loss = 0.0

    /// When a piece comes out.
    ///
    /// A lost segment is sent again a round trip later, when acknowledgements of what follows say so (RFC 5681, section 3.2); one that
    /// is lost again waits for a timeout, each twice as long as that before (RFC 6298, section 5).
    ///
    /// - Parameters:
    ///   - leaves: when it is on the link, ns.
    ///   - bytes: of the piece.
    ///   - last: when the piece before comes out; this one's afterwards.
    func arrival(leaves: Double, bytes: Double, last: inout Double, _ random: inout SplitMix) -> Double {
        var time = leaves + roundTrip / 2
        guard jitter > 0 || loss > 0 else { return time }
        if jitter > 0 { time += jitter * random.share() }
        if loss > 0 {
            let segments = max(1, (bytes / PlanQuestion.segment).rounded(.up))
            if random.share() >= pow(1 - loss, segments) {
                time += roundTrip
                var timeout = max(TCPModel.leastTimeout, roundTrip)
                // Ten times in a row is a broken link.
                var again = 0
                while again < 10, random.share() < loss {
                    time += timeout
                    timeout *= 2
                    again += 1
                }
            }
        }
        last = max(last, time)
        return last
    }
}
