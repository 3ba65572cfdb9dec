import Scenarios

/// What a search holds a server to besides its goal. Fast rejections must not look like capacity: 98 % of the rate must be
/// accepted; answered is enough where the goal says itself how many pushes may be rejected, or rejections are expected.
package enum SustainedRate {
    /// - Parameter expectsRejections: the scenario names reasons that are as wanted.
    package static func text(beside goals: [Threshold], expectsRejections: Bool) -> String {
        let isSaid = goals.contains {
            switch $0.metric {
            // A number of accepted pushes leaves all others to be rejected.
            case .count("accepted", let isShare): isShare
            case .count(let name, _): name == "rejected"
            case .rate(let rate, _): rate == .accepted
            default: false
            }
        }
        return "\(isSaid || expectsRejections ? "rate" : "goodput") >= 0.98 * target"
    }
}
