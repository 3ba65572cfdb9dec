import Echo
import Foundation
import Logging
import Measurement
import Networking
import Synchronization

/// A running mock of Apple's push service: its threads, its counts, its ledgers.
public final class MockServer: Sendable {
    /// What is served where.
    public struct Endpoint: Sendable, Equatable {
        /// `production`, `development`, `production management`, `development management`, `namespace` and its name, `admin`.
        public let name: String
        /// `https://127.0.0.1:2197` or `http://…`.
        public let url: String
        public let port: UInt16
    }

    public let endpoints: [Endpoint]
    /// Names of the namespaces that have ports of their own.
    let namespacePorts: [String]
    /// Of the first endpoint.
    public var url: String { endpoints[0].url }
    public var port: UInt16 { endpoints[0].port }
    /// What arrived, by run.
    public var book: LedgerBook { shared.book }
    let shared: MockShared
    private let inboxes: [MockInbox]
    private let wakeUps: [WakeUp]
    private let running = DispatchGroup()
    /// Resets wait for each other.
    private let resetting = Mutex<Void>(())
    private let admin: AdminServer

    /// Starts listening; returns once connections are accepted.
    ///
    /// - Throws: `NetworkError` when an address cannot be bound or the certificate cannot be used.
    public init(_ configuration: MockConfiguration, logger: Logger) throws(NetworkError) {
        let tls: TLSContext?
        if let options = configuration.tls {
            tls = try TLSContext(.server, options)
        } else {
            tls = nil
        }
        let scheme = tls == nil ? "http" : "https"
        let other: PushEnvironment = configuration.environment == .production ? .development : .production
        let threads = max(1, configuration.threads)
        // Of each worker.
        var listeners = [[(listener: Listener, role: ListenerRole)]](repeating: [], count: threads)
        var endpoints: [Endpoint] = []
        for (port, environment, isManagement) in [
            (configuration.port, configuration.environment, false), (configuration.secondPort, other, false),
            (configuration.managementPort, configuration.environment, true),
            (configuration.secondManagementPort, other, true),
        ] as [(UInt16?, PushEnvironment, Bool)] {
            guard let port else { continue }
            let group = try Listener.group(host: configuration.host, port: port, count: threads)
            for (worker, listener) in group.enumerated() {
                listeners[worker].append(
                    (listener, ListenerRole(environment: environment, isManagement: isManagement)))
            }
            let address = group[0].address
            endpoints.append(
                Endpoint(
                    name: environment.rawValue + (isManagement ? " management" : ""), url: "\(scheme)://\(address)",
                    port: address.port))
        }
        var namespacePorts: [String] = []
        for port in configuration.namespacePorts {
            let group = try Listener.group(host: configuration.host, port: port, count: threads)
            let address = group[0].address
            let name = String(address.port)
            for (worker, listener) in group.enumerated() {
                let role = ListenerRole(environment: configuration.environment, isManagement: false, namespace: name)
                listeners[worker].append((listener, role))
            }
            namespacePorts.append(name)
            endpoints.append(
                Endpoint(name: "namespace \(name)", url: "\(scheme)://\(address)", port: address.port))
        }
        self.namespacePorts = namespacePorts
        var adminListener: Listener?
        if let port = configuration.adminPort {
            let listener = try Listener(host: configuration.adminHost, port: port, shared: false)
            endpoints.append(
                Endpoint(name: "admin", url: "http://\(listener.address)", port: listener.address.port))
            adminListener = listener
        }
        self.endpoints = endpoints
        let reactor = try Reactor()
        var echo: Echo?
        if let backend = configuration.deviceBackend {
            do throws(EchoError) { echo = try Echo(backend) } catch {
                throw NetworkError(.configuration, error.description)
            }
        }
        let shared = MockShared(
            configuration, hub: EventHub(wakeUp: reactor.wakeUp), watch: PushWatch(wakeUp: reactor.wakeUp),
            logger: logger)
        self.shared = shared
        var workers: [MockWorker] = []
        var inboxes: [MockInbox] = []
        for number in 0..<threads {
            let inbox = MockInbox()
            workers.append(try MockWorker(shared, tls: tls, inbox: inbox, number: number))
            inboxes.append(inbox)
        }
        self.inboxes = inboxes
        wakeUps = workers.map(\.loop.wakeUp)
        shared.fleets?.use(wakeUps)
        if let echo { shared.fleets?.begin(echo) }
        admin = AdminServer(listener: adminListener, reactor: reactor, shared: shared)
        let peers = Array(zip(inboxes, wakeUps)).map { (inbox: $0, wakeUp: $1) }
        for (index, worker) in workers.enumerated() {
            // The worker and the dealer are handed over to the thread and not touched here again.
            nonisolated(unsafe) let worker = worker
            nonisolated(unsafe) let dealer = ConnectionDealer(
                listeners[index], peers: peers, spread: shared.spread, number: index, loop: worker.loop, log: worker.log
            )
            let core = configuration.pin?.core(ofThread: index)
            startThread("mock-apns \(index)") {
                // Cores that the process may use are named; one that is taken away since is no reason to stop.
                if let core { _ = CoreAffinity.keepThread(to: [core]) }
                worker.run(dealer)
            }
        }
        admin.server = self
        // As much as the first thread of a program has: a file of faults may be nested deep.
        startThread("mock-apns admin", stack: 16 << 20) { [admin] in admin.run() }
    }

