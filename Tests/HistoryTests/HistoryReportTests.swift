import Results
import SampleRuns
import Testing

@testable import History
@testable import Reports

@Suite struct HistoryReportTests {
    private var history: HistoryDocument {
        let runs = (0..<4).map {
            HistoryDocument.Run(
                id: "\($0)", path: "runs/\($0), \"x\"", startedAt: "2026-11-0\($0 + 1)T00:00:00Z", version: "0.\($0).0",
                commit: $0 == 0 ? nil : "0123456789abcdef\($0)")
        }
        let change = HistoryDocument.Change(
            run: 2, before: 710, after: 1065, ratio: 1.5, low: 1.41, high: 1.62, coverage: 0.9,
            p: 0.001, verdict: .more, isWorse: true)
        return HistoryDocument(
            level: 0.01,
            series: [
                .init(
                    name: "evening <b>", facts: ["streams": "50", "engine": "wire"], runs: runs,
                    metrics: [
                        .init(
                            name: "client CPU a push", unit: .nanoseconds, values: [700, 720, 1060, 1070],
                            segments: [.init(first: 0, last: 1, median: 710), .init(first: 2, last: 3, median: 1065)],
                            changes: [change], isTooShort: false),
                        .init(
                            name: "rate", unit: .perSecond, values: [1000, nil, 1200, 1100],
                            segments: [.init(first: 0, last: 3, median: 1100)], changes: [], isTooShort: true),
                    ])
            ],
            leftOut: [.init(path: "runs/z", reason: "the run was interrupted")])
    }

    @Test(
        "The terminal shows each figure's line, its changes with medians, ratio and interval, every run, and what is left out"
    )
    func text() {
        let text = HistoryReport.text(history, TextPicture(width: 160, isUnicode: true))
        #expect(
            text.hasPrefix(
                "\nevening <b>: 4 runs, 2026-11-01T00:00:00Z to 2026-11-04T00:00:00Z\n  engine wire, streams 50\n"))
        #expect(text.contains("\n  client CPU a push, 1 change\n  ▁▁██\n"))
        let rows = text.split(separator: "\n").map {
            $0.split(separator: " ", omittingEmptySubsequences: true).joined(separator: " ")
        }
        #expect(
            rows.contains(
                "3 2026-11-03T00:00:00Z 0.2.0 0123456789 710 ns 1.07 us 1.500 1.410 - 1.620 (90 % or more) 0.001 more by 50.0 %"
            ))
        #expect(rows.contains("3 2026-11-03T00:00:00Z 0.2.0 0123456789 * 1.06 us 1,200/s"))
        #expect(rows.contains("2 2026-11-02T00:00:00Z 0.1.0 0123456789 720 ns -"))
        #expect(rows.contains("rate (answered), 3 runs: too few to find a change"))
        #expect(text.hasSuffix("left out:\n  runs/z: the run was interrupted\n"))
    }

    @Test("A change for the worse is an alert, with its figure and its first run; one that is acknowledged is not")
    func alerts() {
        #expect(
            HistoryReport.alerts(history) == [
                "alert: evening <b>: client CPU a push more by 50.0 % since runs/2, \"x\" (2026-11-03T00:00:00Z)"
            ])
        var known = history
        known.series[0].metrics[0].changes[0].isAcknowledged = true
        #expect(HistoryReport.alerts(known).isEmpty)
        #expect(
            HistoryReport.text(known, TextPicture(width: 160, isUnicode: true)).contains(
                "more by 50.0 %, acknowledged\n"))
        var better = history
        better.series[0].metrics[0].changes[0].isWorse = false
        #expect(HistoryReport.alerts(better).isEmpty)
    }

    @Test("CSV has a line a run and figure, quoted where it must be")
    func csv() {
        let lines = HistoryReport.csv(history).split(separator: "\n")
        #expect(lines.count == 1 + 4 + 3)
        #expect(lines[0] == "series,run,id,path,started_at,version,commit,metric,unit,value,median,changed")
        #expect(
            lines[3]
                == "1,3,2,\"runs/2, \"\"x\"\"\",2026-11-03T00:00:00Z,0.2.0,0123456789abcdef2,client CPU a push,nanoseconds,1060.0,1065.0,1"
        )
    }

    @Test("The page draws runs, medians that step at the change, and the change as a line with its verdict")
    func page() {
        let page = HistoryReport.page(history)
        #expect(
            MarkupChecker.problem(page) == nil && !page.contains("evening <b>") && page.contains("evening &lt;b&gt;"))
        #expect(page.components(separatedBy: "<polyline").count == 1 + 4)
        #expect(page.components(separatedBy: "class=\"change\"").count == 1 + 1)
        for part in [
            "more by 50.0 %", "1.410 - 1.620 (90 % or more)", "runs/z: the run was interrupted",
            "too few to find a change",
        ] {
            #expect(page.contains(part), "\(part)")
        }
        let chart = HistoryReport.chart(history.series[0].metrics[0])
        #expect(chart.lines[1].points == [.init(1, 710), .init(2.5, 710), .init(2.5, 1065), .init(4, 1065)])
        #expect(chart.marks.map(\.x) == [2.5])
    }

    @Test("An axis of figures lies around them where they are far from 0, and begins at 0 elsewhere")
    func axis() {
        let near = ChartScale(.figure(.nanoseconds), [700, 720, 1060])
        #expect(near.low == 600 && near.high == 1100 && near.ticks.first == 600 && near.ticks.last == 1100)
        #expect(ChartScale(.figure(.count), [0, 3]).low == 0)
        let same = ChartScale(.figure(.bytes), [1e6, 1e6])
        #expect(same.low < 1e6 && same.high > 1e6 && same.low > 9e5)
        #expect(ChartScale(.figure(.count), []).high == 1)
    }
}
