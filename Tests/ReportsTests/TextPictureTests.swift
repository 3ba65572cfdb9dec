import Testing

@testable import Reports

@Suite struct TextPictureTests {
    private let unicode = TextPicture(width: 60, isUnicode: true)
    private let ascii = TextPicture(width: 60, isUnicode: false)

    @Test("A sparkline has a character a value, the lowest and the highest its ends; what is not known is a gap")
    func sparkline() {
        #expect(unicode.sparkline([1, 2, nil, 3, 4, 5, 6, 7, 8], columns: 20) == "▁▂ ▃▄▅▆▇█")
        #expect(ascii.sparkline([1, 2, nil, 3, 4, 5, 6, 7, 8], columns: 20) == ".: -=+*#@")
        #expect(unicode.sparkline([50, 100], columns: 20, low: 0) == "▅█")
        #expect(unicode.sparkline([7, 7, 7], columns: 20) == "▅▅▅" && unicode.sparkline([], columns: 20).isEmpty)
        #expect(unicode.sparkline([nil, nil], columns: 20) == "  ")
    }

    @Test("More values than columns are averaged; one far from all others does not flatten the rest")
    func manyAndFar() {
        #expect(unicode.sparkline((0..<160).map { Double($0) }, columns: 8) == "▁▂▃▄▅▆▇█")
        #expect(unicode.sparkline([1, 2, 1, 2, 1, 2, 1e6, 1], columns: 8) == "▁█▁█▁███".replacing("███", with: "██▁"))
    }

    @Test("Bars fill the width there is, in eighths or whole characters; what is not 0 is seen")
    func bars() {
        #expect(unicode.bar(1, columns: 4) == "████" && unicode.bar(0.53125, columns: 4) == "██▏")
        #expect(unicode.bar(1e-9, columns: 4) == "▏" && unicode.bar(0, columns: 4).isEmpty)
        #expect(ascii.bar(1, columns: 4) == "####" && ascii.bar(1e-9, columns: 4) == "#")
        #expect(unicode.bar(.nan, columns: 4).isEmpty && unicode.bar(9, columns: 4) == "████")
        let rows = ascii.bars([("a", 1, "1 s"), ("long", 0.5, "500 ms")])
        #expect(
            rows == [
                "  a        1 s  " + String(repeating: "#", count: 44),
                "  long  500 ms  " + String(repeating: "#", count: 22),
            ])
        #expect(rows.allSatisfy { $0.count <= 60 })
    }
}