    /// - Parameter stack: bytes, of which those that are used take memory.
    private func startThread(_ name: String, stack: Int = 1 << 20, _ body: @escaping @Sendable () -> Void) {
        running.enter()
        let thread = Thread { [running] in
            body()
            running.leave()
        }
        thread.name = name
        thread.stackSize = stack
        thread.start()
    }

    /// The counts of this moment.
    public var counts: MockCounts {
        var counts = MockCounts()
        for namespace in shared.allNamespaces { namespace.add(to: &counts) }
        return counts
    }

    /// What became of accepted pushes.
    public var deliveryCounts: DeliveryCounts {
        var counts = DeliveryCounts()
        for namespace in shared.allNamespaces { counts.add(namespace.deliveryCounts) }
        return counts
    }

    /// What became of them at their devices; nil: there is no device model.
    package var deviceFigures: DeviceFigures? { shared.fleets?.figures(now: MonotonicClock.now()) }

    /// Completes the device log, after `stop`, with what has become of pushes by the last `deviceFigures`.
    ///
    /// - Throws: one line when anything of it could not be written.
    package func endDeviceLog() throws(DeviceLog.Failure) { try shared.fleets?.endLog() }

    /// What they asked of their backend; nil: there is none.
    package var echoFigures: EchoFigures? { shared.fleets?.echoFigures }

    /// The fault plan in force, of the default namespace.
    public var faultPlan: FaultPlan { shared.home.plan }

    /// Changes the fault plan of all namespaces: rules at once, and their bursts and counts from now on; the link and what happens to
    /// connections for those that come.
    public func use(_ plan: FaultPlan) { use(plan, in: .all) }

    /// Bytes of memory that the plans of all namespaces may take, about.
    static let mostPlanned = 1 << 26

    /// Bytes of memory of all plans, about, once `plan` is that of the chosen ones.
    ///
    /// - Parameter text: as it was put.
    func planned(with plan: FaultPlan, text: String, in choice: NamespaceChoice) -> Int {
        shared.allNamespaces.filter { !choice.includes($0) }.reduce(plan.size + text.utf8.count) { $0 + $1.script.size }
    }

