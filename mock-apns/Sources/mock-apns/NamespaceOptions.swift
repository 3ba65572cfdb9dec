import ArgumentParser
import MockAPNs

/// How one mock serves several test suites at once.
struct NamespaceOptions: ParsableArguments {
    @Option(
        name: .customLong("namespace-by"),
        help: ArgumentHelp(
            """
            What tells namespaces apart, each with devices, rules, counts, kept pushes and reset of its own: team, topic or port. \
            Default: there is one.
            """, valueName: "what"))
    var namespaceBy: String?

    @Option(
        name: .customLong("namespace-port"), parsing: .unconditionalSingleValue,
        help: ArgumentHelp(
            """
            With --namespace-by port: a further port for --environment, whose namespace is called by it; 0 lets the system choose. \
            Repeatable.
            """, valueName: "port"), transform: portNumber)
    var namespacePorts: [UInt16] = []

    /// After all that it depends on.
    func apply(to configuration: inout MockConfiguration) throws(Misuse) {
        guard let namespaceBy else {
            guard namespacePorts.isEmpty else { throw Misuse("--namespace-port needs --namespace-by port") }
            return
        }
        let names = NamespaceRule.allCases.map(\.rawValue).joined(separator: ", ")
        guard let rule = NamespaceRule(rawValue: namespaceBy) else {
            throw Misuse("--namespace-by \(namespaceBy): expected one of \(names)")
        }
        guard configuration.deviceModel == nil else {
            throw Misuse(
                "--namespace-by \(namespaceBy): devices of a model have no namespaces; leave out --device-model")
        }
        if rule == .port {
            guard (1...Self.mostPorts).contains(namespacePorts.count) else {
                throw Misuse("--namespace-by port: expected 1 to \(Self.mostPorts) times --namespace-port")
            }
        } else {
            guard namespacePorts.isEmpty else { throw Misuse("--namespace-port needs --namespace-by port") }
        }
        if rule == .team, configuration.accounts.isEmpty {
            throw Misuse("--namespace-by team: no team is known; give --credentials, --key or --keys")
        }
        configuration.namespaceRule = rule
        configuration.namespacePorts = namespacePorts
    }

    /// As many as a thread can listen at beside the four others.
    private static let mostPorts = 12
}
