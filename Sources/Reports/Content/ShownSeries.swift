import Results

extension ResultDocument {
    /// The series as pictures show it: at most `most` points, and so few that each has ten answers on average. Neighbours are
    /// added up; what was open or waiting is the most of it. What is left at the end and too short for a rate belongs to the
    /// point before.
    func shownSeries(most: Int = 130) -> [Point] {
        var points = series
        if points.count > 1, let last = points.last {
            let before = points[points.count - 2]
            let usual = before.t - (points.count > 2 ? points[points.count - 3].t : 0)
            if last.t - before.t < usual * 0.5 {
                points.removeLast()
                points[points.count - 1].merge(last)
            }
        }
        let answered = points.reduce(0) { $0 + $1.accepted + $1.rejected }
        let wanted = answered > 0 ? Double(10 * points.count) / Double(answered) : 1
        // Never fewer than ten for that.
        let size = max((points.count + most - 1) / most, min(Int(min(wanted, 1e6).rounded(.up)), points.count / 10), 1)
        return stride(from: 0, to: points.count, by: size).map { first in
            var merged = points[first]
            for next in points[(first + 1)..<min(first + size, points.count)] { merged.merge(next) }
            return merged
        }
    }
}

extension ResultDocument.Point {
    fileprivate mutating func merge(_ next: ResultDocument.Point) {
        t = next.t
        sent += next.sent
        accepted += next.accepted
        rejected += next.rejected
        failed += next.failed
        notSent += next.notSent
        inFlight = max(inFlight, next.inFlight)
        backlog = max(backlog, next.backlog)
        p50 = max(p50, next.p50)
        p99 = max(p99, next.p99)
    }
}
