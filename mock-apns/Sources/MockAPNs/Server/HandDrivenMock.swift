import Logging
import Measurement
import Networking

/// One thread of the mock without the thread: whoever owns it turns its loop, so that client and mock run in step and cost
/// the same each time they are measured, or in virtual time.
public final class HandDrivenMock {
    private let worker: MockWorker
    private let shared: MockShared
    private let inbox = MockInbox()
    private let role: ListenerRole

    /// Plaintext; the configuration's ports and threads do not count.
    ///
    /// - Parameters:
    ///   - loop: time and network; nil: the real ones.
    ///   - seed: of the identifiers it answers with.
    /// - Throws: `NetworkError` when the system has no descriptor for the event loop.
    public init(_ configuration: MockConfiguration, loop: EventLoop? = nil, seed: UInt64 = 1) throws(NetworkError) {
        var configuration = configuration
        configuration.threads = 1
        let wakeUp = WakeUp()
        let logger = Logger(label: "mock-apns") { _ in SwiftLogNoOpLogHandler() }
        shared = MockShared(
            configuration, hub: EventHub(wakeUp: wakeUp), watch: PushWatch(wakeUp: wakeUp), logger: logger,
            startedAt: loop?.now ?? MonotonicClock.now())
        worker = try MockWorker(shared, tls: nil, inbox: inbox, number: 0, loop: loop, seed: seed)
        role = ListenerRole(environment: configuration.environment, isManagement: false)
    }

    deinit { worker.end() }

    /// Serves a connection that was accepted.
    public func adopt(_ descriptor: Int32) {
        _ = shared.spread.place(acceptedBy: 0)
        _ = inbox.put(.adopt(descriptor, role))
    }

    /// Serves a connection of the event loop's kind.
    public func adopt(_ stream: ByteStream) {
        _ = shared.spread.place(acceptedBy: 0)
        worker.adopt(stream, role)
    }

    /// Takes in what is there and answers it; waits for nothing.
    public func turn() { worker.turn() }

    /// When it wants to be turned though nothing came, ns of its event loop.
    public var nextTurn: UInt64 { worker.nextTurn }

    public var counts: MockCounts {
        var counts = MockCounts()
        shared.home.add(to: &counts)
        return counts
    }

    /// Which pushes of a run it accepted; nil when none came.
    public func ledger(run: UInt64) -> DeliveryLedger? { shared.book.runs.first { $0.run == run }?.ledger }
}
