import Analysis
import Results
import Scenarios

/// Targets at which nobody answered, whatever the other settings: they are not asked again within one go.
package struct UnreachedTargets {
    private struct Key: Hashable {
        let target: [String]
        let connectTimeout: UInt64

        /// nil for the bundled mock, which each run has its own of.
        init?(_ scenario: Scenario) {
            guard let target = scenario.target else { return nil }
            self.target = target.urls
            connectTimeout = scenario.connectTimeout
        }
    }

    private static let causes: Set<String> = ["connection_refused", "connect_failed", "connect_timeout"]
    private var reasons: [Key: String] = [:]

    /// Why a run of this scenario would not reach its target; nil when it may.
    package subscript(scenario: Scenario) -> String? { Key(scenario).flatMap { reasons[$0] } }

    /// Why a run did not reach a target that may be there another time; nil when it did, or what kept it from it are settings of
    /// its own.
    package static func reason(_ result: ResultDocument, of scenario: Scenario) -> String? {
        guard scenario.target != nil, causes.isSuperset(of: result.connections.ends.keys) else { return nil }
        return RunVerdict.unreached(result)
    }

    package init() {}

    package mutating func note(_ scenario: Scenario, _ why: String) {
        if let key = Key(scenario) { reasons[key] = why }
    }
}
