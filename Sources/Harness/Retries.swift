import Measurement
import Networking
import Results
import Scenarios
import Transport

/// How an attempt ended: what its push ends with, if no other is sent.
struct EndedAttempt {
    let ticket: PushTicket
    let outcome: PushOutcome
    let connection: Int
    /// As the engine tells them (`PushDriver.finished`), ns.
    let started: UInt64
    let written: UInt64
    let time: UInt64
    /// Of a rejection; empty when it gave none.
    let reason: [UInt8]
}

/// The pushes of one worker that are to be sent again, and what became of retries.
struct Retries {
    /// A push that was given out again.
    private struct UnderWay {
        let last: EndedAttempt
        var isSent = false
    }

    private let policy: RetryPolicy
    private let attempts: UInt64
    private let backoff: UInt64
    private let budget: Double
    /// Nothing is held for longer, ns.
    private let longestWait: UInt64
    private var waiting = DueQueue<EndedAttempt>()
    /// By sequence.
    private var underWay: [UInt64: UnderWay] = [:]
    /// Attempts that the budget was asked for.
    private var granted: UInt64 = 0
    private var random: UInt64
    private(set) var counts = ResultDocument.Retries()
    /// Pushes that were not sent again because they were to wait for longer than a push may take.
    private(set) var tooLong: UInt64 = 0

    init(_ scenario: Scenario, worker: UInt64) {
        policy = (try? RetryPolicy(parsing: scenario.retry)) ?? .off
        attempts = min(scenario.retryAttempts, 255)
        backoff = scenario.retryBackoff
        budget = scenario.retryBudget
        longestWait = scenario.pushTimeout
        random = scenario.seed &+ worker &* 0x9E37_79B9_7F4A_7C15
    }

    /// Retries that no budget above 0 refuses a worker, so that the first pushes of a run have one.
    private static let always = 10.0

    private var isStopped = false

    var isOff: Bool { policy.isOff }
    var isEmpty: Bool { waiting.isEmpty }
    /// When the next one is to be sent, ns.
    var nextDue: UInt64? { waiting.nextDue }

    /// From now on every outcome is final.
    mutating func stop() { isStopped = true }

    /// An attempt was handed to the kernel.
    mutating func noteSent(_ ticket: borrowing PushTicket) {
        guard ticket.retries > 0, underWay[ticket.sequence]?.isSent == false else { return }
        underWay[ticket.sequence]?.isSent = true
        counts.attempts += 1
    }

    /// The push has ended under the engine.
    ///
    /// - Returns: how it ended before it was given out again; nil: it was not.
    mutating func didEnd(_ ticket: borrowing PushTicket) -> EndedAttempt? {
        ticket.retries > 0 ? underWay.removeValue(forKey: ticket.sequence)?.last : nil
    }

    /// Takes an outcome that can be retried.
    ///
    /// - Parameters:
    ///   - reason: of a rejection, nil when it gave none.
    ///   - sent: pushes sent so far, for the budget.
    ///   - asked: how long to wait at least, ns (Retry-After).
    /// - Returns: false when it is final.
    mutating func take(
        _ ticket: PushTicket, _ outcome: PushOutcome, connection: Int, started: UInt64, written: UInt64,
        at now: UInt64, reason: UnsafeBufferPointer<UInt8>?, sent: UInt64, asked: UInt64 = 0
    ) -> Bool {
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
        guard asked <= longestWait else {
            tooLong += 1
            return false
        }
        guard budget > 0, Double(granted + 1) <= max(Double(sent) * budget, Self.always) else {
            counts.overBudget += 1
            return false
        }
        granted += 1
        random = random &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        let full = backoff << UInt64(ticket.retries)
        let wait = full - UInt64(Double(full / 2) * Double(random >> 40) / Double(1 << 24))
        let due = now &+ max(wait, asked)
        let last = EndedAttempt(
            ticket: ticket, outcome: outcome, connection: connection, started: started, written: written, time: now,
            reason: reason.map(Array.init) ?? [])
        waiting.add(last, due: due)
        return true
    }

    /// The next one that is due.
    mutating func next(now: UInt64) -> PushTicket? {
        guard let last = waiting.take(now: now) else { return nil }
        var again = last.ticket
        again.retries += 1
        again.attempts = 0
        if last.written != 0 { again.wasWritten = true }
        underWay[again.sequence] = UnderWay(last: last)
        return again
    }

    /// Those that will not be sent any more, in the order in which they ended.
    mutating func removeAll() -> [EndedAttempt] {
        var all: [EndedAttempt] = []
        waiting.removeAll {
            all.append($0)
            return true
        }
        return all.sorted { ($0.time, $0.ticket.sequence) < ($1.time, $1.ticket.sequence) }
    }
}
