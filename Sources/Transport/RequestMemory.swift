import HTTP2

/// The memory in which a worker's requests are composed, one at a time.
final class RequestMemory {
    @exclusivity(unchecked) var request: PushRequest
    /// `PushRequest.pathPrefix` and, after a compose, the token.
    private let path: UnsafeMutablePointer<UInt8>
    private let payloadCapacity: Int

    init(tokenCapacity: Int, payloadCapacity: Int) {
        let prefix = PushRequest.pathPrefix
        path = .allocate(capacity: prefix.utf8CodeUnitCount + tokenCapacity)
        path.update(from: prefix.utf8Start, count: prefix.utf8CodeUnitCount)
        self.payloadCapacity = payloadCapacity
        request = PushRequest(
            token: path + prefix.utf8CodeUnitCount, payload: .allocate(capacity: payloadCapacity),
            identifier: .allocate(capacity: 36))
    }

    deinit {
        path.deallocate()
        request.payload.deallocate()
        request.identifier.deallocate()
    }

    /// Bytes of the last payload; before the first, as many as there may be.
    var payloadLength: Int { request.payloadLength > 0 ? request.payloadLength : payloadCapacity }

    /// What was composed, for a session; valid until the next compose.
    @inline(__always)
    var composed: ClientRequest {
        ClientRequest(
            headerSet: request.headerSet, path: path,
            pathLength: PushRequest.pathPrefix.utf8CodeUnitCount &+ request.tokenLength,
            authorization: request.authorization, authorizationVersion: request.authorizationVersion,
            identifier: request.hasIdentifier ? UnsafePointer(request.identifier) : nil, payload: request.payload,
            payloadLength: request.payloadLength)
    }
}
