import Foundation
import Scenarios
import Settings

/// A sweep file: a scenario file with `vary` (what is varied) and `search` (which points are run, how often).
struct SweepFile: Sendable, Equatable {
    var axes: [SweepAxis] = []
    var search = SweepSearch()

    init() {}

    /// Reads a sweep file, a scenario file that varies nothing, or a bundled sweep or scenario of this name.
    ///
    /// - Parameter scenario: gets the settings all runs have in common.
    /// - Throws: every mistake, with line and column.
    static func read(_ nameOrPath: String, to scenario: inout Scenario) throws(ScenarioFile.Problems)
        -> SweepFile
    {
        if FileManager.default.fileExists(atPath: nameOrPath) {
            let text: String
            do throws(SettingsError) { text = try FileContents.text(nameOrPath, "sweep") } catch {
                throw ScenarioFile.Problems(lines: [error.description])
            }
            return try parse(
                text, file: nameOrPath,
                folder: URL(fileURLWithPath: nameOrPath).deletingLastPathComponent().path, to: &scenario)
        }
        let bundled = BundledSweeps.all + BundledScenarios.all
        guard let entry = bundled.first(where: { $0.name == nameOrPath }) else {
            let names = BundledSweeps.all.map(\.name)
            let near = NearestName.of(nameOrPath, among: names).map { "; did you mean \"\($0)\"?" }
            throw ScenarioFile.Problems(lines: [
                "no sweep file \(nameOrPath), and no bundled sweep of that name"
                    + (near ?? ": there are \(names.joined(separator: ", "))")
            ])
        }
        return try parse(entry.text, file: entry.name, folder: entry.folder, to: &scenario)
    }

    /// - Parameter folder: where included files, and files that settings name, are looked for.
    static func parse(
        _ text: String, file: String, folder: String, to scenario: inout Scenario
    ) throws(ScenarioFile.Problems) -> SweepFile {
        var problems: [String] = []
        do throws(ScenarioFile.Problems) {
            try ScenarioFile.apply(text, file: file, folder: folder, depth: 0, isSweep: true, to: &scenario)
        } catch { problems = error.lines }
        var sweep = SweepFile()
        // What is not YAML at all was found above.
        for entry in (try? YAMLValue(parsing: text, file: file).map().entries) ?? [] {
            do throws(SettingsError) {
                switch entry.name {
                case "vary": try sweep.vary(entry.value, folder, &problems)
                case "search": try sweep.search(entry.value)
                default: break
                }
            } catch { problems.append(error.description) }
        }
        if !problems.isEmpty { throw ScenarioFile.Problems(lines: problems) }
        return sweep
    }

    private mutating func vary(
        _ value: YAMLValue, _ folder: String, _ problems: inout [String]
    ) throws(SettingsError) {
        for entry in try value.map().entries {
            do throws(SettingsError) {
                if case let items = try entry.value.oneOrMore(), items.contains(where: \.isMap) {
                    axes.append(try Self.together(entry.name, entry.key, items, folder))
                    continue
                }
                let key: ScenarioKey
                do throws(SettingsError) { key = try SweepAxis.key(entry.name) } catch {
                    throw entry.key.error(error.description)
                }
                let texts = try Self.texts(entry.value, key, folder)
                do throws(SettingsError) { axes.append(try SweepAxis.of(key, texts)) } catch {
                    throw entry.value.error(error.description)
                }
            } catch { problems.append(error.description) }
        }
    }

    /// A text is read as `--vary` reads it; of a list each item is a value or a range, so that values may have commas.
    private static func texts(
        _ value: YAMLValue, _ key: ScenarioKey, _ folder: String
    ) throws(SettingsError) -> [String] {
        var texts: [String] = []
        if value.isList {
            for item in try value.list() {
                texts += try item.reading { (text) throws(SettingsError) in try SweepValues.expand(text, for: key) }
            }
        } else {
            texts = try value.reading { (text) throws(SettingsError) in try SweepValues.parse(text, for: key) }
        }
        return texts.map { key.resolved($0, in: folder) }
    }

    /// Several settings as one axis: a list of maps, each of which may have a `label`.
    private static func together(
        _ name: String, _ place: YAMLValue, _ items: [YAMLValue], _ folder: String
    ) throws(SettingsError) -> SweepAxis {
        guard ScenarioKey.named(name) == nil else {
            throw place.error(
                "\"\(name)\" is a setting: expected its values; settings together need a name of their own")
        }
        var values: [SweepAxis.Value] = []
        for item in items {
            var label: String?
            var settings: [SweepAxis.Assignment] = []
            for entry in try item.map().entries {
                let text = try entry.value.text()
                if entry.name == "label" {
                    label = text
                    continue
                }
                let key: ScenarioKey
                do throws(SettingsError) { key = try SweepAxis.key(entry.name) } catch {
                    throw entry.key.error(error.description)
                }
                var scenario = Scenario()
                do throws(SettingsError) { try key.apply([text], to: &scenario) } catch {
                    throw entry.value.error(error.description)
                }
                settings.append(
                    .init(key.name, key.resolved(text, in: folder)))
            }
            guard !settings.isEmpty else { throw item.error("expected at least one setting") }
            values.append(.init(label: label ?? settings.map(\.text).joined(separator: " "), settings: settings))
        }
        let axis = SweepAxis(name: name, values: values)
        do throws(SettingsError) { try axis.check() } catch { throw place.error(error.description) }
        return axis
    }

    private mutating func search(_ value: YAMLValue) throws(SettingsError) {
        guard value.isMap else {
            search = try value.reading { (text) throws(SettingsError) in
                var search = SweepSearch()
                try search.apply(method: text)
                return search
            }
            return
        }
        var map = try value.map()
        func take(_ name: String, _ apply: (inout SweepSearch, String) throws(SettingsError) -> Void)
            throws(SettingsError)
        {
            guard let value = map.take(name) else { return }
            search = try value.reading { (text) throws(SettingsError) in
                var search = search
                try apply(&search, text)
                return search
            }
        }
        try take("method") { (search, text) throws(SettingsError) in try search.apply(method: text) }
        try take("points") { (search, text) throws(SettingsError) in try search.apply(points: text) }
        try take("repeat") { (search, text) throws(SettingsError) in try search.apply(repeats: text) }
        try take("goal") { (search, text) throws(SettingsError) in try search.apply(goal: text) }
        try map.finish()
    }

    /// With the axes of the command line: one of the same settings takes the place of the file's, others are added.
    mutating func vary(_ axis: SweepAxis) {
        if let index = axes.firstIndex(where: { $0.name == axis.name }) {
            axes[index] = axis
        } else {
            axes.append(axis)
        }
    }
}
