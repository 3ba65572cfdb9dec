import Measurement
import Results

extension ResultDocument {
    /// The series as pictures show it: at most `most` points, and so few that each has ten answers on average. What is left at
    /// the end and too short for a rate belongs to the point before.
    func shownSeries(most: Int = 130) -> [SeriesPoint] {
        var points = series
        if points.count > 1, let last = points.last {
            let before = points[points.count - 2]
            let usual = before.time - (points.count > 2 ? points[points.count - 3].time : 0)
            if last.time - before.time < usual * 0.5 {
                points.removeLast()
                points[points.count - 1].merge(last)
            }
        }
        let answered = points.reduce(0) { $0 &+ $1.accepted &+ $1.rejected }
        let wanted = answered > 0 ? Double(10 * points.count) / Double(answered) : 1
        // Never fewer than ten for that.
        let size = max((points.count + most - 1) / most, min(Int(min(wanted, 1e6).rounded(.up)), points.count / 10), 1)
        return SeriesPoint.merged(points, by: size)
    }

    /// What a p50 or p99 over time is of, as the end of its name: `, worst 0.1 s` where points are longer than the steps in which
    /// latencies were looked at, which have the largest of theirs; else nothing.
    var seriesStep: String {
        let points = shownSeries()
        guard let end = points.last?.time, end > 0.15 * Double(points.count) else { return "" }
        return ", worst 0.1 s"
    }
}
