import Synchronization

/// How many of a kind there may be over all namespaces.
final class SharedRoom: Sendable {
    private let most: Int
    private let taken = Atomic<Int>(0)

    init(_ most: Int) { self.most = most }

    /// False when there are as many as there may be.
    func take() -> Bool {
        var count = taken.load(ordering: .relaxed)
        while count < most {
            let (isTaken, found) = taken.weakCompareExchange(
                expected: count, desired: count + 1, ordering: .relaxed)
            if isTaken { return true }
            count = found
        }
        return false
    }

    func give(_ count: Int) { taken.subtract(count, ordering: .relaxed) }
}
