import Echo
import Foundation
import Measurement
import Networking
import PlainHTTP

/// Everything the mock counts, at one moment: `GET /stats`.
struct StatsDocument: Encodable {
    struct Outcomes: Encodable {
        var accepted: UInt64
        var rejected: UInt64
    }

    struct Connections: Encodable {
        let accepted: UInt64
        let open: UInt64
        let handshakesFailed: UInt64

        enum CodingKeys: String, CodingKey {
            case accepted, open
            case handshakesFailed = "handshakes_failed"
        }
    }

    struct Connection: Encodable, Sendable {
        let id: UInt64
        let thread: Int
        let peer: String
        let environment: String
        let tls: String?
        let ageSeconds: Double
        let requests: UInt64
        let accepted: UInt64
        let rejected: UInt64
        let openStreams: Int
        let bytesIn: UInt64
        let bytesOut: UInt64

        enum CodingKeys: String, CodingKey {
            case id, thread, peer, environment, tls, requests, accepted, rejected
            case ageSeconds = "age_seconds"
            case openStreams = "open_streams"
            case bytesIn = "bytes_in"
            case bytesOut = "bytes_out"
        }
    }

    /// Who watches at the admin port.
    struct Watchers {
        /// Event streams.
        var subscribers: Int
        /// Requests for `/pushes` that wait.
        var waiting: Int
    }

    struct Events: Encodable {
        let subscribers: Int
        let waiting: Int
        let dropped: UInt64
    }

    struct Namespaces: Encodable {
        let by: String
        /// In the order in which they came, without the default one.
        let names: [String]
        /// Requests that belong to the default one because there are as many as there may be.
        let beyondLimit: UInt64

        init(_ namespaces: MockAPNs.Namespaces) {
            by = namespaces.rule.rawValue
            names = namespaces.all.compactMap(\.name)
            beyondLimit = namespaces.refused
        }

        enum CodingKeys: String, CodingKey {
            case by, names
            case beyondLimit = "beyond_limit"
        }
    }

    struct Memory: Encodable {
        let now: UInt64
        let peak: UInt64

        /// The kernel counts the two a little apart: what is resident now may be above the peak it says.
        init(now: UInt64, peak: UInt64) {
            self.now = now
            self.peak = max(now, peak)
        }

        enum CodingKeys: String, CodingKey {
            case now = "rss_bytes"
            case peak = "max_rss_bytes"
        }
    }

    /// Connections listed, at most.
    static let mostListed = 1000

    /// The one whose counts these are, empty for the default one; nil: all.
    let namespace: String?
    /// nil: of one namespace, or there is one only.
    let namespaces: Namespaces?
    let endpoints: [String: String]
    let uptimeSeconds: Double
    let faultSeed: UInt64
    let requests: UInt64
    let accepted: UInt64
    let rejected: UInt64
    let silenced: UInt64
    let reset: UInt64
    let scripted: UInt64
    let unhandled: UInt64
    let abandoned: UInt64
    let channelRequests: UInt64
    let channelScripted: UInt64
    let channelReasons: [String: UInt64]
    let statuses: [String: UInt64]
    let reasons: [String: UInt64]
    let pushTypes: [String: UInt64]
    let topics: [String: Outcomes]
    let connections: Connections
    let connectionList: [Connection]
    let bounds: BoundFigures
    let delivery: DeliveryCounts
    /// nil: there is no device model.
    let devices: DeviceFigures?
    /// nil: devices have no backend.
    let echo: EchoFigures?
    let events: Events
    let memory: Memory
    let cpuNanoseconds: UInt64
    /// Requests begun and not over.
    let openStreams: Int
    /// For the metrics alone.
    let answerTimes: MetricsText.Histogram

    enum CodingKeys: String, CodingKey {
        case namespace, namespaces, endpoints, requests, accepted, rejected, silenced, reset, scripted, unhandled,
            abandoned,
            statuses, reasons, topics,
            connections
        case bounds, delivery, devices, echo, events, memory
        case uptimeSeconds = "uptime_seconds"
        case faultSeed = "fault_seed"
        case channelRequests = "channel_requests"
        case channelScripted = "channel_scripted"
        case channelReasons = "channel_reasons"
        case pushTypes = "push_types"
        case connectionList = "connection_list"
        case openStreams = "open_streams"
        case cpuNanoseconds = "cpu_ns"
    }

