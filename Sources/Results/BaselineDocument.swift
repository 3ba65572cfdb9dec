import Settings

/// What `pushload gate` compares with: a scenario, and what its pushes cost, round by round. `results/README.md` defines every
/// field.
package struct BaselineDocument: Codable, Sendable, Equatable {
    /// What this version writes and reads.
    static let currentSchema = "pushload.baseline/1"

    var schema = BaselineDocument.currentSchema
    package var name: String
    /// Why it was made or renewed.
    package var reason: String
    /// ISO 8601, UTC.
    package var updatedAt: String
    /// Of pushload.
    var version: String
    @Nullable var commit: String?
    /// Every setting, by the names a result has them under; times in ns, sizes in bytes.
    package var scenario: [String: JSONValue]
    package var machine: Machine
    /// Version of the reference kernel.
    package var kernel: String
    /// Client and mock shared one core.
    package var oneCore: Bool
    package var metrics: [Metric]

    enum CodingKeys: String, CodingKey {
        case schema, name, reason, version, commit, scenario, machine, kernel, metrics
        case updatedAt = "updated_at"
        case oneCore = "one_core"
    }

    package init(
        name: String, reason: String, updatedAt: String, version: String, commit: String?,
        scenario: [String: JSONValue], machine: Machine, kernel: String, oneCore: Bool, metrics: [Metric]
    ) {
        self.name = name
        self.reason = reason
        self.updatedAt = updatedAt
        self.version = version
        self.commit = commit
        self.scenario = scenario
        self.machine = machine
        self.kernel = kernel
        self.oneCore = oneCore
        self.metrics = metrics
    }

    /// Where the rounds were made.
    package struct Machine: Codable, Sendable, Equatable {
        var host: String
        package var cpu: String
        package var cores: Int
        package var kernel: String
        package var system: String

        package init(host: String, cpu: String, cores: Int, kernel: String, system: String) {
            self.host = host
            self.cpu = cpu
            self.cores = cores
            self.kernel = kernel
            self.system = system
        }
    }

    /// One figure of every round.
    package struct Metric: Codable, Sendable, Equatable {
        /// `client_cpu` and so on.
        package var name: String
        package var unit: ComparisonDocument.Unit
        /// As measured.
        package var raw: [Double]
        /// Divided by the reference kernel's time around the round; nil for what does not depend on the machine's speed.
        @Nullable package var normalised: [Double]?

        package init(name: String, unit: ComparisonDocument.Unit, raw: [Double], normalised: [Double]?) {
            self.name = name
            self.unit = unit
            self.raw = raw
            self.normalised = normalised
        }
    }
}
