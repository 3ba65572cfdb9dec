/// One worker's measurements. Only the worker's thread records; what others may see it hands over, when it was asked, at its
/// next tick: total latencies by interval, so that nothing is copied.
///
/// Cost a push: three histogram records of 22 instructions (open loop: seven) and a few counters; no allocation, no lock.
public final class Recorder {
    /// One a stage that is recorded, by `Stage.rawValue`. Behind a pointer, so that recording needs no exclusivity check.
    private let histograms: UnsafeMutablePointer<LatencyHistogram>
    /// Times not yet in their histograms: recorded together, they find the histogram's counters in the cache.
    private let staged: UnsafeMutablePointer<UInt64>
    private let stagedCounts: UnsafeMutablePointer<Int>
    private static let stagedMost = 256
    /// How late the loop came: after all stages. Stored, as asking for a static property is a call each time.
    private let lagPlace = Stage.recorded.count
    /// Where the accepted pushes' totals are staged.
    private let acceptedPlace = Stage.recorded.count + 1
    private var histogramCount: Int { lagPlace + 1 }
    private var placeCount: Int { acceptedPlace + 1 }
    private let tally: UnsafeMutablePointer<PushCounts>
    /// Since they were last handed over.
    private let interval: UnsafeMutablePointer<TotalLatencies>
    /// By failure cause; the caller's numbering.
    private let failureCounts: UnsafeMutablePointer<UInt64>
    /// Of pushes never begun, likewise.
    private let notSentCounts: UnsafeMutablePointer<UInt64>
    private let causes: Int
    /// By HTTP status.
    private let statusCounts: UnsafeMutablePointer<UInt64>
    private static let statusLimit = 1000
    /// At most `reasonLimit` different ones; the rest count as `otherReason`.
    public private(set) var rejections: [Rejection: UInt64] = [:]

    /// Most rejections told apart: Apple names 31 reasons.
    public static let reasonLimit = 64
    public static let otherReason = "(other)"

    /// - Parameter causes: how many failure causes there are.
    public init(causes: Int) {
        self.causes = causes
        let histogramCount = Stage.recorded.count + 1
        let placeCount = histogramCount + 1
        histograms = .allocate(capacity: histogramCount)
        for index in 0..<histogramCount { (histograms + index).initialize(to: LatencyHistogram()) }
        staged = .allocate(capacity: placeCount * Self.stagedMost)
        stagedCounts = .allocate(capacity: placeCount)
        stagedCounts.initialize(repeating: 0, count: placeCount)
        interval = .allocate(capacity: 1)
        interval.initialize(to: TotalLatencies())
        tally = .allocate(capacity: 1)
        tally.initialize(to: PushCounts())
        failureCounts = .allocate(capacity: max(causes, 1))
        failureCounts.initialize(repeating: 0, count: max(causes, 1))
        notSentCounts = .allocate(capacity: max(causes, 1))
        notSentCounts.initialize(repeating: 0, count: max(causes, 1))
        statusCounts = .allocate(capacity: Self.statusLimit)
        statusCounts.initialize(repeating: 0, count: Self.statusLimit)
    }

    deinit {
        histograms.deinitialize(count: histogramCount)
        histograms.deallocate()
        staged.deallocate()
        stagedCounts.deallocate()
        tally.deallocate()
        interval.deinitialize(count: 1)
        interval.deallocate()
        failureCounts.deallocate()
        notSentCounts.deallocate()
        statusCounts.deallocate()
    }

    public var counts: PushCounts { tally.pointee }
    public var failures: [UInt64] { Array(UnsafeBufferPointer(start: failureCounts, count: causes)) }
    public var notSent: [UInt64] { Array(UnsafeBufferPointer(start: notSentCounts, count: causes)) }
    /// The same without memory of its own where `counts` has it already; by the recording thread.
    public func copyFailures(to counts: inout [UInt64]) { copy(failureCounts, to: &counts) }
    public func copyNotSent(to counts: inout [UInt64]) { copy(notSentCounts, to: &counts) }

