import Yams

/// A value in a YAML file (YAML 1.1; JSON is a part of it) that knows its place, so that what is wrong can be said with
/// file, line and column.
public struct YAMLValue {
    private let node: Node
    private let file: String
    /// The whole file.
    private let source: String
    /// Lines and columns of each ! that YAML may leave out.
    private let marks: Set<[Int]>
    /// `rules[0].latency`.
    public let path: String

    /// Reads a text.
    ///
    /// - Parameter file: its name, for messages.
    /// - Throws: `file:line:column: …`
    package init(parsing text: String, file: String) throws(SettingsError) {
        try Self.checkAliases(text, file)
        let parsed: Node?
        do {
            parsed = try Yams.compose(yaml: text)
        } catch let error as YamlError {
            throw SettingsError(Self.describe(error, file))
        } catch {
            throw SettingsError("\(file): \(error)")
        }
        guard let parsed else { throw SettingsError("\(file): the file is empty") }
        self.init(node: parsed, file: file, source: text, marks: Self.marks(text), path: "")
    }

    /// Aliases a text may have: the time a text takes grows by the product of those that hold one another.
    private static let mostAliases = 32

    /// - Throws: when there may be too many aliases; what looks like one in quotes counts too.
    private static func checkAliases(_ text: String, _ file: String) throws(SettingsError) {
        var aliases = 0
        var (before, last) = (UInt8(ascii: " "), UInt8(ascii: " "))
        for byte in text.utf8 {
            if last == UInt8(ascii: "*"), byte > UInt8(ascii: " "), " \n\t,:[{-?".utf8.contains(before) { aliases += 1 }
            (before, last) = (last, byte)
        }
        if aliases > mostAliases {
            throw SettingsError("\(file): \(aliases) aliases (*name); expected at most \(mostAliases)")
        }
    }

    private init(node: Node, file: String, source: String, marks: Set<[Int]>, path: String) {
        self.node = node
        self.file = file
        self.source = source
        self.marks = marks
        self.path = path
    }

    /// Each ! alone; `!!` begins one of YAML's own types.
    private static func marks(_ text: String) -> Set<[Int]> {
        guard text.utf8.contains(UInt8(ascii: "!")) else { return [] }
        var marks: Set<[Int]> = []
        var (line, column, last) = (1, 1, Unicode.Scalar(" "))
        for scalar in text.unicodeScalars {
            if scalar == "!", last != "!" { marks.insert([line, column]) }
            if scalar == "!", last == "!" { marks.remove([line, column - 1]) }
            (line, column) = scalar == "\n" ? (line + 1, 1) : (line, column + 1)
            last = scalar
        }
        return marks
    }

    /// What comes of texts that begin with a mark of YAML's.
    private static let marked: Set<String> = [
        "did not find expected alphabetic or numeric character", "did not find expected whitespace or line break",
        "did not find expected comment or line break",
    ]

    private static func describe(_ error: YamlError, _ file: String) -> String {
        switch error {
        case .scanner(_, let problem, let mark, _), .parser(_, let problem, let mark, _),
            .composer(_, let problem, let mark, _):
            "\(file):\(mark.line):\(mark.column): not YAML: \(problem)"
                + (marked.contains(problem) ? "; a text that begins with *, &, ! or | stands in quotes" : "")
        case .duplicatedKeysInMapping(let keys, let context):
            "\(file):\(context.mark.line):\(context.mark.column): "
                + "\(keys.map(String.init(describing:)).sorted().joined(separator: ", ")) is given twice"
        case .reader(let problem, let offset, _, _):
            "\(file): not text in UTF-8\(offset.map { " at byte \($0)" } ?? ""): \(problem)"
        default: "\(file): not YAML"
        }
    }

    /// `file:line:column`.
    package var place: String { file + (node.mark.map { ":\($0.line):\($0.column)" } ?? "") }

