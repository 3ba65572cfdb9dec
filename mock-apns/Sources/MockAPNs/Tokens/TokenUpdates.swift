import Synchronization

/// How often providers renew their tokens. "Establishing a token-based connection to APNs": "APNs report an error if you use a new
/// token more than once every 20 minutes on the same connection." Counted from when the mock saw the token before for the first
/// time, not from its time of issue; of related keys each on its own.
public final class TokenUpdates: Sendable {
    public enum Scope: String, Sendable, CaseIterable {
        /// Each connection may change its token so often: Apple's word.
        case connection
        /// Harder: each key may be seen with a new token so often, over all connections.
        case key
        case off
    }

    public static let interval: Int64 = 20 * 60
    let scope: Scope
    /// By key id: the time of issue of the newest token, and when it was first seen, UNIX seconds.
    private let newest = Mutex<[String: (issuedAt: Int64, seenAt: Int64)]>([:])

    public init(_ scope: Scope) { self.scope = scope }

    /// The next token of this key is not too early.
    func forget(_ keyID: String) { newest.withLock { $0[keyID] = nil } }

    /// False when a token of this key, first seen now, comes too early. Tokens of the same second of issue are one.
    func allows(keyID: String, issuedAt: Int64, unixTime: Int64) -> Bool {
        guard scope == .key else { return true }
        return newest.withLock { newest in
            if let known = newest[keyID], known.issuedAt != issuedAt, unixTime - known.seenAt < Self.interval {
                return false
            }
            if newest[keyID]?.issuedAt != issuedAt { newest[keyID] = (issuedAt, unixTime) }
            return true
        }
    }
}
