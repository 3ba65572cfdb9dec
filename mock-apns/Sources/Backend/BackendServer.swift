import Faults
import Foundation
import Networking
import PlainHTTP
import Synchronization

/// What a backend listens on, keeps and does. Times are nanoseconds.
package struct BackendConfiguration: Sendable {
    package var host = "127.0.0.1"
    /// 0: the kernel chooses.
    package var port: UInt16 = 0
    /// Further names it may be asked by.
    package var names: [String] = []
    /// nil: plain HTTP.
    package var tls: TLSOptions?
    /// The SQLite file; nil: everything is in memory and gone at the end.
    package var store: String?
    package var users = BackendUsers()
    package var faults = BackendFaults()
    package var limits = PlainLimits()
    /// Of a payload that nobody gave, bytes.
    package var payloadSize = 10_240
    /// Bytes of all answers that wait for their time; beyond it 503.
    package var waitingBytes = 256 << 20

    package init() {}
}

/// The backend of an app, on a thread of its own: stores rich notifications, hands out their payloads and attachments, takes actions.
///
/// What came in one round of its loop is one commit, and is answered after it. An answer that a rule delays is committed at once
/// and waits then.
package final class BackendServer: @unchecked Sendable {
    /// What others see of it while it works.
    package struct Report: Sendable {
        package var counts = BackendCounts()
        package var connections = PlainCounts()
        package var open = 0
        /// Answers that wait for their time.
        package var waiting = 0
        /// Answers that nobody was there for any more.
        package var unread: UInt64 = 0
    }

    package let port: UInt16
    package let url: String
    private let configuration: BackendConfiguration
    private let reactor: Reactor
    private let listener: Listener
    private let tls: TLSContext?
    private let stopping = Atomic<Bool>(false)
    private let ended = DispatchSemaphore(value: 0)
    private let published: Mutex<Report>

    // Touched by the thread only.
    /// Nil at the end.
    private(set) var store: BackendStore!
    private let pages: BackendPages
    private var plain: PlainServer!
    private var random: SeededRandom
    private let startTime = MonotonicClock.now()
    private var round: [Answer] = []
    /// Something of this round could not be stored.
    private var problem: BackendError?
    private var due = DueQueue<Answer>()
    private var waitingBytes = 0
    private var unread: UInt64 = 0
    /// Of the requests that `plain` refused by itself, how many are counted.
    private var refusedBefore: UInt64 = 0

    private struct Answer: Sendable {
        let connection: UInt64
        var response: PlainResponse
        var kind: BackendCounts.Kind
        /// After the commit, ns.
        let latency: UInt64
    }

    /// Listens, and begins to answer.
    ///
    /// - Throws: `NetworkError` or `BackendError`.
    package init(_ configuration: BackendConfiguration) throws {
        self.configuration = configuration
        listener = try Listener(host: configuration.host, port: configuration.port, shared: false)
        port = listener.address.port
        var options = configuration.tls
        options?.speaksHTTP1 = true
        tls = try options.map { try TLSContext(.server, $0) }
        url = "\(tls == nil ? "http" : "https")://\(listener.address)"
        reactor = try Reactor()
        store = try BackendStore(path: configuration.store)
        pages = BackendPages(users: configuration.users, payloadSize: configuration.payloadSize)
        random = SeededRandom(seed: configuration.faults.seed)
        published = Mutex(Report(counts: store.counts))
        Thread.detachNewThread { [self] in run() }
    }

    package var report: Report { published.withLock { $0 } }

    /// Answers what it has read, and closes all connections.
    package func stop() {
        stopping.store(true, ordering: .relaxed)
        reactor.wakeUp.signal()
        ended.wait()
        ended.signal()
    }

    private func run() {
        let hosts = HostRule(names: [configuration.host] + configuration.names, flag: "--name")
        plain = PlainServer(
            listener: listener, tls: tls, reactor: reactor, hosts: hosts, limits: configuration.limits
        ) { [unowned self] in take($0, $1) }
        while !stopping.load(ordering: .relaxed) {
            let now = MonotonicClock.now()
            plain.turn(timeout: due.nextDue.map { $0 > now ? $0 - now : 0 } ?? 1_000_000_000)
            finishRound()
            giveDueAnswers()
            publish()
        }
        plain = nil
        // Closed before anybody is told, so that the log is back in the file, which then is all there is.
        store = nil
        ended.signal()
    }

    private func take(_ request: PlainRequest, _ connection: UInt64) -> PlainResponse? {
        if request.path == "/stats" {
            guard request.method == "GET" else { return .wrongMethod(request, allowed: ["GET"]) }
            publish()
            return .json(report.json)
        }
        plain.await(request, connection)
        let kind = BackendPages.kind(request)
        var fate = BackendFaults.Rule.Fate.normal
        var latency: UInt64 = 0
        if let kind, let rule = configuration.faults.rule(for: kind, age: MonotonicClock.now() - startTime) {
            fate = rule.fate(&random)
            latency = rule.latency.sample(&random)
        }
        var answer: (response: PlainResponse, kind: BackendCounts.Kind)
        switch fate {
        case .rejected(let status):
            answer = (.text("by a fault rule", status: status), .rejectedByRule)
        case .reset:
            answer = (.text(""), .resetByRule)
        case .normal, .silent, .empty:
            guard latency == 0 || waitingBytes < configuration.waitingBytes else {
                answer = (.text("too many answers wait for their time", status: 503), .overloaded)
                latency = 0
                break
            }
            do throws(BackendError) {
                answer = try pages.answer(request, kind, isEmpty: fate == .empty, store: store)
                if fate == .silent { answer.kind = .silencedByRule }
            } catch {
                problem = error
                answer = (.text("\(error)", status: 503), .notStored)
            }
        }
        round.append(Answer(connection: connection, response: answer.response, kind: answer.kind, latency: latency))
        return nil
    }

    /// Commits what the round did, and answers it.
    private func finishRound() {
        let refused = plain.counts.refused
        guard !round.isEmpty || refused > refusedBefore else { return }
        var counts = store.counts
        counts[.refused] &+= refused - refusedBefore
        if problem == nil {
            var all = counts
            for answer in round { all[answer.kind] &+= 1 }
            do throws(BackendError) { try store.commit(all) } catch { problem = error }
        }
        if let problem {
            store.rollBack()
            for place in round.indices where Self.isStored(round[place].kind) {
                round[place].kind = .notStored
                round[place].response = .text("\(problem)", status: 503)
            }
            for answer in round { counts[answer.kind] &+= 1 }
            // They are in the file as soon as it takes anything again.
            store.keep(counts)
            self.problem = nil
        }
        refusedBefore = refused
        let now = MonotonicClock.now()
        for answer in round {
            if answer.latency == 0 {
                give(answer)
            } else {
                waitingBytes += answer.response.body.count
                due.add(answer, due: now &+ answer.latency)
            }
        }
        round.removeAll(keepingCapacity: true)
    }

    /// Whether what it is answered with would not be true without the commit.
    private static func isStored(_ kind: BackendCounts.Kind) -> Bool {
        switch kind {
        case .created, .fetched, .fetchedAgain, .actions, .silencedByRule: true
        default: false
        }
    }

    private func giveDueAnswers() {
        let now = MonotonicClock.now()
        while let answer = due.take(now: now) {
            waitingBytes -= answer.response.body.count
            give(answer)
        }
    }

    private func give(_ answer: Answer) {
        switch answer.kind {
        case .silencedByRule: plain.leaveUnanswered(answer.connection)
        case .resetByRule: plain.reset(answer.connection)
        default: if !plain.respond(answer.response, to: answer.connection) { unread += 1 }
        }
    }

    private func publish() {
        let report = Report(
            counts: store.counts, connections: plain.counts, open: plain.open, waiting: due.count, unread: unread)
        published.withLock { $0 = report }
    }
}
