import Glibc
import Payloads

/// One worker's namespaces beside the default one, each made when its first request comes.
final class WorkerNamespaces {
    private let registry: Namespaces
    private let home: WorkerNamespace
    private let make: (Namespace) -> WorkerNamespace
    /// The default one first, then in the order in which they came to the worker.
    private(set) var list: [WorkerNamespace]
    private var places: [String: Int] = [:]
    /// The last topic and its place: mostly the next one is the same.
    private var lastTopic: [UInt8] = []
    private var lastPlace = 0

    /// - Parameter make: what the worker has of a namespace.
    init(_ registry: Namespaces, home: WorkerNamespace, make: @escaping (Namespace) -> WorkerNamespace) {
        self.registry = registry
        self.home = home
        self.make = make
        list = [home]
    }

    /// The place in `list` of a request's namespace. Who does not say which, or as no request may, is in the default one.
    func place(_ state: RequestState, _ client: RequestChecks.Client, _ role: ListenerRole) -> Int {
        switch registry.rule {
        case .port: role.namespace.map { place($0) } ?? 0
        case .team: teamID(state, client).map { place($0) } ?? 0
        case .topic: topicPlace(state, client)
        }
    }

    private func teamID(_ state: RequestState, _ client: RequestChecks.Client) -> String? {
        if state.hasKnownToken { return client.keyID.flatMap { home.checks.tokens.account($0)?.identity.teamID } }
        return home.checks.teamID(state)
    }

    private func topicPlace(_ state: RequestState, _ client: RequestChecks.Client) -> Int {
        let topic = state.value(.topic)
        if topic.isEmpty { return bundleID(state, client).map { place($0) } ?? 0 }
        let isLast =
            topic.count == lastTopic.count
            && lastTopic.withUnsafeBytes { memcmp($0.baseAddress!, topic.baseAddress!, topic.count) == 0 }
        if isLast { return lastPlace }
        guard RequestChecks.isTopic(topic) else { return 0 }
        lastPlace = place(NamespaceRule.bundleID(ofTopic: state.text(.topic)))
        lastTopic = Array(topic)
        return lastPlace
    }

    /// Of a request without `apns-topic`: a channel's app, or the topic of the client's certificate.
    private func bundleID(_ state: RequestState, _ client: RequestChecks.Client) -> String? {
        let path = state.text(.path)
        for prefix in [ChannelRequests.broadcastPath, ChannelRequests.managementPath] where path.hasPrefix("\(prefix)")
        {
            let name = path.dropFirst(prefix.utf8CodeUnitCount).prefix { $0 != "/" }
            return Array(name.utf8).withUnsafeBytes(RequestChecks.isTopic) && !name.isEmpty ? String(name) : nil
        }
        return client.certificate?.uid
    }

    private func place(_ name: String) -> Int {
        if let place = places[name] { return place }
        guard let namespace = registry.named(name) else {
            registry.countRefused()
            return 0
        }
        list.append(make(namespace))
        places[name] = list.count - 1
        return list.count - 1
    }
}
