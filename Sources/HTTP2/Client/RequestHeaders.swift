/// The header blocks of a worker's requests in the form that nghttp2 takes: for each kind of push with and without authorization
/// and apns-id.
public final class RequestHeaders {
    private struct Variant {
        let block: HeaderBlock
        let path: Int
        let authorization: Int
        let identifier: Int
    }

    private let sets: [[Variant]]

    public init(_ head: RequestHead) {
        sets = head.headerSets.map { fixed in
            (0..<4).map { bits in
                let block = HeaderBlock(capacity: fixed.count + 6)
                block.add(":method", "POST")
                block.add(":scheme", head.isSecure ? "https" : "http")
                let path = block.addVariable(":path", indexed: true)
                block.add(":authority", head.authority)
                let authorization = bits & 1 != 0 ? block.addVariable("authorization", indexed: true) : -1
                for (name, value) in fixed { block.add(name, value) }
                let identifier = bits & 2 != 0 ? block.addVariable("apns-id", indexed: false) : -1
                return Variant(block: block, path: path, authorization: authorization, identifier: identifier)
            }
        }
    }

    /// The header block of a request; valid until the next call.
    func block(for request: ClientRequest) -> HeaderBlock {
        let place = (request.authorization != nil ? 1 : 0) | (request.identifier != nil ? 2 : 0)
        let variant = sets[request.headerSet][place]
        variant.block.setValue(variant.path, request.path, request.pathLength)
        if let value = request.authorization {
            variant.block.setValue(variant.authorization, value.baseAddress!, value.count)
        }
        if let identifier = request.identifier { variant.block.setValue(variant.identifier, identifier, 36) }
        return variant.block
    }
}
