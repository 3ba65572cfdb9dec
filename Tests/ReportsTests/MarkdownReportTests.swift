import Results
import Testing

@testable import Reports

@Suite struct MarkdownReportTests {
    @Test("Markdown holds every headline figure; the rows of each table are as wide as its head, whatever the names")
    func tables() {
        var document = ReportedDocument.make()
        document.reasons = ["a|b\nc\\": 77]
        document.scenario["list"] = .array([.string("x|y"), .string("z")])
        let one = MarkdownReport.text([ReportedDocument.run(document)])
        for part in ReportedDocument.headlines + ["a\\|b c\\\\"] {
            #expect(one.contains(part), "\(part) is not in the text")
        }
        for text in [one, MarkdownReport.text([document, document].map(ReportedDocument.run))] {
            var width: Int?
            var tables = 0
            for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
                guard line.hasPrefix("|") else {
                    width = nil
                    continue
                }
                #expect(line.hasSuffix("|"))
                let cells = Self.cells(line)
                if width == nil { tables += 1 }
                #expect(cells == width ?? cells, "\(line)")
                width = cells
            }
            #expect(tables >= 6)
        }
    }

    /// Bars that are not escaped part cells.
    private static func cells(_ line: Substring) -> Int {
        var count = -1
        var isEscaped = false
        for character in line {
            if character == "|", !isEscaped { count += 1 }
            isEscaped = character == "\\" && !isEscaped
        }
        return count
    }
}
