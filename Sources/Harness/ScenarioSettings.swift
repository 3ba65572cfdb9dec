import Foundation
import Results
import Scenarios
import Settings

/// All settings of a run as a document carries them: by the names a result has them under, and back.
package enum ScenarioSettings {
    package static func write(_ scenario: Scenario) -> [String: JSONValue] {
        guard let data = try? JSONEncoder().encode(scenario),
            let settings = try? JSONDecoder().decode([String: JSONValue].self, from: data)
        else { return [:] }
        return Dictionary(uniqueKeysWithValues: settings.map { (SettingWords.documentName($0.key), $0.value) })
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

    /// Of each name in a document, the property.
    private static let properties: [String: String] = {
        let labels = Mirror(reflecting: Scenario()).children.compactMap(\.label)
        return Dictionary(uniqueKeysWithValues: labels.map { (SettingWords.documentName($0), $0) })
    }()
}
