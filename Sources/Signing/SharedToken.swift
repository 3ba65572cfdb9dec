import Synchronization

/// The run's one current token under the `cached` policy. Touched when a worker starts and when the token is renewed,
/// never for a push.
public final class SharedToken: Sendable {
    private struct State {
        var bytes: [UInt8] = []
        var issuedAt: Int64 = .min
        var signed: UInt64 = 0
        var replacedAt: Int64?
        var replaced: UInt64 = 0
    }

    private let state = Mutex(State())

    public init() {}

    /// Tokens signed for all workers together.
    public var signed: UInt64 { state.withLock { $0.signed } }

    /// Of these, those in place of one that the target said had expired.
    public var replaced: UInt64 { state.withLock { $0.replaced } }

    /// A token, and which of them it is.
    typealias Current = (bytes: [UInt8], issuedAt: Int64, number: UInt64)

    /// The current token, signed by `writer` when there is none or it is `renewAfter` seconds old.
    func current(unixTime: Int64, renewAfter: Int64, writer: TokenWriter) throws(SigningError) -> Current {
        try state.withLock { state throws(SigningError) in
            if state.issuedAt == .min || unixTime >= state.issuedAt + renewAfter {
                try Self.sign(&state, unixTime, writer)
            }
            return (state.bytes, state.issuedAt, state.signed)
        }
    }

    /// One in place of token `number`, which the target says has expired.
    ///
    /// - Returns: nil when that was itself signed for this reason, and less than 20 minutes ago.
    func replacing(_ number: UInt64, unixTime: Int64, writer: TokenWriter) throws(SigningError) -> Current? {
        try state.withLock { state throws(SigningError) in
            if number == state.signed {
                guard SigningPolicy.mayReplace(state.replacedAt, unixTime) else { return nil }
                try Self.sign(&state, unixTime, writer)
                state.replacedAt = unixTime
                state.replaced += 1
            }
            return (state.bytes, state.issuedAt, state.signed)
        }
    }

    private static func sign(_ state: inout State, _ unixTime: Int64, _ writer: TokenWriter) throws(SigningError) {
        var bytes = [UInt8](repeating: 0, count: writer.capacity)
        let length = try writer.write(unixTime: unixTime, into: &bytes)
        bytes.removeSubrange(length...)
        state.bytes = bytes
        state.issuedAt = unixTime
        state.signed += 1
    }
}
