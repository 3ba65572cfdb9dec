import Glibc
import Payloads

/// One worker's namespaces beside the default one, each made when its first request comes.
final class WorkerNamespaces {
    private let registry: Namespaces
    private let home: WorkerNamespace
    private let make: (Namespace) -> WorkerNamespace
    /// The default one first, then in the order in which they came to the worker; nil: forgotten since. Places are not given twice, for
    /// answers that wait know theirs.
    private var list: [WorkerNamespace?]
    private var places: [String: Int] = [:]
    /// The last topic of one beside the default one, and its place: mostly the next one is the same.
    private var lastTopic: [UInt8] = []
    private var lastPlace = 0

    /// - Parameter make: what the worker has of a namespace.
    init(_ registry: Namespaces, home: WorkerNamespace, make: @escaping (Namespace) -> WorkerNamespace) {
        self.registry = registry
        self.home = home
        self.make = make
        list = [home]
    }

    /// All that it has.
    var all: [WorkerNamespace] { list.compactMap { $0 } }

    /// The default one for a place whose namespace was forgotten.
    func at(_ place: Int) -> WorkerNamespace { list[place] ?? home }

    func isForgotten(_ place: Int) -> Bool { list[place] == nil }

    /// - Parameter held: places of pushes that are held here, which come into being again.
    func forget(_ forgotten: [Namespace], held: Set<Int>) {
        let gone = Set(forgotten.map(ObjectIdentifier.init))
        for place in list.indices.dropFirst() {
            guard let own = list[place], let name = own.shared.name, gone.contains(ObjectIdentifier(own.shared)) else {
                continue
            }
            (list[place], places[name]) = (nil, nil)
            guard held.contains(place), let namespace = registry.named(name) else { continue }
            let again = make(namespace)
            again.follow(own)
            (list[place], places[name]) = (again, place)
        }
        if list[lastPlace] == nil { (lastTopic, lastPlace) = ([], 0) }
    }

    /// The place of a request's namespace. Who does not say which, or as no request may, is in the default one.
    func place(
        _ state: RequestState, _ client: RequestChecks.Client, _ role: ListenerRole, unixTime: Int64
    ) -> Int {
        switch registry.rule {
        case .port: role.namespace.map { place($0) { true } } ?? 0
        case .team: teamID(state, client).map { place($0) { true } } ?? 0
        case .topic: topicPlace(state, client, unixTime)
        }
    }

    private func teamID(_ state: RequestState, _ client: RequestChecks.Client) -> String? {
        if state.hasKnownToken { return client.keyID.flatMap { home.checks.tokens.account($0)?.identity.teamID } }
        return home.checks.teamID(state)
    }

    private func topicPlace(_ state: RequestState, _ client: RequestChecks.Client, _ unixTime: Int64) -> Int {
        func isGood() -> Bool {
            var client = client
            return home.checks.checkSender(state, &client, unixTime) == nil
        }
        let topic = state.value(.topic)
        if topic.isEmpty { return bundleID(state, client).map { place($0, mayMake: isGood) } ?? 0 }
        let isLast =
            topic.count == lastTopic.count
            && lastTopic.withUnsafeBytes { memcmp($0.baseAddress!, topic.baseAddress!, topic.count) == 0 }
        if isLast { return lastPlace }
        guard RequestChecks.isTopic(topic) else { return 0 }
        let found = place(NamespaceRule.bundleID(ofTopic: state.text(.topic)), mayMake: isGood)
        // One that has none yet is asked for again, and counted if there are too many.
        if found != 0 { (lastTopic, lastPlace) = (Array(topic), found) }
        return found
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

    /// - Parameter mayMake: whether it may come into being.
    private func place(_ name: String, mayMake: () -> Bool) -> Int {
        if let place = places[name] { return place }
        var found = registry.known(name)
        if found == nil {
            guard mayMake() else { return 0 }
            found = registry.named(name)
            if found == nil { registry.countRefused() }
        }
        guard let namespace = found else { return 0 }
        list.append(make(namespace))
        places[name] = list.count - 1
        return list.count - 1
    }
}
