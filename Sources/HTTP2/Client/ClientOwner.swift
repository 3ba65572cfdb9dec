/// How a stream ended, as far as the peer has a say in it.
public enum StreamEnding: Sendable, Equatable {
    /// The answer is whole; its status is 200 or above.
    case answered(status: UInt16)
    /// The peer did not process the request (RFC 9113 sections 6.8 and 8.7): it may be sent again.
    case refused
    case reset(ErrorCode)
    /// The answer is not one (RFC 9113 section 8.1.1), or the peer broke another rule of the stream.
    case malformed
}

/// What a client session tells. An abstract class rather than a protocol: plain virtual calls on a known object. They are made
/// from within the session's verbs, and call none of them.
open class ClientOwner {
    public init() {}

    /// SETTINGS came: `ClientSession.streamLimit` is the peer's.
    open func didSettle() {}

    /// The stream is over. What is kept of its answer's body can be read until this returns; its place is free after that.
    open func didEnd(_ index: Int, _ ending: StreamEnding) {}

    /// GOAWAY came. The streams above its last one are then told to have been `refused`.
    open func didReceiveGoAway(code: ErrorCode, debugData: UnsafeBufferPointer<UInt8>) {}

    /// What the peer did wrong on the first stream that it broke, one line.
    open func didFindFault(_ text: String) {}
}
