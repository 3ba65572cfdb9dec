import Foundation
import Settings

/// A remote notification's payload: Apple's `aps` dictionary and the app's own keys beside it
/// ("Generating a remote notification").
public struct Notification: Sendable, Equatable, Codable {
    /// nil only for mdm pushes.
    public var aps: APS?
    /// Keys beside `aps`.
    public var custom: [String: JSONValue]

    public init(aps: APS?, custom: [String: JSONValue] = [:]) {
        self.aps = aps
        self.custom = custom
    }

    private struct Key: CodingKey {
        let stringValue: String
        let intValue: Int? = nil
        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Key.self)
        aps = try container.decodeIfPresent(APS.self, forKey: Key(stringValue: "aps"))
        custom = [:]
        for key in container.allKeys where key.stringValue != "aps" {
            custom[key.stringValue] = try container.decode(JSONValue.self, forKey: key)
        }
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        try container.encodeIfPresent(aps, forKey: Key(stringValue: "aps"))
        for (name, value) in custom { try container.encode(value, forKey: Key(stringValue: name)) }
    }

    /// The payload as JSON text, keys sorted.
    public func json() throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return String(decoding: try encoder.encode(self), as: UTF8.self)
    }
}

/// The keys Apple defines in `aps`.
public struct APS: Sendable, Equatable, Codable {
    public var alert: Alert?
    public var badge: Int?
    public var sound: Sound?
    public var threadID: String?
    public var category: String?
    /// 1 for a silent push.
    public var contentAvailable: Int?
    /// 1 when a notification service extension may change the push.
    public var mutableContent: Int?
    public var targetContentID: String?
    public var interruptionLevel: InterruptionLevel?
    /// 0…1.
    public var relevanceScore: Double?
    public var filterCriteria: String?
    // Live Activities.
    /// UNIX seconds.
    public var timestamp: Int64?
    public var event: LiveActivityEvent?
    public var contentState: JSONValue?
    /// UNIX seconds.
    public var staleDate: Int64?
    /// UNIX seconds.
    public var dismissalDate: Int64?
    public var attributesType: String?
    public var attributes: JSONValue?

    public init() {}

    enum CodingKeys: String, CodingKey {
        case alert, badge, sound, category, timestamp, event, attributes
        case threadID = "thread-id"
        case contentAvailable = "content-available"
        case mutableContent = "mutable-content"
        case targetContentID = "target-content-id"
        case interruptionLevel = "interruption-level"
        case relevanceScore = "relevance-score"
        case filterCriteria = "filter-criteria"
        case contentState = "content-state"
        case staleDate = "stale-date"
        case dismissalDate = "dismissal-date"
        case attributesType = "attributes-type"
    }
}

public enum InterruptionLevel: String, Sendable, Codable {
    case passive, active, critical
    case timeSensitive = "time-sensitive"
}

public enum LiveActivityEvent: String, Sendable, Codable {
    case start, update, end
}

/// `alert`: a text, or a dictionary.
public enum Alert: Sendable, Equatable, Codable {
    case text(String)
    case detailed(Detailed)

    public struct Detailed: Sendable, Equatable, Codable {
        public var title: String?
        public var subtitle: String?
        public var body: String?
        public var launchImage: String?
        public var titleLocKey: String?
        public var titleLocArgs: [String]?
        public var subtitleLocKey: String?
        public var subtitleLocArgs: [String]?
        public var locKey: String?
        public var locArgs: [String]?

        public init(title: String? = nil, subtitle: String? = nil, body: String? = nil) {
            self.title = title
            self.subtitle = subtitle
            self.body = body
        }

        enum CodingKeys: String, CodingKey {
            case title, subtitle, body
            case launchImage = "launch-image"
            case titleLocKey = "title-loc-key"
            case titleLocArgs = "title-loc-args"
            case subtitleLocKey = "subtitle-loc-key"
            case subtitleLocArgs = "subtitle-loc-args"
            case locKey = "loc-key"
            case locArgs = "loc-args"
        }
    }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if let text = try? container.decode(String.self) {
            self = .text(text)
        } else {
            self = .detailed(try container.decode(Detailed.self))
        }
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .text(let text): try container.encode(text)
        case .detailed(let detailed): try container.encode(detailed)
        }
    }
}

/// `sound`: a file's name, or a dictionary for critical alerts.
public enum Sound: Sendable, Equatable, Codable {
    case named(String)
    case critical(Critical)

    public struct Critical: Sendable, Equatable, Codable {
        /// 1 for a critical alert.
        public var critical: Int
        public var name: String
        /// 0…1.
        public var volume: Double

        public init(critical: Int = 1, name: String, volume: Double) {
            self.critical = critical
            self.name = name
            self.volume = volume
        }
    }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if let name = try? container.decode(String.self) {
            self = .named(name)
        } else {
            self = .critical(try container.decode(Critical.self))
        }
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .named(let name): try container.encode(name)
        case .critical(let critical): try container.encode(critical)
        }
    }
}
