import Testing

@testable import Settings

@Suite struct ScalarPlaceTests {
    /// Where the text of the key `e` has its last `@`, or its end without one.
    private func place(_ yaml: String) throws -> String {
        var map = try YAMLValue(parsing: yaml, file: "f").map()
        let value = try map.need("e")
        let text = try value.text()
        var (line, column, found) = (1, 1, (1, 1))
        for scalar in text.unicodeScalars {
            if scalar == "@" { found = (line, column) }
            (line, column) = scalar == "\n" ? (line + 1, 1) : (line, column + 1)
        }
        if !text.contains("@") { found = (line, column) }
        return value.place(line: found.0, column: found.1)
    }

    @Test(
        "A character of a text is found in its file, however the text is written",
        arguments: [
            ("x: 1\ne: aä && @b\n", "f:2:10"), ("e: \"a && @b\"\n", "f:1:10"), ("e: 'a && @b' # @\n", "f:1:10"),
            ("e: |\n  a &&\n    @b\n", "f:3:5"), ("e: >-\n\n  a &&\n  (@b)\nf: 1\n", "f:4:4"),
            ("e: a &&\n   @b\n", "f:2:4"),
            ("{f: 1, e: a &&@b}", "f:1:15"), ("e: (a\n", "f:1:6"), ("e: \"(a\"\n", "f:1:7"),
            // Written in another way: where it begins.
            ("e: \"a\\n@b\"\n", "f:1:4"), ("e: !!str a@b\n", "f:1:4"),
        ])
    func found(_ yaml: String, _ expected: String) throws {
        #expect(try place(yaml) == expected)
    }
}
