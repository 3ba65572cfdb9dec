import PlainHTTP
import Testing

@testable import MockAPNs

@Suite struct AnswerTimesTests {
    @Test("Answers are in the bucket of their time, all workers' together, until they begin anew")
    func buckets() {
        let (one, other) = (AnswerTimes(), AnswerTimes())
        one.note(3, 0)
        one.note(2, 10_000)
        one.note(1, 10_001)
        other.note(4, 100_000_000_000)
        other.note(5, 100_000_000_001)
        var counts = AnswerTimes.Counts()
        counts.add(one)
        counts.add(other)
        let histogram = counts.metrics
        #expect(histogram.below.count == MetricsText.latencyBounds.count && histogram.count == 15)
        #expect(histogram.below.prefix(3) == [5, 6, 6] && histogram.below.suffix(2) == [6, 10])
        #expect(abs(histogram.sum - 900.000_030_006) < 1e-9)
        one.restart()
        counts = AnswerTimes.Counts()
        counts.add(one)
        #expect(counts == AnswerTimes.Counts() && counts.metrics.count == 0)
    }
}
