import HTTP2

/// HEADERS and DATA of a push put into a send buffer of one TLS record: a block of 90 bytes, a payload of 330.
final class FrameStage: Stage {
    private let source: UnsafeMutablePointer<UInt8>
    private let buffer: UnsafeMutablePointer<UInt8>
    private static let capacity = 16_384
    private static let blockLength = 90
    private static let payloadLength = 330

    init() {
        source = .allocate(capacity: 512)
        source.initialize(repeating: 0x61, count: 512)
        buffer = .allocate(capacity: Self.capacity)
        buffer.initialize(repeating: 0, count: Self.capacity)
        super.init("frame-write")
    }

    deinit {
        source.deallocate()
        buffer.deallocate()
    }

    override func run(_ pushes: Range<UInt64>) -> UInt64 {
        let push = 2 * Frame.headerLength + Self.blockLength + Self.payloadLength
        var used = 0
        var total: UInt64 = 0
        for sequence in pushes {
            if used + push > Self.capacity { used = 0 }
            let stream = Int32(truncatingIfNeeded: sequence &* 2 &+ 1) & .max
            var output = buffer + used
            Frame.writeHeader(
                length: Self.blockLength, type: Frame.headers, flags: Frame.endHeaders, stream: stream, into: output)
            output += Frame.headerLength
            output.update(from: source, count: Self.blockLength)
            output += Self.blockLength
            Frame.writeHeader(
                length: Self.payloadLength, type: Frame.data, flags: Frame.endStream, stream: stream, into: output)
            output += Frame.headerLength
            output.update(from: source, count: Self.payloadLength)
            total &+= UInt64(buffer[used &+ 8])
            used &+= push
        }
        return total
    }
}
