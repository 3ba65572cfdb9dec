import Foundation
import Harness
import Networking
import Synchronization

/// Writes a worker's status file from a thread of its own, and sees what others ask of it meanwhile.
final class Heartbeat: Sendable {
    /// What it has seen, once each.
    enum News: Sendable {
        /// Somebody asks all workers to stop.
        case stop(StopFile)
        /// Another process has taken this worker's part up.
        case replaced
        /// The folder has taken nothing for so long, ns.
        case mute(UInt64, String)
    }

    private struct State {
        var status: StatusFile
        var isEnded = false
        var lastWritten: UInt64
        var problem = ""
        var told: Set<Int> = []
    }

    private let folder: RendezvousFolder
    private let name: String
    private let nextClaim: String
    private let state: Mutex<State>
    private let hear: @Sendable (News) -> Void
    /// Between two beats, ns: while a start is waited for, and else.
    private let soon: UInt64
    private static let usual: UInt64 = 1_000_000_000
    /// What nothing can be written to for so long is said, ns.
    private static let noticed: UInt64 = 5_000_000_000

    /// - Parameter hear: called from its thread.
    init(_ folder: RendezvousFolder, _ status: StatusFile, hear: @escaping @Sendable (News) -> Void) {
        self.folder = folder
        name = RendezvousFolder.worker(status.worker)
        nextClaim = "claim-\(status.attempt + 1)"
        state = Mutex(State(status: status, lastWritten: MonotonicClock.now()))
        soon = status.workers <= 50 ? 100_000_000 : Self.usual
        self.hear = hear
    }

    func start() {
        let thread = Thread { [self] in
            while true {
                let isWaiting = state.withLock { $0.status.state == .ready }
                // Whoever is replaced writes nothing more.
                look()
                guard beat() else { return }
                let pause = isWaiting ? soon : Self.usual
                let until = MonotonicClock.now() + pause
                // Ends, and begins to run, without waiting for the next beat.
                while MonotonicClock.now() < until,
                    state.withLock({ !$0.isEnded && ($0.status.state == .ready) == isWaiting })
                {
                    Thread.sleep(forTimeInterval: 0.02)
                }
            }
        }
        thread.name = "heartbeat"
        thread.stackSize = 1 << 20
        thread.start()
    }

    func update(_ change: (inout StatusFile) -> Void) { state.withLock { change(&$0.status) } }

    /// The last beat.
    ///
    /// - Parameter state: why there is none after it.
    func end(_ last: StatusFile.State = .done) {
        let isFirst = state.withLock {
            guard !$0.isEnded else { return false }
            $0.status.state = last
            $0.isEnded = true
            return true
        }
        if isFirst, !isReplaced { _ = beat(isLast: true) }
    }

    /// Another process has taken this worker's part up.
    var isReplaced: Bool { folder.names(in: name).contains(nextClaim) }

    /// - Returns: false when it has ended.
    private func beat(isLast: Bool = false) -> Bool {
        // The folder is the other one's.
        guard !isReplaced else {
            if !isLast { tell(0, .replaced) }
            return false
        }
        let status: StatusFile? = state.withLock {
            guard isLast || !$0.isEnded else { return nil }
            $0.status.beat += 1
            $0.status.at = WorkerClock.now()
            return $0.status
        }
        guard let status else { return false }
        let now = MonotonicClock.now()
        do throws(HarnessError) {
            try folder.write(status, to: name + "/status.json", isSynced: false)
            state.withLock { $0.lastWritten = now }
        } catch {
            let silence = state.withLock { now - min(now, $0.lastWritten) }
            if silence >= Self.noticed { tell(2, .mute(silence, error.description)) }
        }
        return true
    }

    private func look() {
        // Whoever waits for the start looks for itself.
        guard state.withLock({ $0.status.state != .ready }) else { return }
        if folder.names().contains(RendezvousFolder.stop), let stop: StopFile = folder.read(RendezvousFolder.stop) {
            tell(1, .stop(stop))
        }
    }

    private func tell(_ kind: Int, _ news: News) {
        if state.withLock({ $0.told.insert(kind).inserted }) { hear(news) }
    }
}
