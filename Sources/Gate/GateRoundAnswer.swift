import Harness

/// What the process of a round tells that of a gate, which may be of another version: what is missing is not known.
struct GateRoundAnswer: Codable, Sendable {
    /// What this version writes and reads.
    static let currentSchema = "pushload.gate-round/1"

    /// nil: of a version before answers had one, which are the same.
    var schema: String?
    /// By the names of metrics.
    var values: [String: Double]
    /// CPU time of a record of the reference kernel before and after the round, ns.
    var kernelBefore: Double?
    var kernelAfter: Double?

    enum CodingKeys: String, CodingKey {
        case schema, values
        case kernelBefore = "kernel_before_ns"
        case kernelAfter = "kernel_after_ns"
    }

    /// - Throws: one line when it has no reference kernel, which rounds of this version have.
    func round() throws(HarnessError) -> GateDocument.Round {
        guard let kernelBefore, let kernelAfter else {
            throw HarnessError("a round has no reference kernel", .failed)
        }
        return GateDocument.Round(values: values, kernelBefore: kernelBefore, kernelAfter: kernelAfter)
    }
}
