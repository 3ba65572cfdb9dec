import Results
import Settings

/// What `pushload gate` compares with: a scenario, and what its pushes cost, round by round. `results/README.md` defines every
/// field.
struct BaselineDocument: Codable, Sendable, Equatable {
    /// What this version writes and reads.
    static let currentSchema = "pushload.baseline/1"

    var schema = BaselineDocument.currentSchema
    var name: String
    /// Why it was made or renewed.
    var reason: String
    /// ISO 8601, UTC.
    var updatedAt: String
    /// Of pushload.
    var version: String
    @Nullable var commit: String?
    /// Every setting, by the names a result has them under; times in ns, sizes in bytes.
    var scenario: [String: JSONValue]
    var machine: Machine
    /// Version of the reference kernel.
    var kernel: String
    /// Client and mock shared one core.
    var oneCore: Bool
    var metrics: [Metric]

    enum CodingKeys: String, CodingKey {
        case schema, name, reason, version, commit, scenario, machine, kernel, metrics
        case updatedAt = "updated_at"
        case oneCore = "one_core"
    }

    /// Where the rounds were made.
    struct Machine: Codable, Sendable, Equatable {
        var host: String
        var cpu: String
        var cores: Int
        var kernel: String
        var system: String
    }

    /// One figure of every round.
    struct Metric: Codable, Sendable, Equatable {
        /// `client_cpu` and so on.
        var name: String
        var unit: FigureUnit
        /// As measured.
        var raw: [Double]
        /// Divided by the reference kernel's time around the round; nil for what does not depend on the machine's speed.
        @Nullable var normalised: [Double]?
    }
}