    /// The link and what happens to connections go by the default namespace's plan.
    ///
    /// - Parameters:
    ///   - text: as it was put.
    ///   - isOwn: not that of all namespaces.
    func use(_ plan: FaultPlan, text: String? = nil, in choice: NamespaceChoice, isOwn: Bool = true) {
        if choice == .all { shared.namespaces?.use(plan, text: text) }
        let chosen = shared.allNamespaces.filter { choice.includes($0) }
        for namespace in chosen {
            namespace.use(plan, text: text, isOwn: isOwn && choice != .all, sharedBy: chosen.count)
        }
        _ = ask { $0.useRules(of: choice) }
    }

    /// Takes the fault plan of a namespace away: then it has that of all again. Of the default one, or of all: then there is none.
    ///
    /// - Returns: the plan in force then.
    func dropPlan(of choice: NamespaceChoice) -> FaultPlan {
        var plan = FaultPlan()
        plan.seed = FaultPlan.drawnSeed()
        var text: String?
        if case .one(_?) = choice, let rules = shared.namespaces?.rules { (plan, text) = (rules.plan, rules.text) }
        use(plan, text: text, in: choice, isOwn: false)
        return plan
    }

    /// Begins anew: counts, ledgers, what is kept and stored, channels, and changes of devices.
    public func reset() { reset(.all) }

    /// Of one namespace; ledgers and devices of a model have none and begin anew with all. With all, namespaces that hold nothing then are
    /// forgotten.
    func reset(_ choice: NamespaceChoice) {
        resetting.withLock { _ in
            let forgotten = Mutex<[Namespace]>([])
            _ = ask({ $0.restart(choice, forgetting: forgotten.withLock { $0 }) }, waits: true) {
                // Nothing is accepted meanwhile: what is counted by worker and what is counted for all begins anew at the same push.
                if case .all = choice {
                    shared.book.reset()
                    shared.fleets?.reset(now: MonotonicClock.now())
                    shared.log?.reset()
                }
                for namespace in shared.allNamespaces where choice.includes(namespace) { namespace.reset() }
                if choice == .all { forgotten.withLock { $0 = shared.namespaces?.forgetEmpty() ?? [] } }
            }
            shared.watch.noteReset()
        }
    }

    /// Has every worker answer on its own thread, and waits for it; those that have ended are left out.
    func ask<Answer: Sendable>(_ question: @escaping @Sendable (MockWorker) -> Answer) -> [Answer] {
        ask(question, waits: false) {}
    }

    /// - Parameters:
    ///   - waits: no worker answers before all have come to the question and `work` is done.
    private func ask<Answer: Sendable>(
        _ question: @escaping @Sendable (MockWorker) -> Answer, waits: Bool, _ work: () -> Void
    ) -> [Answer] {
        let answers = Mutex<[Answer]>([])
        let (asked, arrived, gate) = (DispatchGroup(), DispatchGroup(), DispatchGroup())
        if waits { gate.enter() }
        for (inbox, wakeUp) in zip(inboxes, wakeUps) {
            asked.enter()
            arrived.enter()
            let isTaken = inbox.put(
                .perform { worker in
                    arrived.leave()
                    gate.wait()
                    let answer = question(worker)
                    answers.withLock { $0.append(answer) }
                    asked.leave()
                })
            if isTaken {
                wakeUp.signal()
            } else {
                arrived.leave()
                asked.leave()
            }
        }
        if waits {
            arrived.wait()
            work()
            gate.leave()
        }
        asked.wait()
        return answers.withLock { $0 }
    }

    /// Serves a connection that was not accepted by a listener: one end of a socket pair.
    func adopt(_ descriptor: Int32) {
        let role = ListenerRole(environment: shared.configuration.environment, isManagement: false)
        let place = shared.spread.place(acceptedBy: 0)
        if inboxes[place].put(.adopt(descriptor, role)) { wakeUps[place].signal() }
    }

    /// Says goodbye to every connection, lets what was begun be answered, and ends the threads.
    public func stop() {
        for inbox in inboxes { inbox.stop() }
        for wakeUp in wakeUps { wakeUp.signal() }
        admin.stop()
        running.wait()
        shared.fleets?.stop()
    }
}
