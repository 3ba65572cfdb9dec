/// A request as bytes, which lie in its owner's memory and are good until the verb that takes them returns.
public struct ClientRequest {
    /// Which of the header sets that the session was made with.
    public var headerSet: Int
    public var path: UnsafePointer<UInt8>
    public var pathLength: Int
    /// Value of `authorization`; nil sends none.
    public var authorization: UnsafeBufferPointer<UInt8>?
    /// Which value that is: another number for each other value on the connection; 0: not said, so that it is compared.
    public var authorizationVersion: UInt64
    /// 36 bytes of an `apns-id`; nil sends none.
    public var identifier: UnsafePointer<UInt8>?
    public var payload: UnsafePointer<UInt8>
    public var payloadLength: Int

    @inline(__always)
    public init(
        headerSet: Int, path: UnsafePointer<UInt8>, pathLength: Int, authorization: UnsafeBufferPointer<UInt8>?,
        authorizationVersion: UInt64 = 0, identifier: UnsafePointer<UInt8>?, payload: UnsafePointer<UInt8>,
        payloadLength: Int
    ) {
        self.headerSet = headerSet
        self.path = path
        self.pathLength = pathLength
        self.authorization = authorization
        self.authorizationVersion = authorizationVersion
        self.identifier = identifier
        self.payload = payload
        self.payloadLength = payloadLength
    }
}

/// What all requests of a worker begin with: `:scheme` and `:authority`, and for each kind of push the APNs headers that
/// never change, as name and value.
public struct RequestHead: Sendable {
    public let authority: String
    public let isSecure: Bool
    public let headerSets: [[(String, String)]]

    public init(authority: String, isSecure: Bool, headerSets: [[(String, String)]]) {
        self.authority = authority
        self.isSecure = isSecure
        self.headerSets = headerSets
    }
}
