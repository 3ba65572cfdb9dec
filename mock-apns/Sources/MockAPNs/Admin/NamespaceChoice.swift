import Settings

/// The namespaces that a request to the admin port is about.
enum NamespaceChoice: Sendable {
    case all
    case one(Namespace)

    func includes(_ namespace: Namespace) -> Bool {
        switch self {
        case .all: true
        case .one(let own): own === namespace
        }
    }

    /// nil: the default one.
    func includes(_ name: String?) -> Bool {
        switch self {
        case .all: true
        case .one(let own): own.name == name
        }
    }

    /// - Parameters:
    ///   - name: as the query says it; empty: the default one, `*`: all. One that is named for the first time comes into being.
    ///   - isRead: who names none reads all, and changes the default one.
    /// - Throws: what is wrong with the name.
    init(_ name: String?, isRead: Bool, of server: MockServer) throws(SettingsError) {
        guard let name else {
            self = isRead ? .all : .one(server.shared.home)
            return
        }
        guard let namespaces = server.shared.namespaces else {
            throw SettingsError(
                "namespace \"\(name.prefix(80))\": there is one only; start mock-apns with --namespace-by "
                    + NamespaceRule.allCases.map(\.rawValue).joined(separator: ", "))
        }
        switch name {
        case "*": self = .all
        case "": self = .one(server.shared.home)
        default:
            if let problem = Self.problem(name, namespaces.rule, server) {
                throw SettingsError("namespace \"\(name.prefix(80))\": \(problem)")
            }
            guard let namespace = namespaces.named(name) else {
                throw SettingsError(
                    "namespace \"\(name.prefix(80))\": there are \(Units.grouped(UInt64(Namespaces.most))) already")
            }
            self = .one(namespace)
        }
    }

    private static func problem(_ name: String, _ rule: NamespaceRule, _ server: MockServer) -> String? {
        switch rule {
        case .topic:
            let isTopic = Array(name.utf8).withUnsafeBytes(RequestChecks.isTopic)
            guard isTopic else { return "expected a bundle id, as in com.example.app" }
            let bundleID = NamespaceRule.bundleID(ofTopic: name)
            return bundleID == name ? nil : "expected a bundle id without a push type's suffix: \(bundleID)"
        case .team:
            let teams = Set(server.shared.configuration.accounts.map(\.identity.teamID)).sorted()
            return teams.contains(name)
                ? nil : "no key is of this team; expected \(teams.joined(separator: ", "))"
        case .port:
            let ports = server.namespacePorts
            return ports.contains(name)
                ? nil : "no --namespace-port is this one; expected \(ports.joined(separator: ", "))"
        }
    }
}
