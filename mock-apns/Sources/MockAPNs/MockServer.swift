import Foundation
import Logging
import Measurement
import Networking
import Synchronization

/// A running mock of Apple's push service: its threads, its counts, its ledgers.
public final class MockServer: Sendable {
    /// `https://127.0.0.1:2197` or `http://…`.
    public let url: String
    public let port: UInt16
    /// What arrived, by run.
    public let book: LedgerBook
    private let statistics: [MockStatistics]
    private let inboxes: [MockInbox]
    private let wakeUps: [WakeUp]
    private let running: DispatchGroup

    /// Starts listening; returns once connections are accepted.
    ///
    /// - Throws: `NetworkError` when the address cannot be bound or the certificate cannot be used.
    public init(_ configuration: MockConfiguration, logger: Logger) throws(NetworkError) {
        let tls: TLSContext?
        if let options = configuration.tls {
            tls = try TLSContext(.server, options)
        } else {
            tls = nil
        }
        let listener = try Listener(host: configuration.host, port: configuration.port, shared: false)
        port = listener.address.port
        url = "\(tls == nil ? "http" : "https")://\(listener.address)"
        book = LedgerBook(capacity: configuration.ledgerCapacity)
        var workers: [MockWorker] = []
        var inboxes: [MockInbox] = []
        var statistics: [MockStatistics] = []
        for _ in 0..<max(1, configuration.threads) {
            let inbox = MockInbox()
            let counters = MockStatistics()
            workers.append(
                try MockWorker(
                    configuration: configuration, tls: tls, inbox: inbox, statistics: counters, book: book,
                    logger: logger, seed: UInt64.random(in: .min ... .max)))
            inboxes.append(inbox)
            statistics.append(counters)
        }
        self.inboxes = inboxes
        self.statistics = statistics
        wakeUps = workers.map(\.reactor.wakeUp)
        running = DispatchGroup()
        let peers = Array(zip(inboxes, wakeUps)).map { (inbox: $0, wakeUp: $1) }
        for (index, worker) in workers.enumerated() {
            running.enter()
            // The worker and the listener are handed over to the thread and not touched here again.
            nonisolated(unsafe) let worker = worker
            nonisolated(unsafe) let listener = index == 0 ? listener : nil
            let group = running
            let thread = Thread {
                worker.run(listener: listener, peers: peers)
                group.leave()
            }
            thread.name = "mock-apns \(index)"
            thread.stackSize = 1 << 20
            thread.start()
        }
    }

    /// The counts of this moment.
    public var counts: MockCounts {
        var counts = MockCounts()
        for worker in statistics { counts.add(worker) }
        counts.untracked = book.untrackedCount
        return counts
    }

    /// Says goodbye to every connection and ends the threads.
    public func stop() {
        for inbox in inboxes { inbox.stop() }
        for wakeUp in wakeUps { wakeUp.signal() }
        running.wait()
    }
}
