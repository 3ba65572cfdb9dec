import Foundation
import Testing

/// Tests that start programs wait most of the time. On the threads of Swift's own pool, as many as there are cores, they would
/// keep all other tests waiting too; so they have threads of their own, more than there are cores.
final class OwnThreads: TaskExecutor, Sendable {
    static let shared = OwnThreads(count: 4)

    private let jobs = OperationQueue()

    private init(count: Int) { jobs.maxConcurrentOperationCount = count }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        jobs.addOperation { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}

/// Runs the tests of a suite on `OwnThreads`.
struct WaitsForPrograms: SuiteTrait, TestTrait, TestScoping {
    var isRecursive: Bool { true }

    func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
    ) async throws {
        try await withTaskExecutorPreference(OwnThreads.shared) { try await function() }
    }
}

extension Trait where Self == WaitsForPrograms {
    static var waitsForPrograms: Self { Self() }
}