    private func copy(_ source: UnsafeMutablePointer<UInt64>, to counts: inout [UInt64]) {
        if counts.count != causes { counts = [UInt64](repeating: 0, count: causes) }
        for index in 0..<causes { counts[index] = source[index] }
    }

    public var statuses: [UInt64] { Array(UnsafeBufferPointer(start: statusCounts, count: Self.statusLimit)) }
    /// Everything recorded so far of one of `Stage.recorded`; by the recording thread, or when it has ended.
    public subscript(stage: Stage) -> LatencyHistogram {
        empty(stage.rawValue)
        return histograms[stage.rawValue]
    }
    /// How late the loop was, likewise.
    public var loopLag: LatencyHistogram {
        empty(lagPlace)
        return histograms[lagPlace]
    }

    /// Exchanges the total latencies since the last call for others, which are empty; by the recording thread, or when it has
    /// ended.
    public func handOver(_ totals: inout TotalLatencies) {
        emptyAccepted()
        swap(&interval.pointee, &totals)
    }

    @inline(__always)
    private func stage(_ place: Int, _ nanoseconds: UInt64) -> Bool {
        let count = stagedCounts[place]
        staged[place &* Self.stagedMost &+ count] = nanoseconds
        stagedCounts[place] = count &+ 1
        return count &+ 1 == Self.stagedMost
    }

    @inline(__always)
    private func record(_ stage: Stage, _ nanoseconds: UInt64) {
        if self.stage(stage.rawValue, nanoseconds) { empty(stage.rawValue) }
    }

    /// Moves a stage's times into its histogram.
    private func empty(_ place: Int) {
        let times = staged + place &* Self.stagedMost
        histograms[place].record(UnsafeBufferPointer(start: times, count: stagedCounts[place]))
        stagedCounts[place] = 0
    }

    private func emptyAccepted() {
        let place = acceptedPlace
        let times = staged + place &* Self.stagedMost
        interval.pointee.accepted(UnsafeBufferPointer(start: times, count: stagedCounts[place]))
        stagedCounts[place] = 0
    }

    public func take() { tally.pointee.taken &+= 1 }

    /// Open loop: how late a push was taken that could have been on time.
    public func lagged(_ time: UInt64) { if stage(lagPlace, time) { empty(lagPlace) } }

    public func signed(_ time: UInt64) { record(.sign, time) }
    public func encoded(_ time: UInt64) { record(.encode, time) }

    /// An attempt was handed to the kernel completely.
    public func sent() { tally.pointee.sent &+= 1 }

    /// The attempt was of a push that had been handed to the kernel before.
    public func sentAgain() { tally.pointee.sentAgain &+= 1 }

    /// A measured push whose last attempt was handed to the kernel has ended.
    public func queued(_ time: UInt64) { record(.queue, time) }
    /// Open loop: the two parts of `queued`.
    public func wrote(late: UInt64, write: UInt64) {
        record(.late, late)
        record(.write, write)
    }

    /// A measured push that was handed to the kernel has its answer.
    public func travelled(roundTrip time: UInt64) { record(.roundTrip, time) }
    public func served(_ time: UInt64) { record(.service, time) }

    /// - Parameters:
    ///   - time: from the intended send time to the answer.
    ///   - isMeasured: not of the warm-up.
    @inline(__always)
    public func accepted(total time: UInt64, isMeasured: Bool) {
        tally.pointee.accepted &+= 1
        statusCounts[200] &+= 1
        if isMeasured {
            tally.pointee.measured &+= 1
            if stage(acceptedPlace, time) { emptyAccepted() }
        } else {
            interval.pointee.warmup(time)
        }
    }

