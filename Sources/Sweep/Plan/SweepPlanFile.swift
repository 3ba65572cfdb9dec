import Foundation
import Settings

/// A sweep's plan as JSON: settings by their names in results, texts as they were given.
enum SweepPlanFile {
    /// Sorted keys, pretty-printed, ending with a newline.
    static func encode(_ plan: SweepPlan) throws(SettingsError) -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        encoder.keyEncodingStrategy = .convertToSnakeCase
        do { return Array(try encoder.encode(plan)) + [0x0A] } catch {
            throw SettingsError("cannot write the sweep's plan as JSON: \(error)")
        }
    }

    /// - Parameter origin: the file's name, for error messages.
    static func decode(_ bytes: [UInt8], origin: String) throws(SettingsError) -> SweepPlan {
        guard let object = try? JSONSerialization.jsonObject(with: Data(bytes)) else {
            throw SettingsError("\(origin): \(UnreadableJSON.why(bytes))")
        }
        guard let schema = (object as? [String: Any])?["schema"] as? String, schema.hasPrefix("pushload.sweep/") else {
            throw SettingsError("\(origin): not the plan of a sweep: \"schema\" is missing or foreign")
        }
        guard schema == SweepPlan.currentSchema else {
            throw SettingsError("\(origin): schema \(schema); this version reads \(SweepPlan.currentSchema)")
        }
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .custom { Name(stringValue: property($0.last?.stringValue ?? "")) }
        let plan: SweepPlan
        do { plan = try decoder.decode(SweepPlan.self, from: Data(bytes)) } catch {
            throw SettingsError("\(origin): a field is missing or has the wrong type")
        }
        do throws(SettingsError) {
            for axis in plan.axes { try axis.check() }
            return try SweepPlan(
                version: plan.version, startedAt: plan.startedAt, scenario: plan.scenario, axes: plan.axes,
                search: plan.search)
        } catch { throw SettingsError("\(origin): \(error)") }
    }

    /// The property a name in snake case stands for: `push_type`, pushType; `key_id`, keyID.
    static func property(_ name: String) -> String {
        let words = name.split(separator: "_", omittingEmptySubsequences: false)
        // Not names of ours: the unlabelled parts of enumerations, `_0`.
        guard words.count > 1, words.first?.isEmpty == false else { return name }
        let capitals: Set<Substring> = ["id", "tls"]
        return String(words[0])
            + words.dropFirst().map {
                capitals.contains($0) ? $0.uppercased() : $0.prefix(1).uppercased() + $0.dropFirst()
            }
            .joined()
    }

    private struct Name: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }
        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }
}
