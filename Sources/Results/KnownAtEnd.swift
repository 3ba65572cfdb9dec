/// What only the end of a run can tell: `null` in a partial result, which has nothing to read there, and nowhere else. A partial
/// result of several workers has it of those that have ended.
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
        let isMissing =
            switch encoder.userInfo[.isPartialResult] as? PartialResult {
            case nil: false
            case .ofRun: true
            case .ofWorkers: wrappedValue == Value()
            }
        if isMissing { try container.encodeNil() } else { try container.encode(wrappedValue) }
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

/// Whose result is partial.
enum PartialResult: Sendable {
    case ofRun, ofWorkers
}

extension CodingUserInfoKey {
    /// Set to a `PartialResult` where the document that is read or written is one.
    static let isPartialResult = CodingUserInfoKey(rawValue: "pushload.isPartialResult")!
}
