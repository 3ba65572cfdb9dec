/// An optional that is written as an explicit `null`, so that every field is in every result.
@propertyWrapper
public struct Nullable<Value: Codable & Sendable & Equatable>: Codable, Sendable, Equatable {
    public var wrappedValue: Value?

    public init(wrappedValue: Value?) { self.wrappedValue = wrappedValue }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        wrappedValue = container.decodeNil() ? nil : try container.decode(Value.self)
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        if let wrappedValue {
            try container.encode(wrappedValue)
        } else {
            try container.encodeNil()
        }
    }
}

/// A `Nullable` of a field that results of earlier versions do not have.
@propertyWrapper
public struct AddedLater<Value: Codable & Sendable & Equatable>: Codable, Sendable, Equatable {
    public var wrappedValue: Value?

    public init(wrappedValue: Value?) { self.wrappedValue = wrappedValue }

    public init(from decoder: any Decoder) throws { wrappedValue = try Nullable(from: decoder).wrappedValue }

    public func encode(to encoder: any Encoder) throws { try Nullable(wrappedValue: wrappedValue).encode(to: encoder) }
}

extension KeyedDecodingContainer {
    public func decode<Value>(_ type: AddedLater<Value>.Type, forKey key: Key) throws -> AddedLater<Value> {
        try decodeIfPresent(type, forKey: key) ?? AddedLater(wrappedValue: nil)
    }
}
