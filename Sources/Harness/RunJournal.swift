import Foundation
import Results
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
/// Reserved is what the next `ahead` may need: by the schedule's highest rate, and in a closed loop by the fastest so far, at least
/// `least` pushes.
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
    /// Another process has the part now.
    private let isReplaced: @Sendable () -> Bool
    /// A thread's, pushes a second; nil in a closed loop.
    private let scheduledRate: Double?
    private var document: Document
    /// Where each thread began, and was when it was looked at last.
    private var positions: [UInt64]
    private var lastTime: UInt64 = 0
    private var fastest = 0.0
    private var nextWrite: UInt64 = 0
    private var failingSince: UInt64?
    /// Why the run must end: it could not be written for too long, or is another one's.
    private(set) var failure: String?

    init(path: String, inputs: RunInputs, isReplaced: @escaping @Sendable () -> Bool = { false }) {
        self.path = path
        self.isReplaced = isReplaced
        let threads = inputs.scenario.threads
        positions = (0..<threads).map { inputs.begin($0) }
        reservations = positions.map { _ in PushReservation() }
        document = Document(positions: positions, elapsed: inputs.place.resumed?.elapsed ?? 0)
        elapsedBefore = document.elapsed
        scheduledRate = inputs.schedule.map { $0.peakRate / Double(threads * inputs.place.workers) }
    }
    private let elapsedBefore: UInt64

    /// What one thread takes in `ahead`, pushes.
    private var need: UInt64 {
        let rate = scheduledRate ?? fastest
        let pushes = rate.isFinite ? rate * Double(Self.ahead) / 1e9 : 1e15
        return max(scheduledRate == nil ? Self.least : 16, UInt64(min(pushes, 1e15)))
    }

    /// Reserves what the threads may need next, where it is time to.
    ///
    /// - Parameters:
    ///   - now: of the threads' positions, ns.
    ///   - start: of the run, ns; 0: it has not begun.
    ///   - clock: the time now, ns.
    func look(_ now: [UInt64], at time: UInt64, start: UInt64, clock: UInt64) {
        if time > lastTime, now.count == positions.count {
            if lastTime > 0 {
                for (old, new) in zip(positions, now) where new > old {
                    fastest = max(fastest, Double(new - old) / (Double(time - lastTime) / 1e9))
                }
            }
            lastTime = time
            for (index, position) in now.enumerated() { positions[index] = max(positions[index], position) }
        }
        let need = need
        let isShort = zip(positions, document.positions).contains { $0 &+ need / 2 >= $1 }
        guard isShort || clock >= nextWrite else { return }
        write(
            Document(
                positions: zip(positions, document.positions).map { max($0 &+ need, $1) },
                elapsed: elapsedBefore &+ (start > 0 && clock > start ? clock - start : 0)), clock)
    }

    /// All threads have ended: what was reserved and not begun need not be missed by whoever takes the part up.
    ///
    /// - Parameters:
    ///   - positions: of each thread the first push that it has not begun.
    ///   - elapsed: since the start of the run, ns.
    func end(_ positions: [UInt64], elapsed: UInt64) {
        write(Document(positions: positions, elapsed: elapsedBefore &+ elapsed), nextWrite)
    }

    private func write(_ next: Document, _ clock: UInt64) {
        // What is reserved may still be sent: whoever has the part now begins behind it.
        guard !isReplaced() else {
            failure = "another process has taken this worker's part up"
            return
        }
        do {
            // What a machine that dies takes with it is seconds old at most: the folder's server has the rest.
            try ResultFile.write(Array(try JSONEncoder().encode(next)), to: path, isSynced: false)
            document = next
            nextWrite = clock + Self.pause
            failingSince = nil
            for (reservation, end) in zip(reservations, next.positions) { reservation.extend(to: end) }
        } catch {
            let since = failingSince ?? clock
            failingSince = since
            if clock - min(clock, since) >= Self.patience { failure = "\(error)" }
        }
    }

    /// - Returns: nil where there is none, or none that can be read.
    package static func read(_ path: String) -> Document? {
        FileManager.default.contents(atPath: path).flatMap { try? JSONDecoder().decode(Document.self, from: $0) }
    }
}
