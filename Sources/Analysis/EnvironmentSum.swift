import Results

/// Where the workers of a run were, as one environment: names of which there are several kinds stand side by side, cores and memory are
/// those of all hosts together.
struct EnvironmentSum {
    private struct Machine {
        var cores = 0
        var memory: UInt64 = 0
    }

    /// By name: several workers may share one.
    private var hosts: [String: Machine] = [:]
    private var cpus: Set<String> = []
    private var kernels: Set<String> = []
    private var systems: Set<String> = []
    private var versions: [String: Set<String>] = [:]
    private var commits: Set<String?> = []

    /// - Parameter environment: without a host: a worker that wrote nothing.
    mutating func add(_ environment: ResultDocument.Environment) {
        guard !environment.host.isEmpty else { return }
        var machine = hosts[environment.host] ?? Machine()
        machine.cores = max(machine.cores, environment.cores)
        machine.memory = max(machine.memory, environment.memoryBytes)
        hosts[environment.host] = machine
        cpus.insert(environment.cpu)
        kernels.insert(environment.kernel)
        systems.insert(environment.system)
        for (name, version) in environment.versions { versions[name, default: []].insert(version) }
        commits.insert(environment.commit)
    }

    /// `host` is its name, or how many there are; `commit` that of all.
    var whole: ResultDocument.Environment {
        var whole = ResultDocument.Environment()
        whole.host = hosts.count > 1 ? "\(hosts.count) hosts" : hosts.keys.first ?? ""
        whole.cpu = Self.joined(cpus)
        whole.cores = hosts.values.reduce(0) { $0 &+ $1.cores }
        whole.memoryBytes = hosts.values.reduce(0) { $0 &+ $1.memory }
        whole.kernel = Self.joined(kernels)
        whole.system = Self.joined(systems)
        whole.versions = versions.mapValues(Self.joined)
        whole.commit = commits.count == 1 ? commits.first ?? nil : nil
        return whole
    }

    private static let mostNamed = 4

    private static func joined(_ names: Set<String>) -> String {
        let all = names.sorted()
        guard all.count > mostNamed else { return all.joined(separator: ", ") }
        return all.prefix(mostNamed).joined(separator: ", ") + " and \(all.count - mostNamed) more"
    }
}
