import Payloads
import Synchronization

/// One worker's counters: written by the worker alone, readable by any thread. They share no cache line with anything else, such as
/// another worker's counters, which would cost either a push some 100 ns.
final class MockStatistics: Sendable {
    private let linesBefore = InlineArray<16, UInt64>(repeating: 0)
    let requests = Atomic<UInt64>(0)
    let accepted = Atomic<UInt64>(0)
    /// Given to their devices without the delivery desk, which had nothing to do.
    let deliveredAtOnce = Atomic<UInt64>(0)
    /// Never answered, or answered by RST_STREAM, by a fault rule.
    let silenced = Atomic<UInt64>(0)
    let reset = Atomic<UInt64>(0)
    /// Neither handled nor answered, by a fault rule: GOAWAY named a lower stream, or the connection was closed.
    let unhandled = Atomic<UInt64>(0)
    /// The stream or connection ended while the answer waited, by a fault rule.
    let abandoned = Atomic<UInt64>(0)
    /// Channel management and broadcasts, which `requests` does not count.
    let channelRequests = Atomic<UInt64>(0)
    /// Of these, by a fault rule answered by hand, and not as done, or not at all.
    let channelScripted = Atomic<UInt64>(0)
    let connectionsAccepted = Atomic<UInt64>(0)
    let connectionsOpen = Atomic<UInt64>(0)
    let handshakesFailed = Atomic<UInt64>(0)
    /// CPU time of all handshakes, ns.
    let handshakeTime = Atomic<UInt64>(0)
    /// Accepted pushes without a trace tag, or of a run too many.
    let untracked = Atomic<UInt64>(0)
    let answerTimes = AnswerTimes()
    let bounds = BoundCounts()
    private let reasons = OwnCounters(count: Reason.allCases.count)
    fileprivate let channelReasons = OwnCounters(count: Reason.allCases.count)
    private let pushTypes = OwnCounters(count: PushType.allCases.count)
    /// By status: what rules answered other than 200 and without a reason.
    private let rawStatuses = OwnCounters(count: RawAnswer.statuses.upperBound + 1)
    private let linesAfter = InlineArray<16, UInt64>(repeating: 0)

    func count(_ reason: Reason) { reasons.add(1, at: reason.rawValue) }
    func value(_ reason: Reason) -> UInt64 { reasons.value(at: reason.rawValue) }
    /// Of a channel request or broadcast.
    func count(channel reason: Reason) { channelReasons.add(1, at: reason.rawValue) }
    /// An accepted push of this type.
    func count(_ type: PushType) { pushTypes.add(1, at: type.number) }
    func value(_ type: PushType) -> UInt64 { pushTypes.value(at: type.number) }

    /// A push that a fault rule answered itself.
    func count(rawStatus status: Int) { rawStatuses.add(1, at: status) }
    func value(rawStatus status: Int) -> UInt64 { rawStatuses.value(at: status) }

    /// Only the owner writes, so a plain load and store is enough.
    @inline(__always)
    static func increment(_ counter: borrowing Atomic<UInt64>) { add(1, to: counter) }

    @inline(__always)
    static func add(_ amount: UInt64, to counter: borrowing Atomic<UInt64>) {
        counter.store(counter.load(ordering: .relaxed) &+ amount, ordering: .relaxed)
    }

    /// Begins anew; connections stay what they are. By the owner.
    func restart() {
        reasons.restart()
        channelReasons.restart()
        pushTypes.restart()
        rawStatuses.restart()
        requests.store(0, ordering: .relaxed)
        accepted.store(0, ordering: .relaxed)
        deliveredAtOnce.store(0, ordering: .relaxed)
        silenced.store(0, ordering: .relaxed)
        reset.store(0, ordering: .relaxed)
        unhandled.store(0, ordering: .relaxed)
        abandoned.store(0, ordering: .relaxed)
        channelRequests.store(0, ordering: .relaxed)
        channelScripted.store(0, ordering: .relaxed)
        untracked.store(0, ordering: .relaxed)
        bounds.restart()
        answerTimes.restart()
    }
}

