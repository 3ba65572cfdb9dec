import Foundation

/// A payload that starts a Live Activity: its `aps` has `event` with the value `start`.
struct LiveActivityStart {
    /// What it would need and does not have. "Starting and updating Live Activities with ActivityKit push notifications": "Include an
    /// alert in the JSON payload. Include the attributes-type and attributes keys."
    let missing: [String]

    private struct Payload: Decodable {
        struct System: Decodable {
            let event: String?
            let names: Set<String>

            private struct Name: CodingKey {
                let stringValue: String
                var intValue: Int? { nil }
                init(stringValue: String) { self.stringValue = stringValue }
                init?(intValue: Int) { nil }
            }

            init(from decoder: any Decoder) throws {
                let container = try decoder.container(keyedBy: Name.self)
                event = try? container.decode(String.self, forKey: Name(stringValue: "event"))
                names = Set(container.allKeys.map(\.stringValue))
            }
        }
        let aps: System
    }

    /// nil: the payload starts none, or is no push at all.
    init?(_ payload: UnsafeRawBufferPointer) {
        guard let read = try? JSONDecoder().decode(Payload.self, from: Data(payload)), read.aps.event == "start" else {
            return nil
        }
        missing = ["alert", "attributes-type", "attributes"].filter { !read.aps.names.contains($0) }
    }
}
