/// The parts of a push's way that are timed, each with a histogram of its own. All in nanoseconds; of measured pushes, each
/// counted once: `late`, `write`, `queue`, `roundTrip` and `service` are of the attempt that ended the push. The time from the
/// intended send time to the end is in `TotalLatencies`.
public enum Stage: Int, CaseIterable, Sendable {
    /// Writing the payload and the device token, of one push in 16.
    case encode
    /// Getting the provider token: every signature the policy asks for, and one in 16 uses of a token that is there already.
    case sign
    /// Open loop: from the intended send time to the push being put on a stream.
    case late
    /// Open loop: from being put on a stream to the start of the write that hands its last byte to the kernel.
    case write
    /// From the intended send time to the start of the write that hands its last byte to the kernel: waiting, signing and encoding.
    case queue
    /// From the start of the write that hands its last byte to the kernel to the answer being read: never less than the way
    /// there and back took, whatever the scheduler does around the write.
    case roundTrip
    /// Open loop: from being put on a stream to the answer being read: what a generator that waits for its turn would see.
    case service

    /// As results spell it.
    public var key: String {
        switch self {
        case .encode: "encode"
        case .sign: "sign"
        case .late: "late"
        case .write: "write"
        case .queue: "queue"
        case .roundTrip: "round_trip"
        case .service: "service"
        }
    }
}