    public func rejected(status: Int, reason: UnsafeBufferPointer<UInt8>, total time: UInt64, isMeasured: Bool) {
        tally.pointee.rejected &+= 1
        statusCounts[min(max(status, 0), Self.statusLimit - 1)] &+= 1
        let rejection = Rejection(status: status, reason: String(decoding: reason, as: UTF8.self))
        if let place = rejections.index(forKey: rejection) {
            rejections.values[place] += 1
        } else if rejections.count < Self.reasonLimit {
            rejections[rejection] = 1
        } else {
            rejections[Rejection(status: status, reason: Self.otherReason), default: 0] += 1
        }
        if isMeasured {
            tally.pointee.measured &+= 1
            interval.pointee.rejected(time)
        } else {
            interval.pointee.warmup(time)
        }
    }

    /// A push that was begun has no answer.
    public func failed(cause: Int) {
        tally.pointee.failed &+= 1
        failureCounts[cause] &+= 1
    }

    /// Pushes that will never be begun.
    public func notSent(_ count: UInt64, cause: Int) {
        tally.pointee.taken &+= count
        tally.pointee.notSent &+= count
        notSentCounts[cause] &+= count
    }

    /// Measured pushes that were due and have no answer.
    ///
    /// - Parameter time: from the intended send time to their being given up.
    public func unanswered(after time: UInt64, count: UInt64 = 1) { interval.pointee.unanswered(time, count: count) }

    public func retried() { tally.pointee.retried &+= 1 }
}

/// What an answer that rejects a push says.
public struct Rejection: Hashable, Sendable {
    /// Of HTTP.
    public let status: Int
    /// The `reason` of its body; empty if there is none.
    public let reason: String

    public init(status: Int, reason: String) {
        self.status = status
        self.reason = reason
    }
}

/// What several workers measured, added up.
public struct MergedMeasurements: Sendable {
    public private(set) var counts = PushCounts()
    public private(set) var histograms = [LatencyHistogram](repeating: .empty, count: Stage.recorded.count)
    public private(set) var failures: [UInt64]
    public private(set) var notSent: [UInt64]
    /// Of the whole run.
    public private(set) var totals = TotalLatencies()
    public private(set) var statuses = [UInt64](repeating: 0, count: 1000)
    public private(set) var rejections: [Rejection: UInt64] = [:]

    public init(causes: Int) {
        failures = [UInt64](repeating: 0, count: causes)
        notSent = failures
    }

    /// Adds what a worker has measured, all but the total latencies, which it hands over.
    public mutating func add(_ recorder: Recorder) {
        counts.add(recorder.counts)
        for stage in Stage.recorded { histograms[stage.rawValue].add(recorder[stage]) }
        for (index, count) in recorder.failures.enumerated() { failures[index] += count }
        for (index, count) in recorder.notSent.enumerated() { notSent[index] += count }
        for (index, count) in recorder.statuses.enumerated() { statuses[index] += count }
        for (rejection, count) in recorder.rejections { rejections[rejection, default: 0] += count }
    }

    /// Adds what workers handed over.
    public mutating func add(_ handedOver: TotalLatencies) { totals.add(handedOver) }

    /// What workers show of their counts while they run; by cause, or empty while there are none.
    public mutating func add(_ shown: PushCounts, failures: [UInt64] = [], notSent: [UInt64] = []) {
        counts.add(shown)
        for (index, count) in failures.enumerated() { self.failures[index] += count }
        for (index, count) in notSent.enumerated() { self.notSent[index] += count }
    }

    /// Measured pushes that are due and have no answer, without knowing how long each has waited.
    public mutating func addUnanswered(_ count: UInt64) { if count > 0 { totals.unanswered(1, count: count) } }

    /// Pushes that were begun and whose answers nobody waits for.
    public mutating func addFailed(_ count: UInt64, cause: Int) {
        counts.failed += count
        failures[cause] += count
    }

    /// Pushes that were never taken from the plan.
    public mutating func addNotSent(_ count: UInt64, cause: Int) {
        counts.notSent += count
        notSent[cause] += count
    }

    public subscript(stage: Stage) -> LatencyHistogram { histograms[stage.rawValue] }
}
