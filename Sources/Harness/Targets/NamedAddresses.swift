import Foundation
import Measurement
import Networking
import Synchronization
import Transport

/// The addresses of a target's name. Each is held against the rule before it can be connected to, whenever the name is resolved:
/// at first, and again after connections were lost or could not be made, on a thread of its own and at most once a second.
final class NamedAddresses: TargetAddresses {
    private struct Found {
        /// Those that may be connected to.
        var allowed: [SocketAddress] = []
        /// What was wrong last.
        var problem: NetworkError?
        var isLooking = false
        /// Not again before, ns of the event loops.
        var nextLook: UInt64 = 0
    }

    /// Between two resolutions, ns.
    private static let pause: UInt64 = 1_000_000_000

    private let host: String
    private let port: UInt16
    private let rule: AddressRule
    private let resolver: any NameResolver
    private let background: @Sendable (@escaping @Sendable () -> Void) -> Void
    private let found = Mutex(Found())

    /// Resolves the name; blocks meanwhile.
    ///
    /// - Parameter background: calls what it is given elsewhere, which may wait; nil: on a new thread.
    /// - Throws: when the name has no address that may be connected to.
    init(
        host: String, port: UInt16, rule: AddressRule, resolver: any NameResolver = SystemResolver(),
        background: (@Sendable (@escaping @Sendable () -> Void) -> Void)? = nil
    ) throws(NetworkError) {
        self.host = host
        self.port = port
        self.rule = rule
        self.resolver = resolver
        self.background = background ?? Self.onThread
        look()
        _ = try address(connection: 0, attempt: 0)
    }

    var count: Int { found.withLock { $0.allowed.count } }
    var problem: String? { found.withLock { $0.problem?.description } }

    func address(connection: Int, attempt: Int) throws(NetworkError) -> SocketAddress {
        let (allowed, problem) = found.withLock { ($0.allowed, $0.problem) }
        guard !allowed.isEmpty else { throw problem ?? NetworkError(.address, "no address for host \"\(host)\"") }
        return allowed[(connection &+ attempt) % allowed.count]
    }

    func lookAgain(now: UInt64) {
        let isDue = found.withLock { found in
            guard !found.isLooking, now >= found.nextLook else { return false }
            found.isLooking = true
            found.nextLook = now &+ Self.pause
            return true
        }
        if isDue { background { [self] in look() } }
    }

    /// Resolves the name. One that cannot be resolved keeps the addresses it had.
    private func look() {
        var allowed: [SocketAddress]?
        var problem: NetworkError?
        do throws(NetworkError) {
            let all = Self.ordered(try resolver.addresses(of: host, port: port))
            allowed = all.filter { rule.problem(of: $0) == nil }
            if let refused = all.lazy.compactMap(rule.problem).first { problem = NetworkError(.forbidden, refused) }
        } catch { problem = error }
        found.withLock {
            $0.allowed = allowed ?? $0.allowed
            $0.problem = problem ?? $0.problem
            $0.isLooking = false
        }
    }

    /// Each once, and the same order every time: resolvers turn theirs round. The family that comes first stays first.
    private static func ordered(_ addresses: [SocketAddress]) -> [SocketAddress] {
        let isFirst = addresses.first?.bytes.count
        var seen: Set<String> = []
        return addresses.filter { seen.insert($0.description).inserted }
            .sorted { one, other in
                let (a, b) = (one.bytes, other.bytes)
                return a.count == b.count ? a.lexicographicallyPrecedes(b) : a.count == isFirst
            }
    }

    private static func onThread(_ work: @escaping @Sendable () -> Void) {
        let thread = Thread {
            // What it allocates grows with the run's time, not with its pushes.
            AllocationCount.leaveThreadOut()
            work()
        }
        thread.name = "resolver"
        thread.stackSize = 1 << 20
        thread.start()
    }
}
