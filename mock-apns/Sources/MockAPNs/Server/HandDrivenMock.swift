import Logging
import Networking

/// One thread of the mock without the thread: whoever owns it turns its loop, so that client and mock run in step and cost
/// the same each time they are measured.
package final class HandDrivenMock {
    private let worker: MockWorker
    private let inbox = MockInbox()
    private let statistics = MockStatistics()
    private let role: ListenerRole

    /// Plaintext; the configuration's ports and threads do not count.
    ///
    /// - Throws: `NetworkError` when the system has no descriptor for the event loop.
    package init(_ configuration: MockConfiguration) throws(NetworkError) {
        let hub = EventHub(wakeUp: try Reactor().wakeUp)
        let logger = Logger(label: "mock-apns") { _ in SwiftLogNoOpLogHandler() }
        worker = try MockWorker(
            MockShared(configuration, hub: hub, logger: logger), tls: nil, inbox: inbox, statistics: statistics,
            number: 0)
        role = ListenerRole(environment: configuration.environment, isManagement: false)
    }

    /// Serves a connection that was accepted.
    package func adopt(_ descriptor: Int32) { _ = inbox.put(.adopt(descriptor, role)) }

    /// Takes in what is there and answers it; waits for nothing.
    package func turn() { worker.turn() }

    package var counts: MockCounts {
        var counts = MockCounts()
        counts.add(statistics)
        return counts
    }
}
