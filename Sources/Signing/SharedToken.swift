import Synchronization

/// The run's one current token under the `cached` policy. Touched when a worker starts and when the token is renewed,
/// never for a push.
public final class SharedToken: Sendable {
    private struct State {
        var bytes: [UInt8] = []
        var issuedAt: Int64 = .min
        var signed: UInt64 = 0
    }

    private let state = Mutex(State())

    public init() {}

    /// Tokens signed for all workers together.
    public var signed: UInt64 { state.withLock { $0.signed } }

    /// The current token, signed by `writer` when there is none or it is `renewAfter` seconds old.
    func current(
        unixTime: Int64, renewAfter: Int64, writer: TokenWriter
    ) throws(SigningError) -> (bytes: [UInt8], issuedAt: Int64) {
        try state.withLock { state throws(SigningError) in
            if state.issuedAt == .min || unixTime >= state.issuedAt + renewAfter {
                var bytes = [UInt8](repeating: 0, count: writer.capacity)
                let length = try writer.write(unixTime: unixTime, into: &bytes)
                bytes.removeSubrange(length...)
                state.bytes = bytes
                state.issuedAt = unixTime
                state.signed += 1
            }
            return (state.bytes, state.issuedAt)
        }
    }
}