    /// Where a character of this text stands in the file, `file:line:column`, as its blanks and line ends may be others there; the
    /// text's own place where the file writes it in another way besides, with escapes for example.
    ///
    /// - Parameters:
    ///   - line: in the text, from 1.
    ///   - column: in characters (Unicode scalars), from 1; the end may be meant.
    package func place(line: Int, column: Int) -> String {
        guard case .scalar(let scalar) = node, let mark = node.mark,
            let place = ScalarPlace.find(line, column, of: scalar.string, from: (mark.line, mark.column), in: source)
        else { return self.place }
        return "\(file):\(place.line):\(place.column)"
    }

    /// An error at this place.
    public func error(_ what: String) -> SettingsError {
        SettingsError("\(place): \(path.isEmpty ? "" : "\(path): ")\(what)")
    }

    // MARK: What it may be

    public func list() throws(SettingsError) -> [YAMLValue] {
        guard case .sequence(let items) = node else { throw error("expected a list") }
        return items.enumerated().map {
            YAMLValue(node: $1, file: file, source: source, marks: marks, path: "\(path)[\($0)]")
        }
    }

    /// One value, or a list of them.
    package func oneOrMore() throws(SettingsError) -> [YAMLValue] {
        if case .sequence = node { return try list() }
        return [self]
    }

    public func map() throws(SettingsError) -> YAMLMap { try map(mergedIn: 0) }

    /// Maps behind `<<` within such maps: the time they take grows with each.
    private static let mostMerged = 4

    private func map(mergedIn depth: Int) throws(SettingsError) -> YAMLMap {
        guard case .mapping(let mapping) = node else { throw error("expected keys with values (key: value)") }
        var entries: [(String, YAMLValue, YAMLValue)] = []
        var merged: [YAMLValue] = []
        for (key, value) in mapping {
            let place = YAMLValue(node: key, file: file, source: source, marks: marks, path: path)
            if key.tag.rawValue == Tag.Name.merge.rawValue {
                guard depth < Self.mostMerged else {
                    throw place.error("<< within << more than \(Self.mostMerged) deep")
                }
                merged += try mergedMaps(value)
                continue
            }
            guard let name = key.string else { throw place.error("expected a plain key") }
            let inner = path.isEmpty ? name : "\(path).\(name)"
            entries.append(
                (name, place, YAMLValue(node: value, file: file, source: source, marks: marks, path: inner)))
        }
        // Own keys are stronger, and of several maps those of the first one.
        for other in merged {
            for entry in try other.map(mergedIn: depth + 1).entries
            where !entries.contains(where: { $0.0 == entry.name }) {
                entries.append((entry.name, entry.key, entry.value))
            }
        }
        return YAMLMap(owner: self, entries: entries)
    }

    /// What stands behind `<<`: a map, or a list of maps, mostly by their aliases.
    private func mergedMaps(_ node: Node) throws(SettingsError) -> [YAMLValue] {
        func value(_ node: Node) -> YAMLValue {
            YAMLValue(node: node, file: file, source: source, marks: marks, path: path)
        }
        let maps = if case .sequence(let items) = node { items.map(value) } else { [value(node)] }
        if let other = maps.first(where: { !$0.isMap }) {
            throw other.error("behind << expected a map, or a list of maps, such as *name")
        }
        return maps
    }

    package var isList: Bool { if case .sequence = node { true } else { false } }
    package var isMap: Bool { if case .mapping = node { true } else { false } }

    public func text() throws(SettingsError) -> String {
        guard case .scalar(let scalar) = node else { throw error("expected a single value") }
        // YAML takes a first word with ! for the name of a type, and a ! alone for nothing.
        let mark = node.mark.map { [$0.line, $0.column] } ?? []
        guard !scalar.tag.rawValue.hasPrefix("!"), !marks.contains(mark) else {
            throw error("a text that begins with ! stands in quotes")
        }
        return scalar.string
    }

