import Measurement
import Networking
import Scenarios
import Transport

/// The pushes of one worker that wait to be sent again, and what became of retries.
struct Retries {
    private struct Waiting {
        let due: UInt64
        let ticket: PushTicket
    }

    private let policy: RetryPolicy
    private let attempts: UInt64
    private let backoff: UInt64
    private let budget: Double
    /// Earliest first, by insertion: waits are short and few.
    private var waiting: [Waiting] = []
    private var random: UInt64
    private(set) var counts = RetryCounts()

    init(_ scenario: Scenario, worker: UInt64) {
        policy = (try? RetryPolicy(parsing: scenario.retry)) ?? .off
        attempts = min(scenario.retryAttempts, 255)
        backoff = scenario.retryBackoff
        budget = scenario.retryBudget
        random = scenario.seed &+ worker &* 0x9E37_79B9_7F4A_7C15
    }

    /// Retries that no budget above 0 refuses a worker, so that the first pushes of a run have one.
    private static let always = 10.0

    private var isStopped = false

    var isOff: Bool { policy.isOff }
    var isEmpty: Bool { waiting.isEmpty }
    /// When the next one is to be sent, ns.
    var nextDue: UInt64? { waiting.first?.due }

    /// From now on every outcome is final.
    mutating func stop() { isStopped = true }

    /// Takes an outcome that can be retried.
    ///
    /// - Parameters:
    ///   - written: when its last attempt was handed to the kernel, ns; 0: it was not.
    ///   - sent: pushes sent so far, for the budget.
    /// - Returns: false when it is final.
    mutating func take(_ ticket: PushTicket, _ outcome: PushOutcome, written: UInt64, sent: UInt64, now: UInt64) -> Bool
    {
        switch outcome {
        case .accepted:
            if ticket.retries > 0 { counts.recovered += 1 }
            return false
        case .rejected(let status): if !policy.includes(status: Int(status)) { return false }
        case .failed(let cause): if !policy.connectionLoss || !cause.isConnectionLoss { return false }
        }
        guard !isStopped else { return false }
        guard UInt64(ticket.retries) < attempts else {
            counts.exhausted += 1
            return false
        }
        guard budget > 0, Double(counts.attempts + 1) <= max(Double(sent) * budget, Self.always) else {
            counts.overBudget += 1
            return false
        }
        counts.attempts += 1
        random = random &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        let full = backoff << UInt64(ticket.retries)
        let due = now &+ full - UInt64(Double(full / 2) * Double(random >> 40) / Double(1 << 24))
        var again = ticket
        again.retries += 1
        again.attempts = 0
        if written != 0 { again.wasWritten = true }
        let place = waiting.firstIndex { $0.due > due } ?? waiting.count
        waiting.insert(Waiting(due: due, ticket: again), at: place)
        return true
    }

    /// The next one that is due.
    mutating func next(now: UInt64) -> PushTicket? {
        guard let first = waiting.first, first.due <= now else { return nil }
        waiting.removeFirst()
        return first.ticket
    }

    /// Those that will not be sent any more.
    mutating func removeAll() -> [PushTicket] {
        defer { waiting = [] }
        return waiting.map(\.ticket)
    }
}
