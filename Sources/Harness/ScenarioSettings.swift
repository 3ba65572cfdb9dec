import Foundation
import Results
import Scenarios
import Settings

/// All settings of a run as a document carries them: by the names a result has them under, and back.
package enum ScenarioSettings {
    package static func write(_ scenario: Scenario) -> [String: JSONValue] {
        Dictionary(uniqueKeysWithValues: encoded(scenario).map { (SettingWords.documentName($0.key), $0.value) })
    }

    /// By the names of the properties; those that are nil are left out.
    private static func encoded(_ scenario: Scenario) -> [String: JSONValue] {
        guard let data = try? JSONEncoder().encode(scenario) else { return [:] }
        return (try? JSONDecoder().decode([String: JSONValue].self, from: data)) ?? [:]
    }

    /// What is not among the settings is as it is without being asked for.
    ///
    /// - Throws: one line: a setting this version does not know, or of the wrong type.
    package static func read(_ settings: [String: JSONValue], origin: String) throws(HarnessError) -> Scenario {
        var values = write(Scenario())
        for (name, value) in settings {
            guard properties[name] != nil else {
                throw HarnessError("\(origin): this version does not know the setting \"\(name)\" of its scenario")
            }
            values[name] = value
        }
        do {
            let own = Dictionary(
                uniqueKeysWithValues: values.compactMap { value in properties[value.key].map { ($0, value.value) } })
            return try JSONDecoder().decode(Scenario.self, from: try JSONEncoder().encode(own))
        } catch let error as DecodingError {
            var place = ""
            if case .typeMismatch(_, let context) = error { place = context.codingPath.first?.stringValue ?? "" }
            if case .valueNotFound(_, let context) = error { place = context.codingPath.first?.stringValue ?? "" }
            if case .dataCorrupted(let context) = error { place = context.codingPath.first?.stringValue ?? "" }
            throw HarnessError(
                "\(origin): the setting \"\(SettingWords.documentName(place))\" of its scenario has the wrong type")
        } catch {
            throw HarnessError("\(origin): its scenario cannot be read: \(error)")
        }
    }

    /// Of each name in a document, the property: those of a scenario in which every key is set.
    static let properties: [String: String] = {
        var scenario = Scenario()
        for key in ScenarioKey.all {
            if let example = key.example { try? key.apply([example], to: &scenario) }
        }
        return Dictionary(uniqueKeysWithValues: encoded(scenario).keys.map { (SettingWords.documentName($0), $0) })
    }()
}
