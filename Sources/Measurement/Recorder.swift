/// One worker's measurements. Only the worker's thread records; another thread reads snapshots.
///
/// Cost a push: four histogram records of about 3 ns (open loop: seven) and a few counters; no allocation, no lock. A
/// snapshot is taken when it was asked for, at the worker's next tick.
public final class Recorder {
    /// One a stage, by `Stage.rawValue`. Behind a pointer, so that recording needs no exclusivity check.
    private let histograms: UnsafeMutablePointer<LatencyHistogram>
    /// Times not yet in their histograms: recorded together, they find the histogram's counters in the cache.
    private let staged: UnsafeMutablePointer<UInt64>
    private let stagedCounts: UnsafeMutablePointer<Int>
    private static let stagedMost = 256
    private let tally: UnsafeMutablePointer<PushCounts>
    /// By failure cause; the caller's numbering.
    private let failureCounts: UnsafeMutablePointer<UInt64>
    private let causes: Int
    /// By HTTP status.
    private let statusCounts: UnsafeMutablePointer<UInt64>
    private static let statusLimit = 1000
    /// By reason text, at most `reasonLimit` different ones; the rest count as `otherReason`.
    public private(set) var reasons: [String: UInt64] = [:]

    /// Most reasons told apart: Apple names 31.
    public static let reasonLimit = 64
    public static let otherReason = "(other)"
    public static let noReason = "(none)"

    /// - Parameter causes: how many failure causes there are.
    public init(causes: Int) {
        self.causes = causes
        histograms = .allocate(capacity: Stage.allCases.count)
        for index in 0..<Stage.allCases.count { (histograms + index).initialize(to: LatencyHistogram()) }
        staged = .allocate(capacity: Stage.allCases.count * Self.stagedMost)
        stagedCounts = .allocate(capacity: Stage.allCases.count)
        stagedCounts.initialize(repeating: 0, count: Stage.allCases.count)
        tally = .allocate(capacity: 1)
        tally.initialize(to: PushCounts())
        failureCounts = .allocate(capacity: max(causes, 1))
        failureCounts.initialize(repeating: 0, count: max(causes, 1))
        statusCounts = .allocate(capacity: Self.statusLimit)
        statusCounts.initialize(repeating: 0, count: Self.statusLimit)
    }

    deinit {
        histograms.deinitialize(count: Stage.allCases.count)
        histograms.deallocate()
        staged.deallocate()
        stagedCounts.deallocate()
        tally.deallocate()
        failureCounts.deallocate()
        statusCounts.deallocate()
    }

    public var counts: PushCounts { tally.pointee }
    public var failures: [UInt64] { Array(UnsafeBufferPointer(start: failureCounts, count: causes)) }
    public var statuses: [UInt64] { Array(UnsafeBufferPointer(start: statusCounts, count: Self.statusLimit)) }
    /// Everything recorded so far; by the recording thread, or when it has ended.
    public subscript(stage: Stage) -> LatencyHistogram {
        empty(stage.rawValue)
        return histograms[stage.rawValue]
    }

    @inline(__always)
    private func record(_ stage: Stage, _ nanoseconds: UInt64) {
        let place = stage.rawValue
        let count = stagedCounts[place]
        staged[place &* Self.stagedMost &+ count] = nanoseconds
        stagedCounts[place] = count &+ 1
        if count &+ 1 == Self.stagedMost { empty(place) }
    }

    /// Moves a stage's times into its histogram.
    private func empty(_ place: Int) {
        let times = staged + place &* Self.stagedMost
        for index in 0..<stagedCounts[place] { histograms[place].record(times[index]) }
        stagedCounts[place] = 0
    }

    public func take() { tally.pointee.taken &+= 1 }

    public func signed(_ time: UInt64) { record(.sign, time) }
    public func encoded(_ time: UInt64) { record(.encode, time) }

    /// A push was handed to the kernel completely.
    public func sent() { tally.pointee.sent &+= 1 }
    public func queued(_ time: UInt64) { record(.queue, time) }
    /// Open loop: the two parts of `queued`.
    public func wrote(late: UInt64, write: UInt64) {
        record(.late, late)
        record(.write, write)
    }

    /// An answer that is measured.
    public func answered(roundTrip trip: UInt64, total time: UInt64) {
        tally.pointee.measured &+= 1
        record(.roundTrip, trip)
        record(.total, time)
    }

    public func served(_ time: UInt64) { record(.service, time) }

    public func accepted() {
        tally.pointee.accepted &+= 1
        statusCounts[200] &+= 1
    }

    public func rejected(status: Int, reason: UnsafeBufferPointer<UInt8>) {
        tally.pointee.rejected &+= 1
        statusCounts[min(max(status, 0), Self.statusLimit - 1)] &+= 1
        let name = reason.isEmpty ? Self.noReason : String(decoding: reason, as: UTF8.self)
        if reasons[name] != nil || reasons.count < Self.reasonLimit {
            reasons[name, default: 0] += 1
        } else {
            reasons[Self.otherReason, default: 0] += 1
        }
    }

    public func failed(cause: Int) {
        tally.pointee.failed &+= 1
        failureCounts[cause] &+= 1
    }

    /// Pushes that came due while too many waited: taken from the plan and never sent.
    public func overflowed(_ count: UInt64, cause: Int) {
        tally.pointee.taken &+= count
        tally.pointee.failed &+= count
        failureCounts[cause] &+= count
    }

    public func retried() { tally.pointee.retried &+= 1 }
}

/// What several workers measured, added up.
public struct MergedMeasurements: Sendable {
    public private(set) var counts = PushCounts()
    public private(set) var histograms: [LatencyHistogram] = Stage.allCases.map { _ in LatencyHistogram() }
    public private(set) var failures: [UInt64]
    public private(set) var statuses = [UInt64](repeating: 0, count: 1000)
    public private(set) var reasons: [String: UInt64] = [:]

    public init(causes: Int) { failures = [UInt64](repeating: 0, count: causes) }

    public mutating func add(_ recorder: Recorder) {
        counts.add(recorder.counts)
        for stage in Stage.allCases { histograms[stage.rawValue].add(recorder[stage]) }
        for (index, count) in recorder.failures.enumerated() { failures[index] += count }
        for (index, count) in recorder.statuses.enumerated() { statuses[index] += count }
        for (name, count) in recorder.reasons { reasons[name, default: 0] += count }
    }

    /// Pushes that were never taken from the plan fail with `cause`.
    public mutating func addFailures(_ count: UInt64, cause: Int) {
        counts.failed += count
        failures[cause] += count
    }

    public subscript(stage: Stage) -> LatencyHistogram { histograms[stage.rawValue] }
}
