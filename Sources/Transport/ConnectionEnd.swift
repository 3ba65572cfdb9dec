/// Why a connection ended before its run did, or never opened. Each such connection has exactly one; a connection that was still
/// there at the end of the run, or when the run was stopped, has none.
public enum ConnectionEnd: Sendable, Equatable, CustomStringConvertible {
    /// It broke, or never was usable.
    case broken(FailureCause)
    /// The peer sent frames without end that brought no answer: the last of them.
    case flood(String)
    /// It was told to go away, whatever came after that. Of several GOAWAYs it is the last.
    case goAway(GoAway)
    /// It had no stream id left (RFC 9113 section 5.1.1).
    case streamIDsUsedUp

    /// As results spell it.
    public var description: String {
        switch self {
        case .broken(let cause): cause.description
        case .flood(let frames): "flood \(frames)"
        case .goAway(let goAway): "goaway \(goAway)"
        case .streamIDsUsedUp: "stream_ids_used_up"
        }
    }
}
