/// Cuts a run into blocks of equal length while it goes on: a bounded number, of which neighbours are merged in pairs when there
/// are so many, so that each is twice as long from then on.
///
/// Memory: two histograms, and at most `most` blocks.
public struct LatencyBlocks: Sendable {
    /// There are never so many for long: half of that to that, once there were so many.
    public static let most = 64
    /// How long a block is at first, nanoseconds.
    public static let shortest: UInt64 = 50_000_000

    public private(set) var blocks: [LatencyBlock] = []
    /// Length of a block, nanoseconds.
    public private(set) var width = Self.shortest
    /// The block that is open: its begin and its end, nanoseconds since the run's start; nil before the first measured push.
    private var open: (from: UInt64, end: UInt64)?
    private var latencies = LatencyHistogram()
    private var unanswered: UInt64 = 0

    public init() {}

    /// Adds what ended since the last call: of measured pushes.
    public mutating func add(_ totals: TotalLatencies) {
        latencies.add(totals.accepted)
        if let rejected = totals.rejected { latencies.add(rejected) }
        unanswered &+= totals.unanswered?.count ?? 0
    }

    /// Everything until `time` has been added.
    ///
    /// - Parameters:
    ///   - time: nanoseconds since the start; never less than before.
    ///   - begin: from when on pushes are measured, nanoseconds since the start; looked at when the first one has ended.
    public mutating func look(at time: UInt64, begin: UInt64) {
        if open == nil {
            guard latencies.count > 0 || unanswered > 0 else { return }
            let from = min(begin, time)
            open = (from, from + width)
        }
        guard let now = open, time >= now.end else { return }
        close(from: now.from, to: time)
        // The grid stays: a look that came late makes one block longer, not all that follow.
        let passed = (time - now.end) / width
        open = (time, now.end + (passed + 1) * width)
    }

    /// Nothing more comes: what is left of less than half a block goes to the one before, and so does all that ended after the span.
    ///
    /// - Parameters:
    ///   - time: the end, nanoseconds since the start.
    ///   - begin, end: of the measured span, likewise.
    public mutating func finish(at time: UInt64, begin: UInt64, end: UInt64) {
        let from = open?.from ?? min(begin, time)
        open = nil
        if latencies.count > 0 || unanswered > 0 { close(from: from, to: max(from, min(time, end))) }
        // Whatever was waited for after the span belongs to what was sent in it.
        let last = Double(min(time, end)) / 1e9
        while blocks.count > 1, let final = blocks.last,
            min(final.to, last) - final.from < Double(width) / 2e9
        {
            blocks.removeLast()
            blocks[blocks.count - 1].merge(final)
        }
    }

    private mutating func close(from: UInt64, to: UInt64) {
        blocks.append(
            LatencyBlock(from: Double(from) / 1e9, to: Double(to) / 1e9, latencies, unanswered: unanswered))
        latencies.removeAll()
        unanswered = 0
        if blocks.count == Self.most {
            blocks = LatencyBlock.paired(blocks)
            width *= 2
        }
    }
}
