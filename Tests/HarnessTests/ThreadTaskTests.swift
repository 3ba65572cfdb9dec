import Glibc
import Networking
import Synchronization
import Testing

@testable import Harness

@Suite struct ThreadTaskTests {
    /// What threads that have ended could use last.
    private static let last = Mutex<[[Int]]>([])

    @Test("A thread that is kept to a core is not when it hands on to others, which would have its cores")
    func cores() async throws {
        let all = CoreAffinity.allowed()
        let core = try #require(all.last)
        var key = pthread_key_t()
        // Called by a thread as it ends, after all that it was given to do.
        let made = pthread_key_create(&key) { _ in
            let cores = CoreAffinity.allowed()
            ThreadTaskTests.last.withLock { $0.append(cores) }
        }
        try #require(made == 0)
        for _ in 0..<5 {
            let inside = Mutex<[Int]>([])
            await ThreadTask.run(name: "kept", core: core) { [key] isKept in
                pthread_setspecific(key, UnsafeRawPointer(bitPattern: 1))
                if isKept { inside.withLock { $0 = CoreAffinity.allowed() } }
            }
            #expect(inside.withLock { $0 } == [core])
        }
        for _ in 0..<3000 where Self.last.withLock({ $0.count }) < 5 { try await Task.sleep(for: .milliseconds(10)) }
        #expect(Self.last.withLock { $0 } == Array(repeating: all, count: 5))
    }
}
