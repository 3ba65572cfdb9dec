/// The one list of a push's times, in the order they are shown: what is recorded, what results, reports and thresholds name. All
/// in nanoseconds, of measured pushes, each counted once: `late`, `write`, `queue`, `roundTrip` and `service` are of the attempt
/// that ended the push.
public enum Stage: Int, CaseIterable, Sendable, CodingKey {
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
    /// From the intended send time to the end, of every push that was due and measured; one that got no answer counts as longer
    /// than all answers.
    case total
    /// `total` of the accepted ones, and of the rejected ones, alone.
    case totalAccepted, totalRejected
    /// With the bundled mock, the parts of the round trip: to the mock, in it, and back; of a sample of the pushes.
    case toMock, inMock, fromMock
    /// With a device model: from the intended send time of an accepted push to its presentation, and to its content being there
    /// (fetched; decrypted and downloaded). One that waits for it still, or will not have it, counts as longer than all others.
    case timeToScreen, timeToContent

    /// Those that only runs with a device model have.
    public static let ofDevices: Set<Stage> = [.timeToScreen, .timeToContent]

    /// Those a worker's `Recorder` keeps a histogram of; the totals are in `TotalLatencies`, the mock's in its own times.
    static let recorded = allCases.prefix { $0 != .total }

    /// As results and thresholds spell it.
    public var key: String {
        switch self {
        case .encode: "encode"
        case .sign: "sign"
        case .late: "late"
        case .write: "write"
        case .queue: "queue"
        case .roundTrip: "round_trip"
        case .service: "service"
        case .total: "total"
        case .totalAccepted: "total_accepted"
        case .totalRejected: "total_rejected"
        case .toMock: "to_mock"
        case .inMock: "in_mock"
        case .fromMock: "from_mock"
        case .timeToScreen: "time_to_screen"
        case .timeToContent: "time_to_content"
        }
    }

    /// By their keys.
    public static let named = Dictionary(uniqueKeysWithValues: allCases.map { ($0.key, $0) })

    public var stringValue: String { key }
    public var intValue: Int? { nil }

    public init?(stringValue: String) {
        guard let stage = Self.named[stringValue] else { return nil }
        self = stage
    }

    public init?(intValue: Int) { nil }
}
