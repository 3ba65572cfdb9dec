import Networking

@testable import Transport

/// What holds for one engine holds for all.
enum TestedEngine: String, CaseIterable, Sendable {
    case wire
    /// With its header strings coded.
    case wireHuffman
    case nghttp2

    /// A worker for one kind of push.
    func make(
        target: Target, options: TransportOptions, driver: PushDriver, control: RunControl, payloadCapacity: Int
    ) throws -> PushClient {
        var options = options
        options.engine = self == .nghttp2 ? .nghttp2 : .wire
        options.huffman = self == .wireHuffman
        return try PushClient(
            target: target, options: options, driver: driver, control: control, headerSets: [[("apns-topic", "t")]],
            tokenCapacity: 64, payloadCapacity: payloadCapacity)
    }
}
