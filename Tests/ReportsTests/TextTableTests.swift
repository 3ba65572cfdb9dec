import Testing

@testable import Reports

@Suite struct TextTableTests {
    private func table(_ rows: [[String]], names: Int = 1) -> TextTable {
        var table = TextTable(names: names)
        for row in rows { table.add(row) }
        return table
    }

    private let rows = [["name", "one", "two", "three", "four"], ["first", "1", "22", "333", "4444"], ["b", "5"]]

    @Test("A table that fits is one, its figures to the right")
    func whole() {
        #expect(
            table(rows).lines(width: 40) == [
                "  name   one  two  three  four", "  first    1   22    333  4444", "  b        5",
            ])
    }

    @Test("Columns that do not fit come below, as many in each table, with the names again")
    func split() {
        #expect(
            table(rows).lines(width: 24) == [
                "  name   one  two", "  first    1   22", "  b        5", "", "  name   three  four",
                "  first    333  4444", "  b",
            ])
        let two = table(rows, names: 2).lines(width: 24)
        #expect(
            two == [
                "  name   one  two  three", "  first    1   22    333", "  b        5", "", "  name   one  four",
                "  first    1  4444", "  b        5",
            ])
    }

    @Test("A text that fits beside no name has lines of its own; longer words stay whole")
    func stacked() {
        let lines = table([["figure", "verdict"], ["p99", "no difference seen by these runs"], ["p50", "-"]])
            .lines(width: 24)
        #expect(
            lines == [
                "  figure", "    verdict", "  p99", "    no difference seen", "      by these runs", "  p50", "    -",
            ])
        #expect(TextLines.fitted(["a/very/long/path b"], width: 8) == ["a/very/long/path", "  b"])
    }

    @Test("Colours take no room")
    func colours() {
        let picture = TextPicture(width: 80, isUnicode: true, isColoured: true)
        let lines = table([["a", "verdict"], ["b", picture.bad("bad")]]).lines(width: 80)
        #expect(lines == ["  a  verdict", "  b      \u{1B}[31mbad\u{1B}[0m"])
    }

    @Test("Sentences break after commas where there are any, and never between a number and its unit")
    func sentences() {
        #expect(
            TextLines.fitted(["  it took 12.5 ms and a half, which is long"], width: 36) == [
                "  it took 12.5 ms and a half,", "    which is long",
            ])
        #expect(TextLines.fitted(["it took long: p99 3.11 ms"], width: 22) == ["it took long: p99", "  3.11 ms"])
    }
}
