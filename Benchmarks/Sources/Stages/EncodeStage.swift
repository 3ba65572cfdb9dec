import Payloads

/// Device token and payload of one profile.
final class EncodeStage: Stage {
    private let writer: PayloadWriter
    private let token: UnsafeMutablePointer<UInt8>
    private let payload: UnsafeMutablePointer<UInt8>

    init(profile: String) throws {
        writer = PayloadWriter(
            mix: try ProfileMix(parsing: profile),
            population: .synthetic(SyntheticDevices(seed: 1, count: 1_000_000)), run: RunID(1), seed: 1)
        token = .allocate(capacity: SyntheticDevices.tokenLength)
        payload = .allocate(capacity: writer.maximumPayloadSize + PayloadWriter.slack)
        super.init("encode-\(profile)", isOpenSSL: profile == "rich")
    }

    deinit {
        token.deallocate()
        payload.deallocate()
    }

    override func run(_ pushes: Range<UInt64>) -> UInt64 {
        var total = 0
        for sequence in pushes {
            total &+= writer.writeToken(device: writer.device(sequence: sequence), into: token)
            let length = writer.write(
                sequence: sequence, profile: writer.profileIndex(sequence: sequence), unixTime: 1_700_000_000,
                into: payload)
            total &+= length &+ Int(payload[length &- 3])
        }
        return UInt64(total)
    }
}