    /// A text that `read` understands; its complaint is given this place.
    public func reading<Value, Failure: Error & CustomStringConvertible>(
        _ read: (String) throws(Failure) -> Value
    ) throws(SettingsError) -> Value {
        let text = try text()
        do throws(Failure) { return try read(text) } catch { throw self.error(error.description) }
    }

    /// The keys of a map with a text each, as `key=text`.
    package func pairs() throws(SettingsError) -> [String] {
        var pairs: [String] = []
        for entry in try map().entries { pairs.append("\(entry.name)=\(try entry.value.text())") }
        return pairs
    }

    /// The value in flow style, in one line.
    package func flow() throws(SettingsError) -> String {
        if isMap {
            var parts: [String] = []
            for entry in try map().entries { parts.append("\(Self.quoted(entry.name)): \(try entry.value.flow())") }
            return "{\(parts.joined(separator: ", "))}"
        }
        guard isList else { return Self.quoted(try text()) }
        var items: [String] = []
        for item in try list() { items.append(try item.flow()) }
        return "[\(items.joined(separator: ", "))]"
    }

    /// A text in double quotes, as YAML and JSON have it.
    package static func quoted(_ text: String) -> String {
        var quoted = "\""
        for character in text.unicodeScalars {
            switch character {
            case "\"": quoted += "\\\""
            case "\\": quoted += "\\\\"
            case "\n": quoted += "\\n"
            case "\t": quoted += "\\t"
            // Control characters, what YAML takes for line ends, and what it refuses.
            case let other
            where other.value < 0x20 || (0x7F...0xA0).contains(other.value)
                || [0x2028, 0x2029, 0xFEFF, 0xFFFE, 0xFFFF].contains(other.value):
                let hex = String(other.value, radix: 16)
                quoted += "\\u" + String(repeating: "0", count: 4 - hex.count) + hex
            default: quoted.unicodeScalars.append(character)
            }
        }
        return quoted + "\""
    }

    public func duration() throws(SettingsError) -> UInt64 { try reading(Units.duration) }
    public func count() throws(SettingsError) -> UInt64 { try reading(Units.count) }
    public func bytes() throws(SettingsError) -> Int { try reading(Units.bytes) }
    public func share() throws(SettingsError) -> Double { try reading(Units.share) }

    package func flag() throws(SettingsError) -> Bool {
        switch try text() {
        case "true", "yes", "on": return true
        case "false", "no", "off": return false
        default: throw error("expected true or false")
        }
    }
}

/// The keys of a YAML mapping: taken one by one; what is left over at the end was not known.
public struct YAMLMap {
    private let owner: YAMLValue
    public let entries: [(name: String, key: YAMLValue, value: YAMLValue)]
    private var asked: [String] = []

    init(owner: YAMLValue, entries: [(String, YAMLValue, YAMLValue)]) {
        self.owner = owner
        self.entries = entries
    }

    public mutating func take(_ name: String) -> YAMLValue? {
        asked.append(name)
        return entries.first { $0.name == name }?.value
    }

    package mutating func need(_ name: String) throws(SettingsError) -> YAMLValue {
        if let value = take(name) { return value }
        // Each letter is near every other.
        if name.count > 2, let near = NearestName.of(name, among: entries.map(\.name).filter { !asked.contains($0) }),
            let entry = entries.first(where: { $0.name == near })
        {
            throw entry.key.error("unknown key \"\(near)\"; did you mean \"\(name)\"?")
        }
        throw owner.error("\"\(name)\" is missing")
    }

    /// A key that is not ours: `x-…`, where people keep what aliases repeat.
    package static func isForeign(_ name: String) -> Bool { name.hasPrefix("x-") }

    /// - Throws: when there is a key that nobody took; `x-…` is nobody's.
    public func finish() throws(SettingsError) {
        for entry in entries where !asked.contains(entry.name) && !Self.isForeign(entry.name) {
            throw entry.key.error("unknown key \"\(entry.name)\"" + NearestName.hint(entry.name, among: asked))
        }
    }
}
