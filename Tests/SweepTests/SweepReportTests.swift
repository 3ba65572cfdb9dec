import Results
import SampleRuns
import Testing

@testable import Reports
@testable import Sweep

@Suite struct SweepReportTests {
    private func figure(_ value: Double) -> SweepDocument.Figure {
        .init(
            median: value, low: value * 0.9, high: value * 1.1, coverage: 0.75,
            values: [value * 0.9, value, value * 1.1])
    }

    /// rtt × streams, with hostile texts; one point has a problem, one was not chosen.
    private func document(trips: [Double] = [0, 200_000_000]) -> SweepDocument {
        var points: [SweepDocument.Point] = []
        for row in trips.indices {
            for column in 0..<3 where row + column != 3 {
                let rate = Double((row + 1) * 1000 + column * 100)
                points.append(
                    .init(
                        number: row * 3 + column, place: [row, column], labels: ["<r\(row)>", "s,\"\(column)\""],
                        rung: 0,
                        runs: ["a", "b", "c"], rate: figure(rate), p50: figure(2_110_000), p99: figure(4_330_000),
                        clientCPU: figure(2345), mockCPU: nil, inFlight: Double(100 * (column + 1)),
                        roundTrip: trips[row], problem: row == 1 && column == 0 ? "it <broke>,\nor \"so\"" : nil))
            }
        }
        return SweepDocument(
            name: "n", version: "1", startedAt: "2026-11-21T00:00:00Z", machine: "2 × c", seed: 7, method: "grid",
            goal: "rate", repeats: 3, runsPlanned: 18, runsMade: 15,
            axes: [
                .init(name: "rtt", labels: trips.indices.map { "<r\($0)>" }, numbers: trips, isTime: true),
                .init(name: "streams", labels: (0..<3).map { "s,\"\($0)\"" }, numbers: [100, 200, 300]),
            ],
            points: points, best: .init(point: 4, alike: [2]), front: [4, 0], notes: ["a note & more"])
    }

    @Test("CSV has a line a point; commas, quotes and line ends are quoted")
    func csv() throws {
        #expect(SweepCSV.escape("plain 1.5") == "plain 1.5")
        #expect(SweepCSV.escape("a,b") == "\"a,b\"" && SweepCSV.escape("a\"b") == "\"a\"\"b\"")
        #expect(SweepCSV.escape("a\r\nb") == "\"a\r\nb\"" && SweepCSV.escape("") == "")
        let text = SweepCSV.text(document())
        // As a reader of CSV takes it apart.
        var rows: [[String]] = [[""]]
        var isQuoted = false
        var pending: Unicode.Scalar?
        let scalars = Array(text.unicodeScalars)
        for (index, scalar) in scalars.enumerated() {
            if pending != nil {
                pending = nil
                continue
            }
            let next = index + 1 < scalars.count ? scalars[index + 1] : nil
            if isQuoted, scalar == "\"", next == "\"" {
                rows[rows.count - 1][rows[rows.count - 1].count - 1] += "\""
                pending = next
            } else if scalar == "\"" {
                isQuoted.toggle()
            } else if scalar == ",", !isQuoted {
                rows[rows.count - 1].append("")
            } else if scalar == "\r", next == "\n", !isQuoted {
                rows.append([""])
                pending = next
            } else {
                rows[rows.count - 1][rows[rows.count - 1].count - 1].unicodeScalars.append(scalar)
            }
        }
        #expect(rows.removeLast() == [""])
        #expect(rows.count == 6 && rows.allSatisfy { $0.count == rows[0].count })
        #expect(rows[0][0...5] == ["point", "rtt", "streams", "runs", "missing", "length"])
        #expect(rows[1][0...6] == ["0", "<r0>", "s,\"0\"", "3", "0", "1", "1000.0"])
        #expect(rows[4].last == "it <broke>,\nor \"so\"" && rows[5].suffix(4) == ["1", "0", "1", ""])
    }

    @Test("A page holds every figure, in heat maps and in its table, and is well formed whatever the labels")
    func page() {
        let page = SweepPage.html(document())
        #expect(MarkupChecker.problem(page) == nil)
        #expect(!page.contains("<r0>") && !page.contains("<broke>") && page.contains("a note &amp; more"))
        for text in ["1,000/s", "2,100/s", "2.11 ms", "4.33 ms", "2.35 us", "★ 2.10k", "✗ problem 1", "20.0 %"] {
            #expect(page.contains(text), "\(text)")
        }
        let markdown = SweepPage.markdown(document())
        #expect(markdown.contains("2,100/s") && markdown.contains("problem 1: it"))
    }

