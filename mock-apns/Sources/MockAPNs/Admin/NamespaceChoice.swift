import PlainHTTP
import Settings

/// The namespaces that a request to the admin port is about.
enum NamespaceChoice: Sendable, Equatable {
    case all
    /// By its name, which nobody may have named yet; nil: the default one.
    case one(String?)

    func includes(_ namespace: Namespace) -> Bool { includes(namespace.name) }

    /// nil: the default one.
    func includes(_ name: String?) -> Bool {
        switch self {
        case .all: true
        case .one(let own): own == name
        }
    }

    /// - Parameters:
    ///   - name: as the query says it; empty: the default one, `*`: all.
    ///   - isRead: who names none reads all, and changes the default one. One that is changed comes into being where it is not there, and
    ///     so does one that the configuration names.
    /// - Throws: what is wrong with the name.
    init(_ name: String?, isRead: Bool, of server: MockServer) throws(SettingsError) {
        guard let name else {
            self = isRead ? .all : .one(nil)
            return
        }
        guard let namespaces = server.shared.namespaces else {
            throw SettingsError(
                "namespace \"\(name.prefix(80))\": there is one only; start mock-apns with --namespace-by "
                    + NamespaceRule.allCases.map(\.rawValue).joined(separator: ", "))
        }
        switch name {
        case "*": self = .all
        case "": self = .one(nil)
        default:
            if let problem = Self.problem(name, namespaces.rule, server) {
                throw SettingsError("namespace \"\(name.prefix(80))\": \(problem)")
            }
            guard isRead && namespaces.rule == .topic || namespaces.named(name) != nil else {
                throw SettingsError(
                    "namespace \"\(name.prefix(80))\": there are \(Units.grouped(UInt64(Namespaces.most))) already")
            }
            self = .one(name)
        }
    }

    /// The answer where one is asked for that nobody has named in a request or a change: a mistyped one is not taken for an empty one.
    func missing(_ path: String, _ shared: MockShared) -> PlainResponse? {
        guard case .one(let name?) = self, shared.namespace(name) == nil else { return nil }
        let known = shared.allNamespaces.compactMap(\.name)
        return .text(
            "\(path): namespace \"\(name)\": no push has come for it, and nothing was changed in it"
                + (NearestName.of(name, among: known).map { "; did you mean \"\($0)\"?" } ?? ""), status: 404)
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
