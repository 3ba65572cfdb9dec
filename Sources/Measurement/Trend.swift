/// The straight trend of evenly spaced values: the Theil-Sen line (Sen, 1968), which a pause now and then does not bend, with a
/// standard error that knows that neighbours may hang together.
///
/// Cost: the median of n (n − 1) / 2 slopes.
struct Trend {
    /// From the first to the last value along the line.
    let change: Double
    /// Standard error of `change`: the scatter about the line, more or less where neighbours agree or alternate (effective
    /// sample size of a first-order autoregression); what may be chance at this many values counts as none.
    let error: Double
    /// As `error`, with the neighbours agreeing as much as they still may: for claims that need certainty.
    let cautiousError: Double
    /// How far the mean of the last three values lies from the median of all.
    let lead: Double
    /// Standard error of `lead`.
    let leadError: Double
    let median: Double

    /// - Parameters:
    ///   - values: four at least.
    ///   - leastError: of the change, where more is known of it than the values tell.
    init(_ values: [Double], leastError: Double = 0) {
        let count = values.count
        let slope = Self.slope(values)
        var residuals = (0..<count).map { values[$0] - slope * Double($0) }
        let middle = Self.median(residuals)
        for index in residuals.indices { residuals[index] -= middle }
        // Outliers count as three standard deviations, told from the median absolute deviation of a normal distribution.
        let bound = 3 * 1.4826 * Self.median(residuals.map(abs))
        var squares = 0.0
        var products = 0.0
        var previous = 0.0
        for residual in residuals {
            let clipped = max(-bound, min(bound, residual))
            squares += clipped * clipped
            products += clipped * previous
            previous = clipped
        }
        let scatter = (squares / Double(count - 2)).squareRoot()
        let plain = scatter * (12 / Double(count)).squareRoot()
        // Lag one, its small-sample bias taken out (Marriott and Pope, 1954).
        let raw = squares > 0 ? products / squares : 0
        let correlation = raw + (1 + 3 * raw) / Double(count)
        let isChance = abs(correlation) < Self.chance
        change = slope * Double(count - 1)
        error = max(leastError, plain * (isChance ? 1 : Self.inflation(correlation)))
        cautiousError = plain * Self.inflation(max(0, correlation + 1 / Double(count).squareRoot()))
        median = Self.median(values)
        lead = values[(count - 3)...].reduce(0, +) / 3 - median
        leadError = scatter / 3.0.squareRoot()
    }

    /// Correlations of neighbours smaller than this are no more than 20 independent values may show.
    private static let chance = 0.35

    private static func inflation(_ correlation: Double) -> Double {
        let bounded = max(-0.4, min(0.85, correlation))
        return ((1 + bounded) / (1 - bounded)).squareRoot()
    }

    private static func slope(_ values: [Double]) -> Double {
        var slopes: [Double] = []
        slopes.reserveCapacity(values.count * (values.count - 1) / 2)
        for first in values.indices {
            for second in first + 1..<values.count {
                slopes.append((values[second] - values[first]) / Double(second - first))
            }
        }
        return median(slopes)
    }

    static func median(_ values: [Double]) -> Double {
        var values = values
        return values.withUnsafeMutableBufferPointer { values in
            let half = values.count / 2
            let upper = select(half, of: values)
            // What lies before the upper middle is no greater.
            return values.count % 2 == 1 ? upper : (values[..<half].reduce(-.infinity, max) + upper) / 2
        }
    }

    /// Moves the values so that the one at `place` is where sorting would put it, none before it greater and none after it
    /// smaller (Hoare's selection, 1961).
    private static func select(_ place: Int, of values: UnsafeMutableBufferPointer<Double>) -> Double {
        let base = values.baseAddress!
        var (first, last) = (0, values.count - 1)
        while first < last {
            let pivot = base[first + (last - first) / 2]
            var (low, high) = (first, last)
            while low <= high {
                while base[low] < pivot { low += 1 }
                while pivot < base[high] { high -= 1 }
                guard low <= high else { break }
                (base[low], base[high]) = (base[high], base[low])
                low += 1
                high -= 1
            }
            if place <= high {
                last = high
            } else if place >= low {
                first = low
            } else {
                break
            }
        }
        return base[place]
    }
}
