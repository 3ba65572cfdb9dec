/// What only the end of a run can tell: `null` in a partial result, which has nothing to read there, and nowhere else.
@propertyWrapper
public struct KnownAtEnd<Value: Codable & Sendable & Equatable & EmptyValue>: Codable, Sendable, Equatable {
    public var wrappedValue: Value

    public init(wrappedValue: Value) { self.wrappedValue = wrappedValue }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        let isMissing = decoder.userInfo[.isPartialResult] != nil && container.decodeNil()
        wrappedValue = isMissing ? Value() : try container.decode(Value.self)
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        if encoder.userInfo[.isPartialResult] != nil {
            try container.encodeNil()
        } else {
            try container.encode(wrappedValue)
        }
    }
}

/// Has a value that holds nothing.
public protocol EmptyValue { init() }

extension Dictionary: EmptyValue {}
extension ResultDocument.Latency: EmptyValue {}
extension ResultDocument.Cooldown: EmptyValue {}
extension ResultDocument.Retries: EmptyValue {}
extension ResultDocument.Connections: EmptyValue {}
extension ResultDocument.Cost: EmptyValue {}
extension ResultDocument.Generator: EmptyValue {}

extension CodingUserInfoKey {
    /// Set where the document that is read or written is a partial result.
    static let isPartialResult = CodingUserInfoKey(rawValue: "pushload.isPartialResult")!
}
