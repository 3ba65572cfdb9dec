import HTTP2

/// The memory in which a worker's requests are composed, one at a time, and the header blocks that point into it.
final class RequestMemory {
    @exclusivity(unchecked) var request: PushRequest
    /// `PushRequest.pathPrefix` and, after a compose, the token.
    let path: UnsafeMutablePointer<UInt8>
    /// For each kind of push, the APNs headers that never change.
    let headerSets: [[(String, String)]]
    private let payload: UnsafeMutablePointer<UInt8>
    private let identifier: UnsafeMutablePointer<UInt8>
    private let sets: [RequestHeaders]

    /// - Parameter headerSets: for each kind of push, the APNs headers that never change, as name and value.
    init(authority: String, isSecure: Bool, headerSets: [[(String, String)]], tokenCapacity: Int, payloadCapacity: Int)
    {
        self.headerSets = headerSets
        let prefix = PushRequest.pathPrefix
        path = .allocate(capacity: prefix.utf8CodeUnitCount + tokenCapacity)
        path.update(from: prefix.utf8Start, count: prefix.utf8CodeUnitCount)
        payload = .allocate(capacity: payloadCapacity)
        identifier = .allocate(capacity: 36)
        request = PushRequest(
            token: path + prefix.utf8CodeUnitCount, payload: payload, identifier: identifier)
        sets = headerSets.map { RequestHeaders(authority: authority, isSecure: isSecure, fixed: $0) }
    }

    deinit {
        path.deallocate()
        payload.deallocate()
        identifier.deallocate()
    }

    @inline(__always)
    var pathLength: Int { PushRequest.pathPrefix.utf8CodeUnitCount &+ request.tokenLength }

    /// The header block of a composed request; valid until the next call.
    @inline(__always)
    func headers(for request: PushRequest) -> HeaderBlock {
        sets[request.headerSet].block(
            path: path, pathLength: pathLength,
            authorization: request.authorization, identifier: request.hasIdentifier ? identifier : nil)
    }
}

/// The header blocks of one kind of push: with and without authorization and apns-id.
private final class RequestHeaders {
    private struct Variant {
        let block: HeaderBlock
        let path: Int
        let authorization: Int
        let identifier: Int
    }

    private let variants: [Variant]

    init(authority: String, isSecure: Bool, fixed: [(String, String)]) {
        variants = (0..<4).map { bits in
            let block = HeaderBlock(capacity: fixed.count + 6)
            block.add(":method", "POST")
            block.add(":scheme", isSecure ? "https" : "http")
            let path = block.addVariable(":path", indexed: true)
            block.add(":authority", authority)
            let authorization = bits & 1 != 0 ? block.addVariable("authorization", indexed: true) : -1
            for (name, value) in fixed { block.add(name, value) }
            let identifier = bits & 2 != 0 ? block.addVariable("apns-id", indexed: false) : -1
            return Variant(block: block, path: path, authorization: authorization, identifier: identifier)
        }
    }

    @inline(__always)
    func block(
        path: UnsafePointer<UInt8>, pathLength: Int, authorization: UnsafeBufferPointer<UInt8>?,
        identifier: UnsafePointer<UInt8>?
    ) -> HeaderBlock {
        let variant = variants[(authorization != nil ? 1 : 0) | (identifier != nil ? 2 : 0)]
        variant.block.setValue(variant.path, path, pathLength)
        if let authorization {
            variant.block.setValue(variant.authorization, authorization.baseAddress!, authorization.count)
        }
        if let identifier { variant.block.setValue(variant.identifier, identifier, 36) }
        return variant.block
    }
}
