import Foundation
import Settings

/// Reads scenario files (YAML): keys as in `ScenarioKey`, and `include` for what they build on.
public enum ScenarioFile {
    /// Everything that is wrong with a file, one line each.
    public struct Problems: Error, CustomStringConvertible, Sendable, Equatable {
        public let lines: [String]
        /// Keys whose values could not be taken; nil where nobody knows which.
        public let keys: Set<String>?

        package init(lines: [String], keys: Set<String>? = nil) {
            self.lines = lines
            self.keys = keys
        }

        public var description: String { lines.joined(separator: "\n") }
    }

    /// The keys that sweep files have besides.
    package static let sweepKeys = ["vary", "search"]
    /// Includes within includes.
    static let deepest = 8

    /// Applies a file (its includes first) to a scenario.
    ///
    /// - Parameter leftOut: a key that is passed over wherever it stands.
    public static func apply(
        _ path: String, leavingOut leftOut: String? = nil, to scenario: inout Scenario
    ) throws(Problems) {
        let text: String
        do throws(SettingsError) { text = try FileContents.text(path, "scenario") } catch {
            throw Problems(lines: [error.description])
        }
        try apply(
            text, file: path,
            folder: URL(fileURLWithPath: path).deletingLastPathComponent().path, depth: 0, leavingOut: leftOut,
            to: &scenario)
    }

    /// - Parameters:
    ///   - folder: where included files, and files the scenario names, are looked for.
    ///   - isSweep: the keys of a sweep may be there, and are left to who reads sweep files.
    package static func apply(
        _ text: String, file: String, folder: String, depth: Int, isSweep: Bool = false,
        leavingOut leftOut: String? = nil, to scenario: inout Scenario
    ) throws(Problems) {
        var problems: [String] = []
        var keys: Set<String>? = []
        let entries: [Entry]
        do throws(SettingsError) {
            let all = try YAMLValue(parsing: text, file: file).map().entries
            entries = flattened(all, &problems).filter { $0.name != leftOut && !YAMLMap.isForeign($0.name) }
        } catch { throw Problems(lines: [error.description]) }
        if !problems.isEmpty { keys?.insert("devices") }
        let isFlat = problems.isEmpty
        for entry in entries where entry.name == "include" {
            do throws(SettingsError) {
                for item in try entry.value.oneOrMore() {
                    try include(item, folder, depth, leavingOut: leftOut, &scenario, &problems)
                }
            } catch { problems.append(error.description) }
        }
        do throws(SettingsError) {
            let given = entries.filter { (try? $0.value.oneOrMore())?.isEmpty == false }
            try scenario.makeRoom(for: given.map { ($0.name, try? $0.value.text()) }) { text, name in
                entries.first { $0.name == name }?.key.error(text) ?? SettingsError(text)
            }
        } catch { problems.append(error.description) }
        if isFlat, !problems.isEmpty { keys = nil }
        for entry in entries where entry.name != "include" && !(isSweep && sweepKeys.contains(entry.name)) {
            if sweepKeys.contains(entry.name) {
                problems.append(
                    entry.key.error("\"\(entry.name)\" belongs in a sweep file itself: pushload sweep \(file)")
                        .description)
                continue
            }
            guard let key = ScenarioKey.named(entry.name) else {
                let hint = NearestName.of(
                    entry.name, among: ScenarioKey.allNames + ["include"] + (isSweep ? sweepKeys : []))
                if let hint { keys?.insert(hint) }
                problems.append(
                    entry.key.error(
                        "unknown key \"\(entry.name)\""
                            + (hint.map { "; did you mean \"\($0)\"?" } ?? "; pushload scenario init lists all keys")
                    ).description)
                continue
            }
            do throws(SettingsError) {
                let items = try entry.value.oneOrMore()
                var texts: [String] = []
                if key.name == "properties", entry.value.isMap {
                    texts = try entry.value.pairs()
                } else {
                    for item in items {
                        if key.name == "device_model", item.isMap { throw item.error("expected on, off, or a file") }
                        texts.append(key.name == "sends" && item.isMap ? try item.flow() : try item.text())
                    }
                }
                texts = texts.map { key.resolved($0, in: folder) }
                let wrong = wrongItems(key, items, texts)
                guard wrong.isEmpty else {
                    problems += wrong
                    keys?.insert(key.name)
                    continue
                }
                do throws(SettingsError) {
                    try key.apply(texts, to: &scenario)
                } catch { throw entry.value.error(error.description) }
            } catch {
                problems.append(error.description)
                keys?.insert(key.name)
            }
        }
        if !problems.isEmpty { throw Problems(lines: problems, keys: keys) }
    }

    /// Of a list with several items: what is wrong with each by itself.
    private static func wrongItems(_ key: ScenarioKey, _ items: [YAMLValue], _ texts: [String]) -> [String] {
        guard case .list = key.kind, items.count > 1 || items.contains(where: \.isMap) else { return [] }
        return zip(items, texts).compactMap { item, text in
            if key.name == "sends", item.isMap {
                do throws(SettingsError) { _ = try SendSetting(item) } catch { return error.description }
            }
            var scratch = Scenario()
            do throws(SettingsError) { try key.apply([text], to: &scratch) } catch {
                return item.error(error.description).description
            }
            return nil
        }
    }

