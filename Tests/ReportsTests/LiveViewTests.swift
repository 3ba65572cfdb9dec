import Testing

@testable import Reports

@Suite struct LiveViewTests {
    /// A run of 20 s that ramps up to 1,000 pushes a second, and has errors in its second half.
    private func view(seconds: Int = 20, target: Bool = true) -> LiveView {
        var view = LiveView(name: "evening")
        for step in 1...(seconds * 4) {
            let share = Double(step) / Double(seconds * 4)
            view.add(
                Progress(
                    done: UInt64(step * 100), planned: UInt64(seconds * 400), perSecond: 1000 * share,
                    target: target ? 1000 : nil, inFlight: Int(50 * share), p50: UInt64(2e6 + 1e6 * share),
                    p99: step % 2 == 0 ? 40_000_000 : 8_000_000, errors: share > 0.5 ? UInt64(step) : 0,
                    elapsed: Double(step) / 4, secondsLeft: Double(seconds) * (1 - share)))
        }
        return view
    }

    private func s(_ count: Int) -> String { String(repeating: " ", count: count) }

    @Test("In 80 columns and 24 rows: throughput against target, latency, what is in flight and errors, over time")
    func golden() {
        let lines = view().lines(rows: 24, message: "stopping", TextPicture(width: 80, isUnicode: true))
        #expect(
            lines.joined(separator: "\n") == """
                evening  20.0 s  100% of 8,000  ETA 0s
                █ throughput 1,000/s, ─ target 1,000/s
                      1k │──────────────────────────────────────────────────────────────────────
                         │                                   ▁▁▁▂▂▃▃▄▄▅▅▅▆▆▇▇███████████████████
                         │                  ▁▁▁▂▃▃▃▄▄▅▅▆▆▇▇▇████████████████████████████████████
                       0 │▁▁▁▂▂▃▃▄▄▅▅▅▆▆▇▇██████████████████████████████████████████████████████
                latency, log scale: █ p50 3.00 ms, • p99 40.0 ms
                 50.0 ms │••••••••••••••••••••••••••••••••••••••••••••••••••••••••••••••••••••••
                         │\(s(70))
                         │                                                         ▁▁▁▁▁▁▁▁▁▁▁▁▁
                 1.00 ms │▆▆▆▆▆▆▆▆▆▆▆▆▆▆▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇███████████████████████████████████
                █ in flight 50 pushes
                      50 │                                                      ▁▁▂▂▃▃▄▄▄▅▅▆▆▇▇█
                         │                                    ▁▁▂▂▂▃▄▄▄▅▅▅▆▇▇▇██████████████████
                         │                   ▁▁▂▂▃▃▄▄▄▅▅▆▆▇▇████████████████████████████████████
                       0 │▁▁▁▂▂▂▃▄▄▄▅▅▅▆▇▇▇█████████████████████████████████████████████████████
                █ errors a second; 80 in all
                     200 │                                   ▂\(s(34))
                         │                                   █\(s(34))
                         │                                   █\(s(34))
                       0 │                                   █▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁
                          0 s                                                               20 s
                stopping
                """)
    }

    @Test("In 60 columns and without Unicode the same is there")
    func narrow() {
        let lines = view().lines(rows: 20, TextPicture(width: 60, isUnicode: false))
        #expect(
            lines.joined(separator: "\n") == """
                evening  20.0 s  100% of 8,000  ETA 0s
                # throughput 1,000/s, - target 1,000/s
                      1k |--------------------------------------------------
                         |                 .........::::####################
                       0 |.........::::#####################################
                latency, log scale: # p50 3.00 ms, o p99 40.0 ms
                 50.0 ms |oooooooooooooooooooooooooooooooooooooooooooooooooo
                         |\(s(50))
                 1.00 ms |...::::::::::::::::::::::::::::::::::::::::#######
                # in flight 50 pushes
                      50 |                                  .........::::###
                         |                  ........::::####################
                       0 |.........:::::####################################
                # errors a second; 80 in all
                     200 |                         .\(s(24))
                         |                         #\(s(24))
                       0 |                         #........................
                          0 s                                           20 s

                """)
    }

    @Test("It fits every terminal that it says it fits, at every moment of a run")
    func fits() {
        #expect(LiveView.fits(columns: 40, rows: 16))
        #expect(!LiveView.fits(columns: 39, rows: 24) && !LiveView.fits(columns: 80, rows: 15))
        let busy = Progress(
            done: .max, planned: .max, perSecond: 1e18, target: 1e18, inFlight: .max, p50: .max, p99: .max,
            errors: .max,
            elapsed: 1e6, secondsLeft: 1e8)
        var wild = LiveView(name: String(repeating: "long name ", count: 20))
        let views =
            [LiveView(name: "n"), view(seconds: 1), view(seconds: 600), view(target: false)] + [
                wild,
                {
                    wild.add(busy); return wild
                }(),
            ]
        for view in views {
            for (columns, rows) in [(40, 16), (60, 20), (80, 24), (80, 25), (200, 60)] {
                let lines = view.lines(
                    rows: rows, message: String(repeating: "m", count: 300),
                    TextPicture(width: columns, isUnicode: true))
                #expect(
                    lines.count < rows && lines.allSatisfy { $0.count <= columns }, "\(columns) x \(rows): \(lines)")
            }
        }
    }

    @Test("What it keeps is bounded, and a long run's curves are still those of the run")
    func long() {
        let lines = view(seconds: 3600).lines(rows: 24, TextPicture(width: 80, isUnicode: true))
        let short = view().lines(rows: 24, TextPicture(width: 80, isUnicode: true))
        #expect(lines[0].hasPrefix("evening  3600.0 s  100% of 1,440,000"))
        // The same shape: a ramp, drawn in the lowest row from the same column on.
        #expect(zip(lines[2...5], short[2...5]).allSatisfy { a, b in zip(a, b).count { $0 != $1 } <= 12 }, "\(lines)")
    }

    @Test("Colours change nothing but colours")
    func colours() {
        let plain = view().lines(rows: 24, TextPicture(width: 80, isUnicode: true))
        let coloured = view().lines(rows: 24, TextPicture(width: 80, isUnicode: true, isColoured: true))
        #expect(coloured != plain && coloured.map { $0.replacing(/\u{1B}\[[0-9]+m/, with: "") } == plain)
    }

    @Test("A chart's edge is a round number that is no smaller than its highest value")
    func edges() {
        let edges = [0, 0.9, 1, 1.2, 16, 21, 4_100, 7_600, 1e6].map(TextChart.edge(above:))
        #expect(edges == [1, 1, 1, 1.5, 20, 30, 5_000, 10_000, 1e6])
    }
}
