import Foundation
import FoundationXML
import Testing

@testable import Exam

@Suite struct ReportCardTests {
    /// A card of one situation, for a client with a name that no format takes as it is.
    private static func card(_ change: (inout Journal) -> Void = { _ in }) -> ReportCard {
        var card = ReportCard(client: "<b>\"a\" & 'b'</b>\u{1}", patience: 1, pushes: 20)
        card.situations = [.init(.refusedStreams, .good(change)), .init(.silent, .good(change))]
        return card
    }

    @Test("The formats are known by the file's ending")
    func endings() {
        #expect(CardFormat(path: "a/card.JSON") == .json && CardFormat(path: "card.xml") == .xml)
        #expect(CardFormat(path: "card.html") == .html && CardFormat(path: "card.txt") == nil)
        #expect(CardFormat(path: "json") == nil)
    }

    @Test("JSON is read again as it was written")
    func json() throws {
        let text = try CardFormat.json.text(Self.card(), failing: [.must])
        let read = try JSONDecoder().decode(ReportCard.self, from: Data(text.utf8))
        #expect(read.schema == "mock-apns.exam/1" && read.client == Self.card().client)
        #expect(read.situations[0].criteria.map(\.verdict) == Self.card().situations[0].criteria.map(\.verdict))
        #expect(text.contains("\"verdict\" : \"not shown\""))
    }

    @Test("JUnit's XML is well-formed, counts what failed and names the rule")
    func junit() throws {
        let text = try CardFormat.xml.text(Self.card { $0.pushes[7].fate = .refused }, failing: [.must])
        let parser = XMLParser(data: Data(text.utf8))
        #expect(parser.parse(), "\(text)")
        #expect(
            text.contains("<testsuites name=\"mock-apns exam\" tests=\"11\" failures=\"1\" errors=\"0\" skipped=\"3\""))
        #expect(text.contains("<failure type=\"must\" message=\"every push is accepted in the end: 19 of 20 pushes"))
        #expect(text.contains("RFC 9113 section 8.7") && !text.contains("<b>"))
    }

    @Test("What failed without failing the exam is skipped in JUnit's XML, and says so")
    func lenientJUnit() throws {
        let text = try CardFormat.xml.text(Self.card { $0.pushes[7].fate = .refused }, failing: [.should])
        #expect(XMLParser(data: Data(text.utf8)).parse(), "\(text)")
        #expect(text.contains(" tests=\"11\" failures=\"0\" errors=\"0\" skipped=\"4\"") && !text.contains("<failure"))
        #expect(text.contains("<skipped message=\"failed (must): every push is accepted in the end: 19 of 20 pushes"))
        #expect(text.contains("<skipped message=\"not shown: "))
    }

    @Test("The page escapes what it shows, and loads nothing")
    func html() throws {
        let text = try CardFormat.html.text(Self.card(), failing: [.must])
        #expect(text.contains("&lt;b&gt;&quot;a&quot; &amp; &#39;b&#39;&lt;/b&gt;\u{FFFD}") && !text.contains("<b>"))
        #expect(!text.contains("src=") && !text.contains("href=") && !text.contains("<script"))
    }

    @Test("The terminal's card has each criterion's rule below it, and the sum at its end")
    func terminal() {
        let text = TerminalCard.text(Self.card { $0.pushes[7].fate = .refused })
        #expect(
            text.contains(
                "  FAILED    must   every push is accepted in the end: 19 of 20 pushes accepted; lost: 1 last"))
        #expect(text.contains("\n                   RFC 9113 section 8.7: "))
        #expect(text.hasSuffix(": 2 situations: 7 passed, 1 failed (1 must, 0 should), 3 not shown\n"), "\(text)")
    }

    @Test("What many connections were ended for is said once")
    func violations() throws {
        let card = Self.card { journal in
            for place in 0..<3 { journal.connect(at: UInt64(place)) }
            for place in 0..<4 {
                journal.connections[place].violation = place == 1 ? "a frame of <9> bytes" : "no preface"
            }
        }
        let ends = "\n  3 connections ended for no preface\n  a connection ended for a frame of <9> bytes\n"
        #expect(TerminalCard.text(card).contains(ends), "\(TerminalCard.text(card))")
        let page = try CardFormat.html.text(card, failing: [])
        #expect(
            page.contains("<p>3 connections ended for no preface</p>\n<p>a connection ended for a frame of &lt;9&gt;"))
    }

    @Test("The list has every criterion with its rule")
    func list() {
        let text = TerminalCard.list(Situation.all)
        for criterion in Situation.all.flatMap(\.criteria) {
            #expect(text.contains("  \(criterion.id) ") && text.contains(criterion.source), "\(criterion.id)")
        }
    }
}
