import Harness
import Scenarios

/// The flags that make a run: of every command that makes some. Each has the groups beside each other rather than in a group
/// of their own, because in debug builds ArgumentParser checks groups in groups several times over, each time they are deeper.
package protocol RunFlags {
    var length: LengthOptions { get }
    var thresholds: ThresholdOptions { get }
    var aborting: AbortOptions { get }
    var load: LoadOptions { get }
    var identity: IdentityOptions { get }
    var transport: TransportFlags { get }
}

extension RunFlags {
    /// The flags that were given, by key.
    package var given: [(key: String, texts: [String]?)] {
        length.given + thresholds.given + aborting.given + load.given + identity.given + transport.given
    }

    /// For commands that judge several runs together. A scenario's thresholds are of its runs by themselves, and no mistake.
    ///
    /// - Parameters:
    ///   - settings: those of `--set`.
    ///   - why: what is judged instead.
    /// - Throws: one line: a threshold that nobody would look at, or when it ends a run.
    package func refuseThresholds(_ settings: [String], _ why: String) throws(HarnessError) {
        guard let flag = flag(among: settings, where: { $0 == "threshold" || $0.hasPrefix("abort_on_fail") }) else {
            return
        }
        throw HarnessError("\(flag): \(why), not thresholds: pushload run does")
    }

    /// For commands that judge whole runs by their thresholds.
    ///
    /// - Throws: one line: what ends a run early.
    package func refuseAborting(_ settings: [String], _ why: String) throws(HarnessError) {
        guard let flag = flag(among: settings, where: { $0.hasPrefix("abort_on_fail") }) else { return }
        throw HarnessError("\(flag): \(why): pushload run does")
    }

    private func flag(among settings: [String], where isMeant: (String) -> Bool) -> String? {
        named(with: settings).first(where: isMeant).flatMap(ScenarioKey.named)?.flag
    }

    /// Keys that the command line names.
    ///
    /// - Parameter settings: those of `--set`.
    package func named(with settings: [String]) -> [String] {
        given.filter { $0.texts != nil }.map(\.key) + settings.map { String($0.prefix { $0 != "=" }) }
    }
}
