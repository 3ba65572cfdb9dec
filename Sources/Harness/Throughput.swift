import Results

extension ResultDocument.Throughput {
    /// A shorter span, ns, says nothing of rates where the clock ends it: what is sent in it depends on when a thread looks.
    static let shortest: UInt64 = 1_000_000

    /// All workers' spans as one, from the first begin to the last end; without rates when nothing was measured, or for too short a
    /// time.
    ///
    /// - Parameter now: where a span that has not ended is cut, ns.
    init(_ windows: [RateWindow], isOpenLoop: Bool, now: UInt64 = .max) {
        self.init()
        if isOpenLoop { offered = 0 }
        let known = windows.filter { $0.from != .max }
        guard let from = known.map(\.from).min() else { return }
        let to = min(now, known.map { $0.to == .max ? $0.lastAnswer : $0.to }.max() ?? 0)
        let endsWithAnswers = known.allSatisfy { $0.to == .max }
        guard to > from, endsWithAnswers || to - from >= Self.shortest else { return }
        let seconds = Double(to - from) / 1e9
        windowSeconds = seconds
        func perSecond(_ count: (RateWindow) -> UInt64) -> Double {
            Double(known.reduce(0) { $0 + count($1) }) / seconds
        }
        if isOpenLoop { offered = perSecond(\.offered) }
        sent = perSecond(\.sent)
        sentAgain = perSecond(\.sentAgain)
        answered = perSecond(\.answered)
        accepted = perSecond(\.accepted)
    }
}
