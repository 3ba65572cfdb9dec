import Foundation
import FoundationXML
import Results
import Testing

@testable import Gate

@Suite struct GateReportTests {
    private func metric(_ name: String, _ verdict: GateDocument.Verdict, _ ratio: Double) -> GateDocument.Metric {
        .init(
            name: name, unit: .nanoseconds, base: 650, now: 650 * ratio, ratio: ratio, low: ratio - 0.01,
            high: ratio + 0.01, correlation: 0.1, stretch: 1.2, tolerated: 1.03, verdict: verdict)
    }

    private func gate(_ verdict: GateDocument.Verdict, _ metrics: [GateDocument.Metric]) -> GateDocument {
        GateDocument(
            comparison: .baseline, base: "a<b>\"&'|x", reason: "faster *now*",
            baselineUpdatedAt: "2026-01-02T03:04:05Z", baselineRounds: 32, scenario: [:], lowError: 0.001,
            highError: 0.0125, verdict: verdict, metrics: metrics,
            rounds: [.init(values: [:], kernelBefore: 1, kernelAfter: 1)], seconds: 2.5, warnings: ["half\n100 %"])
    }

    private var failing: GateDocument {
        gate(
            .regression,
            [
                metric("client_cpu", .regression, 1.1), metric("mock_cpu", .cannotTell, 1.02),
                metric("allocations", .pass, 1), metric("rate", .information, 0.9),
            ])
    }

