import Foundation
import Scenarios
import Settings

/// The bundled backend, which devices of the bundled mock call where no other was given.
struct BundledBackend: Sendable {
    /// What it counted, by name: whatever it says that is a number.
    struct Counts: Decodable, Sendable {
        let named: [String: UInt64]

        init(from decoder: any Decoder) throws {
            let values = try decoder.singleValueContainer().decode([String: JSONValue].self)
            named = values.compactMapValues { value in
                if case .integer(let number) = value { UInt64(exactly: number) } else { nil }
            }
        }
    }

    let server: BundledServer<Counts>

    init(_ scenario: Scenario) {
        let flags = scenario.backendFlags
        server = BundledServer(
            name: "the bundled backend",
            arguments: ["backend", "--port", "0", "--json", "--until-stdin-closes"] + flags,
            flag: flags.isEmpty ? nil : "--backend-flags")
    }
}
