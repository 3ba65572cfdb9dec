import Harness
import Settings

/// What workers say to each other: the files of a rendezvous. Times are seconds since 1970 by the clock of whoever wrote them.

/// `run.json`: which run has the folder. Made once, by the worker that comes first.
package struct RunFile: Codable, Sendable, Equatable {
    /// 16 hexadecimal digits.
    package var id: String
    package var workers: Int
    package var created: Double
    /// As a result has them.
    package var scenario: [String: JSONValue]
    /// A worker that has written nothing for so long is lost, seconds, as the one that made this file was told; nil: as `usualPatience`.
    package var lostAfter: Double?

    enum CodingKeys: String, CodingKey {
        case id, workers, created, scenario
        case lostAfter = "lost_after_seconds"
    }

    /// Where `--lost-after` says nothing else, seconds.
    package static let usualPatience = 30.0
    var patience: Double { lostAfter.map { max(0, $0) } ?? Self.usualPatience }

    package init(
        id: String, workers: Int, created: Double, scenario: [String: JSONValue], lostAfter: Double? = nil
    ) {
        self.id = id
        self.workers = workers
        self.created = created
        self.scenario = scenario
        self.lostAfter = lostAfter
    }
}

/// `worker-I/claim-K`: who is worker I in its K-th attempt. Made once.
struct ClaimFile: Codable, Sendable {
    let host: String
    let pid: Int32
    let at: Double
}

/// `worker-I/ready.json`: the worker has loaded everything.
struct ReadyFile: Codable, Sendable {
    @PlainText var host: String
    let attempt: Int
    let content: RunContent
}

/// `worker-I/status.json`: how far it is; replaced about each second.
package struct StatusFile: Codable, Sendable, Equatable {
    package enum State: String, Codable, Sendable {
        /// Has loaded everything, and waits for the start.
        case ready
        case running
        /// Its own pushes have ended; it waits for the others.
        case waiting
        /// It was told to end, and may be started again.
        case left
        /// The whole run is over, or it will not come back to this one.
        case done
    }

    package var worker: Int
    package var workers: Int
    @PlainText package var host: String
    package var pid: Int32
    package var attempt: Int
    package var state: State
    /// Counts the times it was written.
    package var beat: UInt64 = 0
    package var at: Double = 0
    /// Since the start, seconds.
    package var elapsed: Double = 0
    package var planned: UInt64?
    package var sent: UInt64 = 0
    package var accepted: UInt64 = 0
    package var rejected: UInt64 = 0
    package var failed: UInt64 = 0
    package var notSent: UInt64 = 0
    package var inFlight: Int = 0
    package var backlog: UInt64 = 0
    /// Ended pushes, and what the schedule asks for, of the last second or so.
    package var perSecond: Double = 0
    package var targetPerSecond: Double?
    package var p50: UInt64 = 0
    package var p99: UInt64 = 0
    /// What connections ran into last; empty when nothing.
    @PlainText package var problem = ""

    enum CodingKeys: String, CodingKey {
        case worker, host, pid, attempt, state, beat, at, elapsed, planned, sent, accepted, rejected, failed, backlog
        case problem
        case workers = "of"
        case notSent = "not_sent"
        case inFlight = "in_flight"
        case perSecond = "per_second"
        case targetPerSecond = "target_per_second"
        case p50 = "p50_ns"
        case p99 = "p99_ns"
    }

    package init(worker: Int, workers: Int, host: String, pid: Int32, attempt: Int, state: State) {
        _host = PlainText(wrappedValue: host)
        (self.worker, self.workers, self.pid) = (worker, workers, pid)
        (self.attempt, self.state) = (attempt, state)
    }
}

/// `start.json`: when the run starts. Made once, by the worker that gives the start.
struct StartFile: Codable, Sendable, Equatable {
    /// A beat of a worker, for finding out how far its clock is off.
    struct Seen: Codable, Sendable, Equatable {
        let worker: Int
        /// When it says that it wrote it, by its own clock.
        let at: Double
        /// When it was seen.
        let seen: Double
    }

    /// When it starts.
    let at: Double
    /// Whose clock that is.
    let clockOf: Int
    /// When this was written.
    let written: Double
    /// Workers that had not come.
    let without: [Int]
    /// Of each worker the beat that was seen soonest.
    let seen: [Seen]

    enum CodingKeys: String, CodingKey {
        case at, written, without, seen
        case clockOf = "clock_of"
    }
}

/// `stop.json`: one of them asks all to stop. Made once.
struct StopFile: Codable, Sendable {
    let worker: Int
    @PlainText var reason: String
}

/// `worker-I/shard.json`: its result is whole. Made once.
struct ShardFile: Codable, Sendable {
    /// Whose it is: a folder that is a link to another one's has none of its own.
    let worker: Int?
    /// Which attempt brought it home.
    let attempt: Int
}

/// `worker-I/begun-K.json`: how its K-th attempt began; before it sends anything.
struct BegunFile: Codable, Sendable {
    @PlainText var host: String
    /// Of each thread the first push that is this attempt's.
    let positions: [UInt64]
    /// Pushes it plans; nil where that is not known beforehand.
    let planned: UInt64?
    /// So long after the common start, seconds; nil: with the others.
    let late: Double?
    /// From the common start to its own, seconds.
    let begun: Double
    /// Of its clock against the one that gave the start, ns: to be added to its own.
    let clockOffset: Double?
    let clockBound: Double?

    enum CodingKeys: String, CodingKey {
        case host, positions, planned, late, begun
        case clockOffset = "clock_offset_ns"
        case clockBound = "clock_bound_ns"
    }

    /// No time in it is longer than 30 years.
    var isPlausible: Bool {
        begun >= 0 && [begun, late ?? 0].allSatisfy { abs($0) < 1e9 } && (clockBound ?? 0) >= 0
            && [clockOffset ?? 0, clockBound ?? 0].allSatisfy { abs($0) < 9e18 }
    }
}

/// `end.json`: the whole run is over, and `result.json` is final.
package struct EndFile: Codable, Sendable, Equatable {
    /// No worker was lost.
    package let complete: Bool
    /// Exit status of every worker.
    package let status: Int32
    package let lost: [Int]
}