    @Test("The verdict in words, with what moved and by how much")
    func sentences() {
        #expect(
            GateReport.sentence(failing)
                == "REGRESSION: client CPU a push +10.0 % (baseline a<b>\"&'|x; 1 round in 2.5 s)")
        let improved = GateReport.sentence(gate(.improved, [metric("mock_cpu", .improved, 0.9)]))
        #expect(improved.hasPrefix("PASS, improved: mock CPU a push -10.0 %") && improved.contains("gate --update"))
        #expect(GateReport.sentence(gate(.pass, [])).hasPrefix("PASS: no cost above"))
        #expect(
            GateReport.sentence(gate(.cannotTell, [metric("mock_cpu", .cannotTell, 1.02)])).hasPrefix(
                "CANNOT TELL: mock CPU a push +2.0 %, of which the interval reaches beyond what is tolerated ("))
        // Fewer rounds than that never show one.
        #expect(
            GateReport.sentence(gate(.cannotTell, [metric("mock_cpu", .cannotTell, 1.02)])).hasSuffix(
                "a quieter machine may tell; a regression takes 16 or more"))
        var without = metric("mock_cpu", .cannotTell, 0.9998)
        (without.low, without.high) = (nil, nil)
        #expect(
            GateReport.sentence(gate(.cannotTell, [without])).hasPrefix(
                "CANNOT TELL: mock CPU a push +0.0 %, of which there is no interval yet ("))
        let text = GateReport.text(failing)
        #expect(text.contains("1.090 - 1.110") && text.contains("regression: +10.0 %") && text.contains("(not judged)"))
        #expect(text.contains("warning: half"))
        #expect(text.contains("ratio: of costs after dividing both"))
        #expect(GateMarkdown.text(failing).contains("- ratio: of costs after dividing both"))
    }

    @Test("What more is tolerated of a small cost is said, and what was not judged though nobody left it out")
    func tolerated() {
        var allocations = metric("allocations", .pass, 1.05)
        allocations.unit = .count
        let line = "allocations a push: 0.05 more is tolerated, however large the ratio"
        let judged = gate(.pass, [metric("client_cpu", .pass, 1), allocations])
        #expect(GateReport.text(judged).contains(line) && GateMarkdown.text(judged).contains("- \(line)"))
        allocations.tolerated = nil
        #expect(!GateReport.text(gate(.pass, [allocations])).contains(line))
        let some = GateRules(metrics: ["mock_cpu"], tolerance: 0.03, mostRounds: 64)
        #expect(
            GateWarnings.unjudged(some, "nobody has")
                == ["not judged: client CPU a push, allocations a push, which nobody has"])
        let all = GateRules(metrics: GateMetric.judgedByDefault, tolerance: 0.03, mostRounds: 64)
        #expect(GateWarnings.unjudged(all, "nobody has").isEmpty)
    }

    @Test("Pairs are called pairs, of a base; an end that there are too few rounds for is left out")
    func pairs() {
        var pairs = failing
        pairs.comparison = .pairs
        (pairs.base, pairs.reason, pairs.baselineUpdatedAt, pairs.baselineRounds) = ("old/pushload", nil, nil, nil)
        pairs.metrics[1].low = nil
        pairs.metrics[2].high = nil
        #expect(
            GateReport.sentence(pairs) == "REGRESSION: client CPU a push +10.0 % (base old/pushload; 1 pair in 2.5 s)")
        let text = GateReport.text(pairs)
        #expect(text.contains("to 1.030") && text.contains("from 0.990") && !text.contains("baseline"), "\(text)")
        pairs.verdict = .improved
        #expect(!GateReport.sentence(pairs).contains("--update"))
        let markdown = GateMarkdown.text(pairs)
        #expect(markdown.contains("| median | base | now |") && !markdown.contains("Baseline"), "\(markdown)")
        #expect(GateJUnit.text(pairs, failsWhenUnsure: true).contains("base 650 ns, now 715 ns"))
        #expect(GitHubAnnotations.text(pairs, failsWhenUnsure: true).contains("(base 650 ns, now 715 ns"))
    }

    @Test("A warning says which judged costs resemble themselves from round to round")
    func alike() {
        var metrics = failing.metrics
        #expect(GateWarnings.of(metrics).isEmpty)
        for index in metrics.indices { (metrics[index].correlation, metrics[index].stretch) = (0.61, 2.3) }
        let warnings = GateWarnings.of(metrics)
        #expect(warnings.count == 1 && warnings[0].contains("client CPU a push 0.61, mock CPU a push 0.61"))
        #expect(warnings.first?.contains("rate") == false)
    }

    @Test("A renewed baseline says what moved against the old one, by the normalised values")
    func update() {
        func baseline(_ raw: Double, _ normalised: Double) -> BaselineDocument {
            BaselineDocument(
                name: "b", reason: "why", updatedAt: "2026-01-02T03:04:05Z", version: "0", commit: nil, scenario: [:],
                machine: .init(host: "h", cpu: "c", cores: 2, kernel: "k", system: "s"), kernel: "record/1",
                oneCore: true,
                metrics: [
                    .init(
                        name: "client_cpu", unit: .nanoseconds, raw: [raw, raw], normalised: [normalised, normalised])
                ])
        }
        let first = GateReport.update(baseline(650, 0.04), before: nil, path: "b.json")
        #expect(
            first.contains("client CPU a push    650 ns") && first.contains("new baseline: b.json (2 rounds)"),
            "\(first)")
        // Half the machine, twice the time, and 10 % less work.
        let second = GateReport.update(baseline(1170, 0.036), before: baseline(650, 0.04), path: "b.json")
        #expect(second.contains("moved by: CPU times after dividing both by the machine's speed that day"))
        #expect(second.contains("-10.0 %") && second.contains("renewed: b.json (it was of 2026-01-02T03:04:05Z: why)"))
        var other = baseline(1, 1)
        other.scenario = ["rate": .null]
        #expect(GateReport.update(other, before: baseline(1, 1), path: "").contains("the scenario is another one"))
    }

    @Test("Markdown is one table with nothing in it that is markup by accident")
    func markdown() {
        let text = GateMarkdown.text(failing)
        #expect(text.hasPrefix("### pushload gate: regression\n"))
        let rows = text.split(separator: "\n").filter { $0.hasPrefix("|") }
        #expect(rows.count == 6 && rows.allSatisfy { $0.filter { $0 == "|" }.count == 7 }, "\(rows)")
        #expect(rows[2].hasPrefix("| ❌ client CPU a push |") && text.contains("faster \\*now\\*"))
        #expect(text.contains("a&lt;b&gt;\"&amp;'\\|x") && text.contains("- half 100 %"))
    }

    /// Attributes of every element of an XML document, and its texts.
    private final class Reader: NSObject, XMLParserDelegate {
        var elements: [(name: String, attributes: [String: String])] = []
        var text = ""

        func parser(
            _ parser: XMLParser, didStartElement name: String, namespaceURI: String?, qualifiedName: String?,
            attributes: [String: String]
        ) { elements.append((name, attributes)) }

        func parser(_ parser: XMLParser, foundCharacters string: String) { text += string }
    }

    private func read(_ xml: String) -> Reader? {
        let parser = XMLParser(data: Data(xml.utf8))
        let reader = Reader()
        parser.delegate = reader
        return parser.parse() ? reader : nil
    }

    @Test("JUnit's XML is well-formed, one case a judged metric; \"cannot tell\" fails or is skipped")
    func junit() throws {
        let strict = try #require(read(GateJUnit.text(failing, failsWhenUnsure: true)))
        let suite = try #require(strict.elements.first { $0.name == "testsuite" })
        #expect(suite.attributes["name"] == "gate a<b>\"&'|x")
        #expect(
            suite.attributes["tests"] == "3" && suite.attributes["failures"] == "2"
                && suite.attributes["skipped"] == "0")
        let cases = strict.elements.filter { $0.name == "testcase" }.compactMap { $0.attributes["name"] }
        #expect(cases == ["client_cpu", "mock_cpu", "allocations"])
        let failures = strict.elements.filter { $0.name == "failure" }
        #expect(
            failures.map { $0.attributes["message"] } == [
                "client CPU a push: regression: +10.0 %", "mock CPU a push: cannot tell",
            ])
        #expect(strict.text.contains("baseline 650 ns, now 715 ns, ratio 1.100"))
        let lenient = try #require(read(GateJUnit.text(failing, failsWhenUnsure: false)))
        #expect(lenient.elements.filter { $0.name == "failure" }.count == 1)
        #expect(lenient.elements.filter { $0.name == "skipped" }.count == 1)
        let odd = "<a>\u{1}\u{FFFE}\"'&\n]]>"
        let back = try #require(read("<x y=\"\(GateJUnit.escape(odd))\"/>"))
        #expect(back.elements[0].attributes["y"] == "<a>\u{FFFD}\u{FFFD}\"'&\n]]>")
    }

    @Test("GitHub's annotations: one line each, escaped as the runner reads them")
    func annotations() {
        let lines = GitHubAnnotations.text(failing, failsWhenUnsure: true).split(separator: "\n")
        #expect(lines.count == 3, "\(lines)")
        #expect(lines[0].hasPrefix("::error title=pushload gate::client CPU a push: regression: +10.0 %25 (baseline"))
        #expect(lines[1].hasPrefix("::error title=pushload gate::mock CPU a push: cannot tell"))
        #expect(lines[2] == "::warning title=pushload gate::half%0A100 %25")
        #expect(GitHubAnnotations.text(failing, failsWhenUnsure: false).contains("::warning title=pushload gate::mock"))
        #expect(
            GitHubAnnotations.text(gate(.pass, []), failsWhenUnsure: true).hasPrefix(
                "::notice title=pushload gate::PASS"))
    }
}
