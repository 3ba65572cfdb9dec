/// An answer as it is written by hand: any status, headers and body, whole or not.
public struct RawAnswer: Sendable, Equatable {
    public struct Field: Sendable, Equatable {
        /// Lower case.
        public var name: String
        public var value: String
        public init(_ name: String, _ value: String) {
            self.name = name
            self.value = value
        }
    }

    /// What follows the body.
    public enum Ending: String, Sendable, CaseIterable {
        /// END_STREAM.
        case stream
        /// RST_STREAM.
        case reset
        /// Nothing: the stream stays open.
        case never
    }

    /// 200 to 599; a push that is answered 200 is delivered, any other is not.
    public var status: Int
    public var headers: [Field] = []
    public var body: [UInt8] = []
    public var trailers: [Field] = []
    public var ending = Ending.stream
    /// The body comes no faster, bytes a second; nil: at once.
    public var bodyRate: Double?
    /// With the `apns-id` that APNs would give it.
    public var hasIdentifier = true
    /// The stream is reset first, and answered then.
    public var isAfterReset = false

    public init(status: Int) { self.status = status }

    /// 2xx.
    var isSuccess: Bool { (200..<300).contains(status) }

    /// Bytes of memory of its texts, about.
    var size: Int {
        (headers + trailers).reduce(body.count) {
            $0 + $1.name.utf8.count + $1.value.utf8.count + MemoryLayout<Field>.stride
        }
    }

    /// It can be written in one go, as an ordinary answer.
    var isPlain: Bool {
        trailers.isEmpty && ending == .stream && bodyRate == nil && !isAfterReset && body.count <= Self.mostPlainBytes
    }

    /// A longer body is not copied with each piece that the client's windows let out.
    private static let mostPlainBytes = 16_384

    /// Bytes of each block of headers, at most: of names and values, and four for each field, so that one frame holds it.
    static let mostHeaderBytes = 8192
    static let mostBodyBytes = 1 << 20
    /// Of a body that comes after RST_STREAM.
    static let mostLateBytes = 16_384
    static let statuses = 200...599
}
