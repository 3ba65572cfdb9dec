import Synchronization

/// The namespaces of a server beside the default one. They come into being when they are first named, by a request or at the admin
/// port. Bounded: who comes when there are `most` belongs to the default one.
final class Namespaces: Sendable {
    static let most = 1000

    let rule: NamespaceRule
    private let known = Mutex<(list: [Namespace], byName: [String: Namespace])>(([], [:]))
    /// Requests that belong to the default one because there are as many as there may be.
    private let refusedCount = Atomic<UInt64>(0)
    private let make: @Sendable (String) -> Namespace

    /// - Parameter make: a namespace of this name.
    init(_ rule: NamespaceRule, make: @escaping @Sendable (String) -> Namespace) {
        self.rule = rule
        self.make = make
    }

    /// - Returns: nil when it would be one too many.
    func named(_ name: String) -> Namespace? {
        known.withLock { known in
            if let found = known.byName[name] { return found }
            guard known.list.count < Self.most else { return nil }
            let namespace = make(name)
            known.list.append(namespace)
            known.byName[name] = namespace
            return namespace
        }
    }

    /// In the order in which they came.
    var all: [Namespace] { known.withLock { $0.list } }
    var refused: UInt64 { refusedCount.load(ordering: .relaxed) }
    func countRefused() { refusedCount.add(1, ordering: .relaxed) }
}
