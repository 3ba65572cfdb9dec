import Foundation
import Results
import Synchronization

/// Makes one run after the other, in this process or in others, and stops on request.
package final class RunSeries: Sendable {
    private struct State {
        /// Stops what is being done.
        var stop: (@Sendable () -> Void)?
        var stops = 0
    }

    private let state = Mutex(State())

    package init() {}

    package var isStopped: Bool { state.withLock { $0.stops > 0 } }

    /// No further run begins. The one that is being made may end its open pushes the first time, and ends at once the second.
    package func stop() {
        let stop = state.withLock { state in
            state.stops += 1
            return state.stop
        }
        stop?()
    }

    /// - Returns: nil when the run was stopped before its end: what it measured is no run of the series.
    /// - Throws: what made the run impossible, in one line or a few.
    package func execute(_ run: Run) async throws(HarnessError) -> ResultDocument? {
        guard !run.endsByPrecision else {
            throw HarnessError(
                "until: of a run by itself (pushload run); runs that are held against each other have one length")
        }
        guard begin(stopping: { run.stop() }) else { return nil }
        defer { end() }
        do {
            let product = try await run.execute(isTerminal: false, keepsFeedback: false) { _ in }
            if let why = product.abortedFor, !isStopped { throw HarnessError("the run ended early: \(why)", .failed) }
            return product.result.run.interrupted ? nil : product.result
        } catch let error as HarnessError {
            throw error
        } catch {
            throw HarnessError("\(error)", .failed)
        }
    }

    /// For what runs elsewhere: `stop` is called when the series is stopped before `end`.
    ///
    /// - Returns: false when it is stopped already.
    package func begin(stopping stop: @escaping @Sendable () -> Void) -> Bool {
        state.withLock { state in
            state.stop = stop
            return state.stops == 0
        }
    }

    package func end() { state.withLock { $0.stop = nil } }
}
