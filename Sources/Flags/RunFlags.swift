import Harness
import Scenarios

/// The flags that make a run: of every command that makes some. Each has the groups beside each other rather than in a group
/// of their own, because in debug builds ArgumentParser checks groups in groups several times over, each time they are deeper.
package protocol RunFlags {
    var length: LengthOptions { get }
    var load: LoadOptions { get }
    var identity: IdentityOptions { get }
    var transport: TransportFlags { get }
}

extension RunFlags {
    /// The flags that were given, by key.
    package var given: [(key: String, texts: [String]?)] {
        length.given + load.given + identity.given + transport.given
    }

    /// For commands that judge several runs together. A scenario's thresholds are of its runs by themselves, and no mistake.
    ///
    /// - Parameters:
    ///   - settings: those of `--set`.
    ///   - why: what is judged instead.
    /// - Throws: one line: a threshold that nobody would look at, or when it ends a run.
    package func refuseThresholds(_ settings: [String], _ why: String) throws(HarnessError) {
        let names = given.filter { $0.texts != nil }.map(\.key) + settings.map { String($0.prefix { $0 != "=" }) }
        guard
            let name = names.first(where: { $0 == "threshold" || $0.hasPrefix("abort_on_fail") }),
            let key = ScenarioKey.named(name)
        else { return }
        throw HarnessError("\(key.flag): \(why), not thresholds: pushload run does")
    }
}
