import Foundation
import Results
import Scenarios
import Synchronization

/// Up to where a thread may take its pushes: nothing is sent of which the worker's journal does not say that it may have been.
final class PushReservation: Sendable {
    private let most = Atomic<UInt64>(0)

    /// The first of the thread's pushes that may not be taken yet.
    var end: UInt64 { most.load(ordering: .relaxed) }

    fileprivate func extend(to end: UInt64) { most.store(end, ordering: .relaxed) }
}

/// How far a worker among several has got, written down ahead: whoever takes its part up again begins where the journal ends, and
/// pushes nothing twice. What the journal had reserved and no figure knows is the price.
///
/// Reserved is what the next `ahead` may need: what comes due by then, or in a closed loop what the fastest thread so far would take, at
/// least `least` pushes.
///
/// Unchecked: belongs to the run's watcher; threads read their reservations only.
package final class RunJournal: @unchecked Sendable {
    /// What is written.
    package struct Document: Codable, Sendable, Equatable {
        /// Of each thread the first of its pushes that cannot have been sent.
        package var positions: [UInt64]
        /// How long the run had gone on, ns.
        package var elapsed: UInt64

        package init(positions: [UInt64], elapsed: UInt64) {
            self.positions = positions
            self.elapsed = elapsed
        }
    }

    /// Between two writings while nothing runs short, ns.
    private static let pause: UInt64 = 500_000_000
    private static let ahead: UInt64 = 2_000_000_000
    /// Of a closed loop, a thread: what the fastest takes until the watcher has seen how fast it is.
    private static let least: UInt64 = 65_536
    /// A folder that takes nothing for so long ends the run: somebody else may have taken its part up, ns.
    private static let patience: UInt64 = 10_000_000_000

    let reservations: [PushReservation]
    private let path: String
    private let output: RunOutput
    private let shares: [WorkerShare]
    private let schedule: LoadSchedule?
    private let passed: UInt64
    private let elapsedBefore: UInt64
    private var document: Document
    /// Open loop: walks the schedule's pushes up to the first that is not reserved, and when that is due at the earliest, ns after
    /// the schedule's start.
    private var cursor: ArrivalCursor?
    private var slot: UInt64 = 0
    private var until: UInt64 = 0
    /// Closed loop: where each thread was when it was looked at last, and the fastest rate so far, pushes a second.
    private var positions: [UInt64]
    private var lastTime: UInt64 = 0
    private var fastest = 0.0
    private var nextWrite: UInt64 = 0
    private var failingSince: UInt64?
    /// Why the run must end: it could not be written for too long, or is another one's.
    private(set) var failure: String?

    init(_ output: RunOutput, inputs: RunInputs) {
        self.output = output
        path = output.folder + "/" + RunOutput.journal
        let threads = inputs.scenario.threads
        shares = (0..<threads).map { inputs.share($0) }
        schedule = inputs.schedule
        passed = inputs.passed
        cursor = schedule?.cursor()
        positions = (0..<threads).map { inputs.begin($0) }
        reservations = positions.map { _ in PushReservation() }
        document = Document(positions: positions, elapsed: inputs.place.resumed?.elapsed ?? 0)
        elapsedBefore = document.elapsed
    }

    /// Reserves what the threads may need next, where it is time to.
    ///
    /// - Parameters:
    ///   - now: of the threads' positions, ns.
    ///   - start: of the run, ns; 0: it has not begun.
    ///   - clock: the time now, ns.
    func look(_ now: [UInt64], at time: UInt64, start: UInt64, clock: UInt64) {
        let elapsed = start > 0 && clock > start ? clock - start : 0
        let next: [UInt64]
        if schedule != nil {
            guard elapsed &+ Self.ahead / 2 >= until || clock >= nextWrite else { return }
            next = due(by: elapsed &+ Self.ahead)
        } else {
            note(now, at: time)
            let need = max(Self.least, UInt64(min(fastest * Double(Self.ahead) / 1e9, 1e15)))
            let isShort = zip(positions, document.positions).contains { $0 &+ need / 2 >= $1 }
            guard isShort || clock >= nextWrite else { return }
            next = positions.map { $0 &+ need }
        }
        let isWritten = write(
            Document(
                positions: zip(next, document.positions).map { max($0, $1) }, elapsed: elapsedBefore &+ elapsed), clock)
        if isWritten { until = elapsed &+ Self.ahead }
    }

    /// Of each thread the first push that is due at `time` or later, ns after the start.
    private func due(by time: UInt64) -> [UInt64] {
        if let schedule {
            slot = cursor?.first(notBefore: time &+ passed, from: slot, before: schedule.count) ?? slot
        }
        return shares.map { $0.count(of: slot) }
    }

    private func note(_ now: [UInt64], at time: UInt64) {
        guard time > lastTime, now.count == positions.count else { return }
        if lastTime > 0 {
            for (old, new) in zip(positions, now) where new > old {
                fastest = max(fastest, Double(new - old) / (Double(time - lastTime) / 1e9))
            }
        }
        lastTime = time
        for (index, position) in now.enumerated() { positions[index] = max(positions[index], position) }
    }

    /// All threads have ended: what was reserved and not begun need not be missed by whoever takes the part up.
    ///
    /// - Parameters:
    ///   - positions: of each thread the first push that it has not begun.
    ///   - elapsed: since the start of the run, ns.
    func end(_ positions: [UInt64], elapsed: UInt64) {
        _ = write(Document(positions: positions, elapsed: elapsedBefore &+ elapsed), nextWrite)
    }

    private func write(_ next: Document, _ clock: UInt64) -> Bool {
        guard output.isCurrent() else {
            failure = "another process has taken this worker's part up"
            return false
        }
        do {
            // What is no file would hold up who writes to it.
            try RunOutput.checkPlain(path)
            // What a machine that dies takes with it is seconds old at most: the folder's server has the rest.
            try ResultFile.write(Array(try JSONEncoder().encode(next)), to: path, isSynced: false)
            document = next
            nextWrite = clock + Self.pause
            failingSince = nil
            for (reservation, end) in zip(reservations, next.positions) { reservation.extend(to: end) }
            return true
        } catch {
            let since = failingSince ?? clock
            failingSince = since
            if clock - min(since, clock) >= Self.patience { failure = "\(error)" }
            return false
        }
    }

    /// - Returns: nil where there is none, or none that can be read.
    package static func read(_ path: String) -> Document? {
        FileManager.default.contents(atPath: path).flatMap { try? JSONDecoder().decode(Document.self, from: $0) }
    }
}
