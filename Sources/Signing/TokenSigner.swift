/// One worker's provider tokens by policy: hands back ready `bearer <JWT>` bytes. Not thread-safe.
///
/// Cost a push: `cached` and `per-connection` one comparison and a pointer, 2 ns; `per-push` one ES256 signature, 20 µs,
/// 96 % of the rate of `openssl speed ecdsap256` (release build, medians of 5 in alternation).
public final class TokenSigner {
    private let policy: SigningPolicy
    private let shared: SharedToken
    private let writer: TokenWriter
    private let token: UnsafeMutablePointer<UInt8>
    private var length = 0
    private var renewAt: Int64 = .min
    private var pushesLeft: UInt64 = 0
    /// Which of the shared tokens it has.
    private var number: UInt64 = 0
    /// Tokens it has had, and which of them are there now: its own, and by connection.
    private var had: UInt64 = 0
    private var ownVersion: UInt64 = 0
    private let connectionVersions: UnsafeMutablePointer<UInt64>?
    @exclusivity(unchecked) private var lastVersion: UInt64 = 0
    /// Which token `authorization` gave last: another number for each other token, from 1 on.
    public var version: UInt64 { lastVersion }
    /// When a token was last replaced, UNIX seconds and the caller's ns; by connection, or 0 for all.
    private var replacements: [Int: (unixTime: Int64, time: UInt64)] = [:]
    private let firstConnection: Int
    private let connections: Int
    private let connectionTokens: UnsafeMutablePointer<UInt8>?
    private let connectionLengths: UnsafeMutablePointer<Int>?
    private let connectionRenewal: UnsafeMutablePointer<Int64>?

    /// Tokens this worker has signed for itself; those of the shared token are counted there.
    public private(set) var tokensSigned: UInt64 = 0
    /// Of these, those in place of one that the target said had expired; the same.
    public private(set) var tokensReplaced: UInt64 = 0
    /// Why signing failed, if it ever did; the token before goes on being used.
    public private(set) var failure: SigningError?

    /// - Parameters:
    ///   - firstConnection, connections: the numbers of this worker's connections.
    public init(
        identity: ProviderIdentity, policy: SigningPolicy, shared: SharedToken, firstConnection: Int, connections: Int
    ) throws(SigningError) {
        self.policy = policy
        self.shared = shared
        writer = try TokenWriter(identity)
        token = .allocate(capacity: writer.capacity)
        self.firstConnection = firstConnection
        self.connections = connections
        if policy == .perConnection {
            connectionTokens = .allocate(capacity: writer.capacity * connections)
            connectionLengths = .allocate(capacity: connections)
            connectionRenewal = .allocate(capacity: connections)
            connectionVersions = .allocate(capacity: connections)
            connectionVersions!.initialize(repeating: 0, count: connections)
            connectionLengths!.initialize(repeating: 0, count: connections)
            connectionRenewal!.initialize(repeating: .min, count: connections)
        } else {
            connectionTokens = nil
            connectionLengths = nil
            connectionRenewal = nil
            connectionVersions = nil
        }
    }

    deinit {
        token.deallocate()
        connectionTokens?.deallocate()
        connectionLengths?.deallocate()
        connectionRenewal?.deallocate()
        connectionVersions?.deallocate()
    }

    /// A connection was made: under `per-connection` it gets a token of its own.
    public func connectionOpened(_ connection: Int, unixTime: Int64) {
        if policy == .perConnection { signConnection(connection - firstConnection, unixTime) }
    }

    private func signConnection(_ place: Int, _ unixTime: Int64) {
        do throws(SigningError) {
            connectionLengths![place] = try writer.write(
                unixTime: unixTime, into: connectionTokens! + place * writer.capacity)
            connectionRenewal![place] = unixTime + 3000
            had += 1
            connectionVersions![place] = had
            tokensSigned += 1
        } catch {
            failure = error
        }
    }

    /// The policy signs so often that each use may be a signature.
    @inline(__always)
    public var mayHaveToSign: Bool {
        switch policy {
        case .cached, .perConnection: false
        case .every, .perPush: true
        }
    }

    /// The `authorization` value for the next push on `connection`; valid until the next call.
    @inline(__always)
    public func authorization(connection: Int, unixTime: Int64) -> UnsafeBufferPointer<UInt8> {
        switch policy {
        case .cached(let renewAfter):
            if unixTime >= renewAt { renewShared(unixTime, Int64(renewAfter)) }
        case .perConnection:
            let place = connection - firstConnection
            // Apple refuses tokens older than an hour, also on a connection that lives longer.
            if unixTime >= connectionRenewal![place] { signConnection(place, unixTime) }
            lastVersion = connectionVersions![place]
            return UnsafeBufferPointer(
                start: connectionTokens! + place * writer.capacity, count: connectionLengths![place])
        case .every(let count):
            if pushesLeft == 0 {
                signOwn(unixTime)
                pushesLeft = count
            }
            pushesLeft &-= 1
        case .perPush:
            signOwn(unixTime)
        }
        lastVersion = ownVersion
        return UnsafeBufferPointer(start: token, count: length)
    }

    private func renewShared(_ unixTime: Int64, _ renewAfter: Int64) {
        do throws(SigningError) {
            take(try shared.current(unixTime: unixTime, renewAfter: renewAfter, writer: writer), renewAfter)
        } catch {
            failure = error
        }
    }

    private func take(_ current: SharedToken.Current, _ renewAfter: Int64) {
        token.update(from: current.bytes, count: current.bytes.count)
        length = current.bytes.count
        had += 1
        ownVersion = had
        (renewAt, number) = (current.issuedAt + renewAfter, current.number)
    }

    /// The target says that a token has expired: signs another one in its place, unless that one is such another itself. Apple lets
    /// a provider change its token once in 20 minutes.
    ///
    /// - Parameters:
    ///   - usedAt: when a push with the refused token was begun, ns.
    ///   - time: now, ns of the same clock.
    /// - Returns: true when pushes that were begun then are to be sent again, with another token.
    public func replace(connection: Int, usedAt: UInt64, time: UInt64, unixTime: Int64) -> Bool {
        let place = policy == .perConnection ? connection - firstConnection : 0
        if let last = replacements[place], usedAt <= last.time { return true }
        switch policy {
        case .cached(let renewAfter):
            do throws(SigningError) {
                guard let other = try shared.replacing(number, unixTime: unixTime, writer: writer) else { return false }
                take(other, Int64(renewAfter))
            } catch {
                failure = error
                return false
            }
        case .perConnection, .every, .perPush:
            guard SigningPolicy.mayReplace(replacements[place]?.unixTime, unixTime) else { return false }
            // The others sign a new one for the next push.
            if policy == .perConnection { signConnection(place, unixTime) } else { pushesLeft = 0 }
            tokensReplaced += 1
        }
        replacements[place] = (unixTime, time)
        return true
    }

    private func signOwn(_ unixTime: Int64) {
        do throws(SigningError) {
            length = try writer.write(unixTime: unixTime, into: token)
            had &+= 1
            ownVersion = had
            tokensSigned &+= 1
        } catch {
            failure = error
        }
    }

    /// One `bearer <JWT>` as text.
    public static func bearer(_ identity: ProviderIdentity, unixTime: Int64) throws(SigningError) -> String {
        let writer = try TokenWriter(identity)
        var bytes = [UInt8](repeating: 0, count: writer.capacity)
        let length = try writer.write(unixTime: unixTime, into: &bytes)
        return String(decoding: bytes.prefix(length), as: UTF8.self)
    }
}
