import Analysis
import Foundation
import Harness
import Networking
import Settings

/// Waits until all workers of a run are ready, and has them start together: the first of them that is there gives the start.
struct StartGate {
    /// What is done when workers have not come in time.
    enum Missing: String, CaseIterable, Sendable {
        /// Nobody starts.
        case stop
        /// The others start without them.
        case start
    }

    let folder: RendezvousFolder
    let rank: WorkerRank
    /// What this worker has loaded.
    let content: RunContent
    /// ns.
    let timeout: UInt64
    let missing: Missing
    /// Told whom it waits for.
    let tell: @Sendable (String) -> Void
    /// One that has been ready, and has written nothing for so long, is not there any more, ns.
    let lostAfter: UInt64

    /// From the moment that all were seen ready to the start, seconds: everybody must have read of it, and be connected.
    static let lead = 2.0
    /// Between two looks, ns.
    var pause: UInt64 { min(1_000_000_000, 20_000_000 * UInt64(1 + rank.workers / 50)) }

    /// A start as this worker sees it.
    struct Start: Sendable {
        /// By its own clock, seconds since 1970.
        let at: Double
        let clock: WorkerClock?
        /// It came while this worker waited.
        let isFresh: Bool
    }

    /// - Parameter isStopped: somebody wants this process to end.
    /// - Throws: one line: who has not come, who has something else, or that the run was given up.
    func wait(isStopped: () -> Bool) async throws(HarnessError) -> Start {
        let began = MonotonicClock.now()
        var presence = Presence(folder, now: began)
        var ready: [Int: ReadyFile] = [:]
        var hasWaited = false
        var isTold = false
        var unread: UInt64?
        while true {
            if isStopped() { throw HarnessError("stopped before the run began: nothing was sent", .failed) }
            let names = folder.names()
            if names.contains(RendezvousFolder.stop), let stop: StopFile = folder.read(RendezvousFolder.stop) {
                throw HarnessError("the run has not begun, and nothing was sent: \(stop.reason)", .failed)
            }
            if names.contains(RendezvousFolder.start), let start: StartFile = folder.read(RendezvousFolder.start) {
                return begin(start, hasWaited: hasWaited)
            }
            let now = MonotonicClock.now()
            if names.contains(RendezvousFolder.start) {
                unread = unread ?? now
                guard now - (unread ?? now) < Self.unreadable else {
                    throw HarnessError(
                        "\(folder.place(RendezvousFolder.start)): is there, and cannot be read; give an empty folder",
                        .failed)
                }
            }
            presence.look(0..<rank.workers, now: now)
            try takeReady(names, presence, &ready)
            let absent = (0..<rank.workers).filter {
                ready[$0] == nil || !presence.isLive($0) || presence.silence($0, now: now) >= lostAfter
            }
            if !isTold, now - began >= Self.noticed, !absent.isEmpty {
                isTold = true
                tell("waiting for \(WorkerMerge.named(absent)) of \(rank.workers)")
            }
            let isFirst = !(0..<rank.index).contains {
                presence.isLive($0) && presence.silence($0, now: now) < Self.quiet
            }
            if isFirst {
                if absent.isEmpty || missing == .start && now - began >= timeout && absent.count < rank.workers {
                    try give(without: absent, presence)
                } else if now - began >= timeout {
                    try giveUp(absent)
                }
            } else if now - began >= timeout + UInt64(Self.lead * 1e9) + 10_000_000_000 {
                throw HarnessError(
                    "the run has not begun: no start was given within \(Units.duration(nanoseconds: Double(now - began))) "
                        + "(--start-timeout)", .failed)
            }
            hasWaited = true
            try? await Task.sleep(nanoseconds: pause)
        }
    }

    /// What cannot be read for so long is not just being written, ns.
    private static let unreadable: UInt64 = 5_000_000_000
    /// Whom one waits for so long is said, ns.
    private static let noticed: UInt64 = 3_000_000_000
    /// A worker that has been silent for so long gives no start, ns.
    private static let quiet: UInt64 = 3_000_000_000

    /// - Throws: when one of them has loaded something else.
    private func takeReady(
        _ names: Set<String>, _ presence: Presence, _ ready: inout [Int: ReadyFile]
    ) throws(HarnessError) {
        for worker in 0..<rank.workers where ready[worker] == nil && names.contains(RendezvousFolder.worker(worker)) {
            guard let file: ReadyFile = folder.read(RendezvousFolder.worker(worker) + "/" + ShardFolder.ready),
                presence.status(worker).map({ $0.attempt == file.attempt }) ?? false
            else { continue }
            ready[worker] = file
            guard file.content == content else {
                let difference =
                    file.content.planned == content.planned
                    ? "its pushes are made of something else: its templates, device file, trace or registrations differ from worker \(rank.index)'s"
                    : "it plans \(Self.pushes(file.content.planned)) in all, worker \(rank.index) \(Self.pushes(content.planned))"
                throw try stop("worker \(worker) (\(file.host)) does not send the same run: \(difference)")
            }
        }
    }

    private static func pushes(_ count: UInt64?) -> String {
        count.map { Units.counted($0, "push") } ?? "no number of pushes"
    }

    private func give(without absent: [Int], _ presence: Presence) throws(HarnessError) {
        let now = WorkerClock.now()
        let lead = Self.lead + 4 * Double(pause) / 1e9
        let start = StartFile(
            at: now + lead, clockOf: rank.index, written: WorkerClock.now(), without: absent,
            seen: presence.soonest.values.sorted { $0.worker < $1.worker })
        _ = try folder.writeOnce(start, to: RendezvousFolder.start)
    }

    private func giveUp(_ absent: [Int]) throws(HarnessError) {
        let time = Units.duration(nanoseconds: Double(timeout))
        throw try stop(
            "\(WorkerMerge.named(absent)) of \(rank.workers) \(absent.count == 1 ? "has" : "have") not come within \(time) "
                + "(--start-timeout; --missing start goes on without)")
    }

    /// Asks all to stop.
    private func stop(_ reason: String) throws(HarnessError) -> HarnessError {
        _ = try folder.writeOnce(StopFile(worker: rank.index, reason: reason), to: RendezvousFolder.stop)
        let said: StopFile? = folder.read(RendezvousFolder.stop)
        return HarnessError("the run has not begun, and nothing was sent: \(said?.reason ?? reason)", .failed)
    }

    /// - Parameter hasWaited: the start came while this worker looked; of another its age says nothing of clocks.
    private func begin(_ start: StartFile, hasWaited: Bool) -> Start {
        let now = WorkerClock.now()
        guard hasWaited, start.clockOf != rank.index, let own = start.seen.first(where: { $0.worker == rank.index })
        else {
            return Start(at: start.at, clock: nil, isFresh: hasWaited)
        }
        let clock = WorkerClock(t1: own.at, t2: own.seen, t3: start.written, t4: now)
        return Start(at: clock.own(start.at), clock: clock, isFresh: true)
    }
}
