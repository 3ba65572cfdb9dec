import Networking
import Synchronization

/// The namespaces of a server beside the default one. They come into being when they are first named, by a request whose sender is good
/// or by a change at the admin port. Bounded: who comes when there are `most` belongs to the default one.
final class Namespaces: Sendable {
    static let most = 1000

    let rule: NamespaceRule
    private struct State: Sendable {
        var list: [Namespace] = []
        var byName: [String: Namespace] = [:]
        /// Of those to come.
        var rules: FaultScript
    }

    private let known: Mutex<State>
    /// Requests that belong to the default one because there are as many as there may be.
    private let refusedCount = Atomic<UInt64>(0)
    private let make: @Sendable (String, FaultScript) -> Namespace

    /// - Parameters:
    ///   - rules: for each that comes into being.
    ///   - make: a namespace of this name, with these rules.
    init(
        _ rule: NamespaceRule, rules: FaultScript, make: @escaping @Sendable (String, FaultScript) -> Namespace
    ) {
        self.rule = rule
        known = Mutex(State(rules: rules))
        self.make = make
    }

    /// nil: it has not come into being.
    func known(_ name: String) -> Namespace? { known.withLock { $0.byName[name] } }

    /// - Returns: nil when it would be one too many.
    func named(_ name: String) -> Namespace? {
        known.withLock { known in
            if let found = known.byName[name] { return found }
            guard known.list.count < Self.most else { return nil }
            let namespace = make(name, known.rules.begunAnew())
            known.list.append(namespace)
            known.byName[name] = namespace
            return namespace
        }
    }

    /// The rules for those to come.
    func use(_ plan: FaultPlan, text: String?) {
        let rules = FaultScript(plan, text: text, startedAt: MonotonicClock.now())
        known.withLock { $0.rules = rules }
    }

    /// The rules of those to come.
    var rules: FaultScript { known.withLock { $0.rules } }

    /// Forgets those that hold nothing, after all have begun anew, and how many were too many.
    ///
    /// - Returns: these.
    func forgetEmpty() -> [Namespace] {
        known.withLock { known in
            let empty = known.list.filter { !$0.isHeld }
            for namespace in empty { known.byName[namespace.name!] = nil }
            known.list = known.list.filter { known.byName[$0.name!] != nil }
            refusedCount.store(0, ordering: .relaxed)
            return empty
        }
    }

    /// In the order in which they came.
    var all: [Namespace] { known.withLock { $0.list } }
    var refused: UInt64 { refusedCount.load(ordering: .relaxed) }
    func countRefused() { refusedCount.add(1, ordering: .relaxed) }
}
