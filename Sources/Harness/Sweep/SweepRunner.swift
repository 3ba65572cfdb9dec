import Foundation
import Results
import Scenarios
import Synchronization

/// Makes the runs of a sweep one after the other, and stops on request.
public final class SweepRunner: Sendable {
    private struct State {
        var run: Run?
        var stops = 0
    }

    private let state = Mutex(State())

    public init() {}

    public var isStopped: Bool { state.withLock { $0.stops > 0 } }

    /// No further run begins. The one that is being made may end its open pushes the first time, and ends at once the second.
    public func stop() {
        let run = state.withLock { state in
            state.stops += 1
            return state.run
        }
        run?.stop()
    }

    /// - Returns: nil when the run was stopped before its end: what it measured is no run of the sweep.
    /// - Throws: what made the run impossible, in one line or a few.
    public func execute(_ run: Run) async throws(HarnessError) -> ResultDocument? {
        let isStopped = state.withLock { state in
            state.run = run
            return state.stops > 0
        }
        defer { state.withLock { $0.run = nil } }
        if isStopped { return nil }
        do {
            let result = try await run.execute(isTerminal: false) { _ in }.result
            return result.run.interrupted ? nil : result
        } catch let error as HarnessError {
            throw error
        } catch {
            throw HarnessError("\(error)", isUsage: false)
        }
    }
}
