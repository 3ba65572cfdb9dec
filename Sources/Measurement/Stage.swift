/// The parts of a push's way that are timed, each with a histogram of its own. All in nanoseconds.
public enum Stage: Int, CaseIterable, Sendable {
    /// Writing the payload and the device token.
    case encode
    /// Getting the provider token, signing included when the policy asks for it.
    case sign
    /// From the intended send time to the last byte being handed to the kernel: waiting, signing and encoding.
    case queue
    /// From the last byte being handed to the kernel to the answer being read from it.
    case roundTrip
    /// From the intended send time to the answer being read.
    case total

    /// As results spell it.
    public var key: String {
        switch self {
        case .encode: "encode"
        case .sign: "sign"
        case .queue: "queue"
        case .roundTrip: "round_trip"
        case .total: "total"
        }
    }
}
