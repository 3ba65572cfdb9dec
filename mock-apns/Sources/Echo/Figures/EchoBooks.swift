import Devices
import Measurement

/// What became of the requests of devices. Each is made once and ends at most once. Times are nanoseconds of the monotonic clock.
package struct EchoBooks: Sendable {
    /// How requests ended.
    package struct Endings: Sendable, Equatable {
        package var requests: UInt64 = 0
        package var answered: UInt64 = 0
        package var failed: UInt64 = 0
        package var givenUp: UInt64 = 0
        package var notBegun: UInt64 = 0
        /// Those that have not ended.
        package var underWay: UInt64 { requests &- answered &- failed &- givenUp &- notBegun }
    }

    /// By place in `EchoRequest.Kind.allCases`.
    package private(set) var kinds = [Endings](repeating: Endings(), count: EchoRequest.Kind.allCases.count)
    package var retries: UInt64 = 0
    package var bytes: UInt64 = 0
    package var connections: UInt64 = 0
    /// Of every answer, by status.
    package private(set) var statuses: [Int: UInt64] = [:]
    package private(set) var failures: [String: UInt64] = [:]
    package private(set) var series = EchoSeries()
    package private(set) var latency = LatencyHistogram()
    package private(set) var unanswered = LatencyHistogram()
    package private(set) var wait = LatencyHistogram()
    /// Of those that were never begun: how long they had waited.
    package private(set) var waitUnanswered = LatencyHistogram()

    package var total: Endings {
        kinds.reduce(into: Endings()) {
            $0.requests += $1.requests
            $0.answered += $1.answered
            $0.failed += $1.failed
            $0.givenUp += $1.givenUp
            $0.notBegun += $1.notBegun
        }
    }

    package subscript(_ kind: EchoRequest.Kind) -> Endings { kinds[kind.place] }

    mutating func made(_ kind: EchoRequest.Kind, at time: UInt64) {
        kinds[kind.place].requests += 1
        series.addRequest(at: time)
    }

    mutating func begun(_ ask: Ask, at time: UInt64) {
        if ask.attempts == 0 { wait.record(time - min(time, ask.madeAt)) } else { retries += 1 }
    }

    mutating func tookAnswer(_ status: Int) { statuses[status, default: 0] += 1 }

    mutating func answered(_ ask: Ask, at time: UInt64) {
        kinds[ask.kind.place].answered += 1
        latency.record(time - min(time, ask.madeAt))
        series.addAnswer(at: time)
    }

    mutating func failed(_ kind: EchoRequest.Kind, _ cause: String, madeAt: UInt64, at time: UInt64) {
        kinds[kind.place].failed += 1
        failures[cause, default: 0] += 1
        unanswered.record(time - min(time, madeAt))
    }

    mutating func gaveUp(_ ask: Ask, at time: UInt64) {
        kinds[ask.kind.place].givenUp += 1
        unanswered.record(time - min(time, ask.madeAt))
    }

    mutating func neverBegan(_ ask: Ask, at time: UInt64) {
        kinds[ask.kind.place].notBegun += 1
        stayed(ask, at: time)
    }

    /// Nothing more will come of it: it had been waited for so long.
    mutating func stayed(_ ask: Ask, at time: UInt64) {
        let waited = time - min(time, ask.madeAt)
        unanswered.record(waited)
        if ask.attempts == 0 { waitUnanswered.record(waited) }
    }
}

extension EchoRequest.Kind {
    /// In `allCases`.
    var place: Int {
        switch self {
        case .fetch: 0
        case .rich: 1
        case .attachment: 2
        case .action: 3
        }
    }
}
