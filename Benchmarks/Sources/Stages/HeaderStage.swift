import HTTP2

/// A request's header block once the peer's dynamic table holds what stays the same.
final class HeaderStage: Stage {
    private let encoder: RequestEncoder
    private let path: UnsafeMutablePointer<UInt8>
    private let authorization: UnsafeMutableBufferPointer<UInt8>
    private let block: UnsafeMutablePointer<UInt8>
    private static let pathLength = 74

    init(usesHuffman: Bool = false) {
        encoder = RequestEncoder(
            authority: "api.push.apple.com", isSecure: true,
            headerSets: [[("apns-topic", "com.example.app"), ("apns-push-type", "alert"), ("apns-priority", "10")]],
            tableLimit: 4096, usesHuffman: usesHuffman)
        path = .allocate(capacity: Self.pathLength)
        path.initialize(repeating: 0x61, count: Self.pathLength)
        authorization = .allocate(capacity: 200)
        authorization.initialize(repeating: 0x62)
        block = .allocate(capacity: encoder.capacity(pathLength: Self.pathLength) + 200)
        super.init(usesHuffman ? "header-block-huffman" : "header-block")
    }

    deinit {
        path.deallocate()
        authorization.deallocate()
        block.deallocate()
    }

    override func run(_ pushes: Range<UInt64>) -> UInt64 {
        var total = 0
        for sequence in pushes {
            path[11] = UInt8(truncatingIfNeeded: sequence & 15) &+ 0x61
            let length = encoder.write(
                set: 0, path: path, pathLength: Self.pathLength,
                authorizationValue: UnsafeBufferPointer(authorization), identifier: nil, into: block)
            total &+= length &+ Int(block[length &- 1])
        }
        return UInt64(total)
    }
}
