import Results
import Settings

extension ResultDocument {
    /// What a run without a problem says of itself.
    var allRight: String {
        let other = [(pushes.rejected, "rejected"), (pushes.failed, "failed"), (pushes.notSent, "not sent")].filter {
            $0.0 > 0
        }
        guard !other.isEmpty else { return "every push is accounted for" }
        let list = other.map { "\(Units.grouped($0.0)) \($0.1)" }.joined(separator: ", ")
        return "every push is accounted for, \(list): as thresholds or --expect-reasons allow"
    }
}