/// All workers' counts at one moment. requests = accepted + rejected + silenced + reset + scripted + unhandled +
/// abandoned + those whose answer is due later.
public struct MockCounts: Sendable, Equatable {
    public var requests: UInt64 = 0
    public var accepted: UInt64 = 0
    public var rejected: UInt64 = 0
    /// By a fault rule never answered, though delivered.
    public var silenced: UInt64 = 0
    /// By a fault rule answered with RST_STREAM.
    public var reset: UInt64 = 0
    /// Answered as a fault rule says itself, other than with 200.
    public var scripted: UInt64 = 0
    /// By status; only those that happened.
    public var scriptedStatuses: [Int: UInt64] = [:]
    /// By a fault rule neither handled nor answered.
    public var unhandled: UInt64 = 0
    /// The stream or connection ended while the answer waited, by a fault rule.
    public var abandoned: UInt64 = 0
    /// By Apple's name; only those that happened.
    public var reasons: [String: UInt64] = [:]
    /// Accepted, by `apns-push-type`; only those that happened.
    public var pushTypes: [String: UInt64] = [:]
    public var channelRequests: UInt64 = 0
    /// Of these, by a fault rule answered by hand, and not as done, or not at all.
    public var channelScripted: UInt64 = 0
    /// Why channel requests and broadcasts were rejected; only reasons that happened.
    public var channelReasons: [String: UInt64] = [:]
    public var connectionsAccepted: UInt64 = 0
    public var connectionsOpen: UInt64 = 0
    public var handshakesFailed: UInt64 = 0
    /// CPU time of all handshakes, ns.
    public var handshakeTime: UInt64 = 0
    var answerTimes = AnswerTimes.Counts()
    /// Accepted pushes without a trace tag, or of a run too many.
    public var untracked: UInt64 = 0
    public var bounds = BoundFigures()

    mutating func add(_ statistics: MockStatistics) {
        requests += statistics.requests.load(ordering: .relaxed)
        accepted += statistics.accepted.load(ordering: .relaxed)
        silenced += statistics.silenced.load(ordering: .relaxed)
        reset += statistics.reset.load(ordering: .relaxed)
        unhandled += statistics.unhandled.load(ordering: .relaxed)
        abandoned += statistics.abandoned.load(ordering: .relaxed)
        channelRequests += statistics.channelRequests.load(ordering: .relaxed)
        channelScripted += statistics.channelScripted.load(ordering: .relaxed)
        connectionsAccepted += statistics.connectionsAccepted.load(ordering: .relaxed)
        connectionsOpen += statistics.connectionsOpen.load(ordering: .relaxed)
        handshakesFailed += statistics.handshakesFailed.load(ordering: .relaxed)
        handshakeTime += statistics.handshakeTime.load(ordering: .relaxed)
        untracked += statistics.untracked.load(ordering: .relaxed)
        answerTimes.add(statistics.answerTimes)
        bounds.add(statistics.bounds)
        for reason in Reason.allCases {
            let count = statistics.value(reason)
            if count > 0 {
                reasons[reason.name, default: 0] += count
                rejected += count
            }
            let channels = statistics.channelReasons.value(at: reason.rawValue)
            if channels > 0 { channelReasons[reason.name, default: 0] += channels }
        }
        for status in RawAnswer.statuses {
            let count = statistics.value(rawStatus: status)
            if count > 0 {
                scriptedStatuses[status, default: 0] += count
                scripted += count
            }
        }
        for type in PushType.allCases {
            let count = statistics.value(type)
            if count > 0 { pushTypes[type.rawValue, default: 0] += count }
        }
    }
}

extension PushType {
    /// Its place among all types.
    var number: Int {
        switch self {
        case .alert: 0
        case .background: 1
        case .location: 2
        case .voip: 3
        case .complication: 4
        case .fileprovider: 5
        case .mdm: 6
        case .liveactivity: 7
        case .pushtotalk: 8
        case .widgets: 9
        case .controls: 10
        }
    }
}