    /// - Parameter choice: whose pushes are counted; all else is the server's.
    init(_ server: MockServer, _ watchers: Watchers, of choice: NamespaceChoice = .all) {
        let all = server.counts
        let counts: MockCounts
        switch choice {
        case .all:
            counts = all
            namespace = nil
            namespaces = server.shared.namespaces.map(Namespaces.init)
            faultSeed = server.faultPlan.seed
            delivery = server.deliveryCounts
        case .one(let own):
            var ownCounts = MockCounts()
            own.add(to: &ownCounts)
            counts = ownCounts
            namespace = own.name ?? ""
            namespaces = nil
            faultSeed = own.plan.seed
            delivery = own.deliveryCounts
        }
        endpoints = Dictionary(uniqueKeysWithValues: server.endpoints.map { ($0.name, $0.url) })
        uptimeSeconds = Double(MonotonicClock.now() - server.shared.startedAt) * 1e-9
        requests = counts.requests
        accepted = counts.accepted
        rejected = counts.rejected
        silenced = counts.silenced
        reset = counts.reset
        scripted = counts.scripted
        unhandled = counts.unhandled
        abandoned = counts.abandoned
        channelRequests = counts.channelRequests
        channelScripted = counts.channelScripted
        channelReasons = counts.channelReasons
        reasons = counts.reasons
        pushTypes = counts.pushTypes
        var statuses = counts.accepted > 0 ? ["200": counts.accepted] : [:]
        for (name, count) in counts.reasons {
            if let reason = Reason(name: name) { statuses[String(reason.status), default: 0] += count }
        }
        for (status, count) in counts.scriptedStatuses { statuses[String(status), default: 0] += count }
        self.statuses = statuses
        connections = Connections(
            accepted: all.connectionsAccepted, open: all.connectionsOpen, handshakesFailed: all.handshakesFailed)
        let seen = server.ask { worker in
            (
                topics: worker.allNamespaces.filter { choice.includes($0.shared) }.flatMap { namespace in
                    namespace.topics.entries.map { ($0.name, $0.accepted, $0.rejected) }
                },
                connections: worker.connections.values.prefix(Self.mostListed).map { $0.description(of: worker) },
                openStreams: worker.connections.values.reduce(0) { $0 + ($1.session?.openStreams ?? 0) }
            )
        }
        var topics: [String: Outcomes] = [:]
        for (name, accepted, rejected) in seen.flatMap(\.topics) {
            topics[name, default: Outcomes(accepted: 0, rejected: 0)].accepted += accepted
            topics[name]!.rejected += rejected
        }
        self.topics = topics
        openStreams = seen.reduce(0) { $0 + $1.openStreams }
        answerTimes = all.answerTimes.metrics
        connectionList = Array(seen.flatMap(\.connections).sorted { $0.id < $1.id }.prefix(Self.mostListed))
        bounds = all.bounds
        devices = server.deviceFigures
        echo = server.echoFigures
        events = Events(
            subscribers: watchers.subscribers, waiting: watchers.waiting, dropped: server.shared.hub.dropped)
        let cost = ProcessCost.sample()
        memory = Memory(now: Self.residentBytes(), peak: cost?.peakMemory ?? 0)
        cpuNanoseconds = cost?.cpu ?? 0
    }

    /// From /proc/self/statm; 0 when it cannot be read.
    private static func residentBytes() -> UInt64 {
        guard let text = try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8) else { return 0 }
        let words = text.split(separator: " ")
        return words.count > 1 ? (UInt64(words[1]) ?? 0) * UInt64(getpagesize()) : 0
    }
}

extension MockConnection {
    fileprivate func description(of worker: MockWorker) -> StatsDocument.Connection {
        StatsDocument.Connection(
            id: token, thread: worker.number, peer: peer, environment: role.environment.rawValue, tls: tlsDescription,
            ageSeconds: Double(worker.now - openedAt) * 1e-9, requests: session?.requests ?? 0,
            accepted: session?.accepted ?? 0, rejected: session?.rejected ?? 0,
            openStreams: session?.openStreams ?? 0, bytesIn: bytesIn, bytesOut: bytesOut)
    }
}
