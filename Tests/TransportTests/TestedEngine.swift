import Networking

@testable import Transport

#if NIO
    import TransportNIO
#endif

/// The engines this build has: what holds for one holds for all.
enum TestedEngine: String, CaseIterable, Sendable {
    case wire
    /// With its header strings coded.
    case wireHuffman
    case nghttp2
    #if NIO
        case nio
    #endif

    /// A worker for one kind of push.
    func make(
        target: Target, options: TransportOptions, driver: PushDriver, control: RunControl, payloadCapacity: Int
    ) throws -> any PushEngine {
        #if NIO
            if self == .nio {
                return try NIOPushClient(
                    target: target, options: options, driver: driver, control: control,
                    headerSets: [[("apns-topic", "t")]], tokenCapacity: 64, payloadCapacity: payloadCapacity)
            }
        #endif
        var options = options
        options.engine = self == .nghttp2 ? .nghttp2 : .wire
        options.huffman = self == .wireHuffman
        return try PushClient(
            target: target, options: options, driver: driver, control: control, headerSets: [[("apns-topic", "t")]],
            tokenCapacity: 64, payloadCapacity: payloadCapacity)
    }
}