    private static func include(
        _ item: YAMLValue, _ folder: String, _ depth: Int, leavingOut leftOut: String?, _ scenario: inout Scenario,
        _ problems: inout [String]
    ) throws(SettingsError) {
        let name = try item.text()
        guard depth < deepest else {
            throw item.error("included more than \(deepest) deep: does a file include itself?")
        }
        let path = resolve(name, folder)
        let text: String
        do throws(SettingsError) { text = try FileContents.text(path, "scenario") } catch {
            throw item.error(error.description)
        }
        do throws(Problems) {
            try apply(
                text, file: path,
                folder: URL(fileURLWithPath: path).deletingLastPathComponent().path, depth: depth + 1,
                leavingOut: leftOut, to: &scenario)
        } catch { problems += error.lines }
    }

    package static func resolve(_ path: String, _ folder: String) -> String {
        path.hasPrefix("/") || path.isEmpty ? path : folder + "/" + path
    }

    /// `key=value` each, as `--set` gives them; lists are separated by `;`.
    public static func set(_ texts: [String], in scenario: inout Scenario) throws(SettingsError) {
        let given = texts.map {
            $0.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        }
        try scenario.makeRoom(for: given.map { ($0[0], $0.dropFirst().first) }) { text, name in
            SettingsError("--set \(name): \(text)")
        }
        for text in texts { try set(text, in: &scenario) }
    }

    private static func set(_ text: String, in scenario: inout Scenario) throws(SettingsError) {
        guard let sign = text.firstIndex(of: "=") else {
            throw SettingsError("--set \(text): expected key=value")
        }
        let name = String(text[..<sign])
        let value = String(text[text.index(after: sign)...])
        guard let key = ScenarioKey.named(name) else {
            throw SettingsError("--set \(name): unknown key" + NearestName.hint(name, among: ScenarioKey.allNames))
        }
        try apply(key, value, origin: "--set \(name)", to: &scenario)
    }

    /// `PUSHLOAD_RATE=20k` and the like.
    ///
    /// - Returns: variables that are passed over, because Kubernetes sets them; in alphabetical order.
    @discardableResult
    public static func applyEnvironment(
        _ environment: [String: String], to scenario: inout Scenario
    ) throws(SettingsError) -> [String] {
        let services = environment.filter { isOfService($0.key, $0.value) }.map(\.key).sorted()
        let environment = environment.filter { !services.contains($0.key) }
        let variables = ScenarioKey.all.map(\.variable)
        for name in environment.keys.sorted() where name.hasPrefix("PUSHLOAD_") && !variables.contains(name) {
            let near = NearestName.of(String(name.dropFirst(9)), among: ScenarioKey.allNames)
                .flatMap(ScenarioKey.named)?.variable
            throw SettingsError(
                "\(name): no such setting"
                    + (near.map { "; did you mean \($0)?" }
                        ?? "; a variable is PUSHLOAD_ and a key of a scenario, as in PUSHLOAD_RATE"))
        }
        let given = ScenarioKey.all.filter { environment[$0.variable] != nil }
        try scenario.makeRoom(for: given.map { ($0.name, environment[$0.variable]) }) { text, name in
            SettingsError("\(ScenarioKey.named(name)?.variable ?? name): \(text)")
        }
        for key in given {
            guard let value = environment[key.variable] else { continue }
            try apply(key, value, origin: key.variable, to: &scenario)
        }
        return services
    }

    /// A variable that Kubernetes sets in each container for a Service whose name begins with `pushload`: it has the shape of its name
    /// and of its value, such as `PUSHLOAD_PORT=tcp://10.96.0.1:443` or `PUSHLOAD_SERVICE_HOST=10.96.0.1`.
    package static func isOfService(_ name: String, _ value: String) -> Bool {
        guard name.hasPrefix("PUSHLOAD_") else { return false }
        let name = name.dropFirst("PUSHLOAD".count)
        if name.wholeMatch(of: /(_[A-Z0-9_]+)?_PORT_[0-9]+_(TCP|UDP|SCTP)_(PROTO|PORT|ADDR)/) != nil { return true }
        if name.wholeMatch(of: /(_[A-Z0-9_]+)?_SERVICE_PORT(_[A-Z0-9_]+)?/) != nil { return UInt16(value) != nil }
        if name.wholeMatch(of: /(_[A-Z0-9_]+)?_SERVICE_HOST/) != nil { return true }
        // Of a Service pushload-metrics it has the name of a setting.
        return name.wholeMatch(of: /(_[A-Z0-9_]+)?_PORT(_[0-9]+_(TCP|UDP|SCTP))?/) != nil
            && value.wholeMatch(of: /(tcp|udp|sctp):\/\/.+/) != nil
    }

    private static func apply(
        _ key: ScenarioKey, _ value: String, origin: String, to scenario: inout Scenario
    ) throws(SettingsError) {
        var texts = [value]
        if case .list = key.kind { texts = value.split(separator: ";").map { $0.trimmingCharacters(in: .whitespaces) } }
        if key.name == "sends" { texts = SendSetting.apart(value) }
        do throws(SettingsError) { try key.apply(texts, to: &scenario) } catch {
            throw SettingsError("\(origin)\(key.number(ofWrong: texts)): \(error)")
        }
    }
}