    @Test("A heat map has a cell for each row and column, darker for more, with the reason where there is no figure")
    func heatMap() throws {
        let maps = try #require(SweepPanels(document())).maps(.rate)
        #expect(maps.count == 1 && maps[0].rows == ["<r0>", "<r1>"] && maps[0].columns.count == 3)
        var shares: [Double] = []
        for (y, row) in maps[0].cells.enumerated() {
            #expect(row.count == 3)
            for (x, cell) in row.enumerated() {
                switch cell {
                case .value(let text, let share, let mark):
                    shares.append(share)
                    if case .best = mark { #expect([y, x] == [1, 1] && text == "2.10k") }
                case .problem(let text): #expect([y, x] == [1, 0] && text.contains("broke"))
                case .none: #expect([y, x] == [1, 2])
                }
            }
        }
        // Of 1000, 1100, 1200 and 2100; the one with a problem is 2000.
        for (share, expected) in zip(shares, [0, 100 / 1100.0, 200 / 1100.0, 1]) {
            #expect(abs(share - expected) < 1e-9)
        }
        let figure = SVGHeatMap.figure(maps[0])
        #expect(MarkupChecker.problem(figure) == nil)
        #expect(figure.components(separatedBy: "<rect").count == 7)
        #expect(figure.contains("fill-opacity=\"0.06\"") && figure.contains("fill-opacity=\"0.60\""))
        #expect(figure.contains("class=\"cell best\"") && figure.contains("class=\"cell front\""))
    }

    @Test("Values far apart are shaded by their ratio, others by their difference")
    func shades() {
        let near = SweepShade([10, 20, 30])
        #expect(near.share(10) == 0 && near.share(20) == 0.5 && near.share(30) == 1)
        let far = SweepShade([1, 10, 100])
        #expect(abs(far.share(10) - 0.5) < 1e-9)
        #expect(SweepShade([5, 5]).share(5) == 1 && SweepShade([]).share(3) == 1)
    }

    @Test("With three axes there is a panel for each value of the first; with one there is none")
    func panels() throws {
        var document = document()
        document.axes.insert(.init(name: "engine", labels: ["wire", "nghttp2"], numbers: nil), at: 0)
        for index in document.points.indices { document.points[index].place.insert(index % 2, at: 0) }
        let panels = try #require(SweepPanels(document))
        #expect(panels.panels.map(\.name) == ["engine wire", "engine nghttp2"])
        let cells = panels.panels.flatMap(\.cells).flatMap { $0 }.compactMap { $0 }
        #expect(Set(cells.map(\.number)) == Set(document.points.map(\.number)) && cells.count == document.points.count)
        document.axes.removeFirst(2)
        #expect(SweepPanels(document) == nil)
    }

    @Test("Little's law stands beside the measurements: in flight over round trip, as far as rates go")
    func little() throws {
        let chart = try #require(SweepCharts.little(document()))
        #expect(
            chart.lines.map(\.name) == ["measured, no delay", "measured, 200 ms round trip", "in flight / 200 ms"])
        #expect(chart.lines.map(\.colour) == [0, 1, 1])
        let bound = chart.lines[2].points
        #expect(bound.allSatisfy { abs($0.y - $0.x / 0.2) < 1e-6 } && bound[0].x == 100)
        #expect(chart.lines[0].points == [.init(100, 1000), .init(200, 1100), .init(300, 1200)])
        #expect(MarkupChecker.problem(SVGLineChart.figure(chart)) == nil)
        #expect(SweepCharts.little(document(trips: [0])) == nil)
    }

    @Test("The terminal says what is best, what may be as good, and what is wrong")
    func terminal() {
        let text = SweepReport.text(document(), on: TextPicture(width: 160, isUnicode: true))
        for line in [
            "n: 5 points of rtt × streams, 3 runs each, search grid, seed 7",
            "best by rate (answered): rtt <r1>, streams s,\"1\", 2,100/s (75 % interval 1,890/s - 2,310/s)",
            "not told from it by these runs: rtt <r0>, streams s,\"2\"", "note: a note & more",
        ] {
            #expect(text.contains(line), "\(line) in \(text)")
        }
        #expect(text.contains("★2.10k █") && text.contains("1.00k ▁"))
        var alone = document()
        alone.best = .init(point: 4, alike: [])
        #expect(SweepReport.text(alone).contains("every other point that was compared is told from it"))
        for place in alone.points.indices where alone.points[place].number != 4 {
            switch place % 3 {
            case 0: alone.points[place].problem = "x"
            case 1: alone.points[place].runsMissing = 1
            default: alone.points[place].rung = 1
            }
        }
        let said = SweepReport.text(alone)
        #expect(
            said.contains("; no other point could be compared with it") && !said.contains("told from it"), "\(said)")
        var empty = document()
        empty.best = nil
        #expect(SweepReport.text(empty).contains("best by rate (answered): none"))
    }

    @Test("A figure's short text has three digits")
    func short() {
        let texts = [0.5, 7, 99.96, 999, 999.6, 1126, 41_250, 999_499, 999_600, 1_126_000].map(SweepFigure.rate.short)
        #expect(texts == ["0.50", "7.00", "100", "999", "1.00k", "1.13k", "41.3k", "999k", "1.00M", "1.13M"])
    }
}
