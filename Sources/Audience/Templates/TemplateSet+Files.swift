import Glibc
import Settings

extension TemplateSet {
    /// Bytes a file of templates may have.
    private static let largestFile = 4 << 20

    /// From a folder with a file `NAME.json` for each template (what else is in it is passed over), from a JSON file whose object
    /// has a body, as an object, for each name, or from a YAML file (.yaml, .yml) whose map has a body, as text, for each name.
    ///
    /// - Throws: `file:line:column: …`
    package init(path: String) throws(AudienceError) {
        self.init()
        var status = stat()
        guard stat(path, &status) == 0 else {
            throw AudienceError("cannot read the templates \(path): \(String(cString: strerror(errno)))")
        }
        if status.st_mode & S_IFMT == S_IFDIR {
            try addFolder(path)
        } else if path.hasSuffix(".json") {
            try addJSON(try Self.text(path), file: path)
        } else if path.hasSuffix(".yaml") || path.hasSuffix(".yml") {
            try addYAML(try Self.text(path), file: path)
        } else {
            throw AudienceError(
                "\(path): expected a folder of templates, or a .json, .yaml or .yml file with all of them")
        }
        if names.isEmpty {
            throw AudienceError("\(path): no template in it; in a folder each is a file NAME.json")
        }
    }

    private static func text(_ path: String) throws(AudienceError) -> String {
        do throws(SettingsError) {
            return try FileContents.text(path, "template file", limit: largestFile)
        } catch {
            throw AudienceError(error.description)
        }
    }

    private mutating func addFolder(_ folder: String) throws(AudienceError) {
        guard let directory = opendir(folder) else {
            throw AudienceError("cannot read the templates \(folder): \(String(cString: strerror(errno)))")
        }
        defer { closedir(directory) }
        var files: [String] = []
        while let entry = readdir(directory) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            guard name.hasSuffix(".json"), !name.hasPrefix(".") else { continue }
            files.append(name)
            guard files.count <= Self.most else {
                throw AudienceError("\(folder): more than \(Self.most) templates")
            }
        }
        for file in files.sorted() {
            let path = folder.hasSuffix("/") ? folder + file : "\(folder)/\(file)"
            let template = try HubTemplate(parsing: try Self.text(path), name: path)
            try add(template, name: String(file.dropLast(5)), place: path)
        }
    }

    /// `{"news": {"aps": …}, …}`
    mutating func addJSON(_ text: String, file: String) throws(AudienceError) {
        var cursor = JSONCursor(text, name: file)
        cursor.skipSpace()
        guard cursor.take("{") else {
            throw cursor.error("expected '{': an object with a template for each name; found \(cursor.found)")
        }
        cursor.skipSpace()
        var isOpen = !cursor.take("}")
        while isOpen {
            cursor.skipSpace()
            guard cursor.current == 0x22 else {
                throw cursor.error("expected a template's name in quotes; found \(cursor.found)")
            }
            let before = cursor
            let name = try cursor.string().value
            cursor.skipSpace()
            guard cursor.take(":") else {
                throw cursor.error("expected ':' after the template's name; found \(cursor.found)")
            }
            let template = try HubTemplate(at: &cursor)
            try add(template, name: name, place: before.place)
            cursor.skipSpace()
            isOpen = cursor.take(",")
            guard isOpen || cursor.take("}") else { throw cursor.error("expected ',' or '}'; found \(cursor.found)") }
        }
        cursor.skipSpace()
        guard cursor.position == cursor.text.count else {
            throw cursor.error("expected nothing after the last '}'; found \(cursor.found)")
        }
    }

    /// `news: '{"aps": …}'`. A body is text, as a YAML map does not keep `"1"` and `1` apart.
    mutating func addYAML(_ text: String, file: String) throws(AudienceError) {
        do {
            for entry in try YAMLValue(parsing: text, file: file).map().entries {
                guard !entry.value.isMap, !entry.value.isList else {
                    throw entry.value.error("expected the body's JSON as text, in quotes or after |")
                }
                let template = try HubTemplate(parsing: try entry.value.text(), name: entry.value.place)
                try add(template, name: entry.name, place: entry.key.place)
            }
        } catch let error as SettingsError {
            throw AudienceError(error.description)
        } catch let error as AudienceError {
            throw error
        } catch {
            throw AudienceError("\(file): \(error)")
        }
    }
}
