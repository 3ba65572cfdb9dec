/// What `pushload gate` compares with: a scenario, and what its pushes cost, round by round. `results/README.md` defines every
/// field.
public struct BaselineDocument: Codable, Sendable, Equatable {
    /// What this version writes and reads.
    public static let currentSchema = "pushload.baseline/1"

    public var schema = BaselineDocument.currentSchema
    public var name: String
    /// Why it was made or renewed.
    public var reason: String
    /// ISO 8601, UTC.
    public var updatedAt: String
    /// Of pushload.
    public var version: String
    @Nullable public var commit: String?
    /// Every setting, by the names a result has them under; times in ns, sizes in bytes.
    public var scenario: [String: Setting]
    public var machine: Machine
    /// Version of the reference kernel.
    public var kernel: String
    /// Client and mock shared one core.
    public var oneCore: Bool
    public var metrics: [Metric]

    enum CodingKeys: String, CodingKey {
        case schema, name, reason, version, commit, scenario, machine, kernel, metrics
        case updatedAt = "updated_at"
        case oneCore = "one_core"
    }

    public init(
        name: String, reason: String, updatedAt: String, version: String, commit: String?,
        scenario: [String: Setting], machine: Machine, kernel: String, oneCore: Bool, metrics: [Metric]
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
    public struct Machine: Codable, Sendable, Equatable {
        public var host: String
        public var cpu: String
        public var cores: Int
        public var kernel: String
        public var system: String

        public init(host: String, cpu: String, cores: Int, kernel: String, system: String) {
            self.host = host
            self.cpu = cpu
            self.cores = cores
            self.kernel = kernel
            self.system = system
        }
    }

    /// One figure of every round.
    public struct Metric: Codable, Sendable, Equatable {
        /// `client_cpu` and so on.
        public var name: String
        public var unit: ComparisonDocument.Unit
        /// As measured.
        public var raw: [Double]
        /// Divided by the reference kernel's time around the round; nil for what does not depend on the machine's speed.
        @Nullable public var normalised: [Double]?

        public init(name: String, unit: ComparisonDocument.Unit, raw: [Double], normalised: [Double]?) {
            self.name = name
            self.unit = unit
            self.raw = raw
            self.normalised = normalised
        }
    }
}
