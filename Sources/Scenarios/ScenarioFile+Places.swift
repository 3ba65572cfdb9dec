import Foundation
import Settings

/// A part of a setting: where in it something is wrong.
package struct SettingPart: Sendable, Equatable {
    /// The `ScenarioKey`.
    package let key: String
    /// Of a list, from 0.
    package var item: Int?
    /// Of a map.
    package var field: String?
    /// In its text, from 1.
    package var line = 1
    package var column = 1

    package init(_ key: String, item: Int? = nil, field: String? = nil) {
        self.key = key
        self.item = item
        self.field = field
    }
}

/// Where the settings of a file stand, those of what it includes too; of one that stands in several the last place, which counts.
extension ScenarioFile {
    typealias Entry = (name: String, key: YAMLValue, value: YAMLValue)

    /// The keys of a file that can be applied, with `file:line:column`, in the order in which they are read.
    public static func places(_ path: String) -> [(key: String, place: String)] {
        var places: [(key: String, place: String)] = []
        read(path) { entry in
            places.removeAll { $0.key == entry.name }
            places.append((entry.name, entry.key.place))
        }
        return places
    }

    /// `file:line:column` of a part of a setting; nil when the file does not have it.
    package static func place(of part: SettingPart, in path: String) -> String? {
        var place: String?
        read(path) { entry in
            if entry.name == part.key { place = self.place(of: part, in: entry) }
        }
        return place
    }

    private static func place(of part: SettingPart, in entry: Entry) -> String {
        var value = entry.value
        if let item = part.item {
            // Several may stand in one text.
            guard let items = try? value.oneOrMore(), items.allSatisfy(\.isMap), item < items.count else {
                return entry.key.place
            }
            value = items[item]
        }
        if let field = part.field {
            guard var map = try? value.map(), let found = map.take(field) else { return value.place }
            value = found
        }
        return value.place(line: part.line, column: part.column)
    }

    /// Hands on each entry that can be applied.
    private static func read(_ path: String, _ depth: Int = 0, _ body: (Entry) -> Void) {
        guard depth <= deepest, let text = try? FileContents.text(path, "scenario"),
            let all = try? YAMLValue(parsing: text, file: path).map().entries
        else { return }
        var ignored: [String] = []
        let entries = flattened(all, &ignored)
        let folder = URL(fileURLWithPath: path).deletingLastPathComponent().path
        for entry in entries where entry.name == "include" {
            for item in (try? entry.value.oneOrMore()) ?? [] {
                if let name = try? item.text() { read(resolve(name, folder), depth + 1, body) }
            }
        }
        for entry in entries where ScenarioKey.named(entry.name) != nil { body(entry) }
    }

    /// What `devices` may have as a map, which is as good as these keys beside it.
    static let devicesKeys = ["registrations", "audience", "environment"]

    /// The entries of a file, those of a map at `devices` among them.
    static func flattened(_ entries: [Entry], _ problems: inout [String]) -> [Entry] {
        var flat: [Entry] = []
        for entry in entries {
            guard entry.name == "devices", entry.value.isMap else {
                flat.append(entry)
                continue
            }
            do throws(SettingsError) {
                var map = try entry.value.map()
                for key in devicesKeys { _ = map.take(key) }
                try map.finish()
                _ = try map.need("registrations")
                for inner in map.entries {
                    if entries.contains(where: { $0.name == inner.name }) {
                        throw inner.key.error("\"\(inner.name)\" is given twice: here, and beside devices")
                    }
                }
                flat += map.entries
            } catch { problems.append(error.description) }
        }
        return flat
    }
}
