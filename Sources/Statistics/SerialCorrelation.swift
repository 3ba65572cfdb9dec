/// How much values that follow each other resemble each other, and what that does to a test which takes them for independent.
package struct SerialCorrelation: Sendable, Equatable {
    /// The correlation of a value's rank with the next one's, −1…1: of ranks, so that a few values far out make none of it.
    package let lag1: Double
    /// What it may be: `lag1` made larger by the bias of such an estimate and by one standard error; 0 … `most`.
    package let upper: Double

    /// More is not believed: intervals that are 4.4 times as wide tell nothing any more.
    package static let most = 0.9

    /// By which factor a mean of such values, or a rank statistic, deviates further than one of independent values:
    /// √((1 + ρ) / (1 − ρ)), of an autoregressive process of the first order (Bayley, Hammersley: The "Effective" Number of
    /// Independent Observations in an Autocorrelated Time Series, 1946), with ρ = `upper`. At least 1.
    package var stretch: Double { ((1 + upper) / (1 - upper)).squareRoot() }

    /// nil when no sequence has two values.
    ///
    /// Each sequence is taken about its own median, and the ranks are those of all together. The mean product of neighbours
    /// divided by the mean square is too small by about s (1 + 3 ρ) / n, of n values in s sequences (Kendall: Note on Bias in the
    /// Estimation of Autocorrelation, 1954), which is put back; its standard error is about 1 / √n (Bartlett 1946).
    ///
    /// - Parameter sequences: values in the order in which they were measured, those of different days apart.
    package init?(_ sequences: [[Double]]) {
        let sequences = sequences.filter { $0.count > 1 }
        guard !sequences.isEmpty else { return nil }
        let centred = sequences.flatMap { values in
            let middle = Quantile.median(values) ?? 0
            return values.map { $0 - middle }
        }
        let n = Double(centred.count)
        let ranks = Ranks.of(centred).map { $0 - (n + 1) / 2 }
        let square = ranks.reduce(0) { $0 + $1 * $1 } / n
        var (products, pairs, start) = (0.0, 0.0, 0)
        for sequence in sequences {
            for index in start..<(start + sequence.count - 1) { products += ranks[index] * ranks[index + 1] }
            pairs += Double(sequence.count - 1)
            start += sequence.count
        }
        lag1 = square > 0 ? max(-1, min(1, products / pairs / square)) : 0
        let bias = Double(sequences.count) * (1 + 3 * max(0, lag1)) / n
        upper = min(Self.most, max(0, lag1 + bias + 1 / n.squareRoot()))
    }
}
