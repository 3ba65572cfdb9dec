import Measurement

/// What became of the accepted pushes of a run, each once, and when: the mock's device log beside the intended send times.
struct DeviceOutcomes: Sendable {
    private(set) var counts: [String: UInt64] = [:]
    /// From the intended send time, ns.
    private(set) var screen = CensoredHistogram()
    private(set) var content = CensoredHistogram()
    /// Pushes that devices had, and the client no acceptance of.
    private(set) var beyondAccepted: UInt64 = 0
    /// Until when it is known of each push with content whether it had it, ns from its intended send time; nil: to the end.
    private(set) var contentKnown: UInt64?

    /// That of which the mock said nothing.
    static let unknown = "unknown"
    /// Outcomes of what is seen.
    private static let presented: Set = ["banner", "lock_screen", "centre", "in_app"]
    /// Outcomes of what is not seen yet, or never will be, though it was to be.
    private static let unseen: Set = [
        "stored", "throttled", "extending", "fetching", "pending", "fetch_failed", "replaced", "expired", "not_stored",
    ]

    /// Where there is no log: of `accepted` pushes nothing is known.
    init(unknown accepted: UInt64 = 0) { counts = accepted > 0 ? [Self.unknown: accepted] : [:] }

    /// Reads the log as far as it goes.
    ///
    /// - Parameters:
    ///   - accepted: pushes that the client knows to be.
    ///   - due: when each of them was due.
    ///   - end: until when was looked, ns of the monotonic clock.
    ///   - shows, hasContent: whether a push is meant to be seen, and to bring content, by its sequence number.
    /// - Returns: why it is not whole, one line; nil: it is.
    mutating func read(
        _ path: String, run: UInt64, accepted: UInt64, due: IntendedTimes, end: UInt64,
        shows: (UInt64) -> Bool, hasContent: (UInt64) -> Bool
    ) -> String? {
        var names: [String] = []
        var byCode: [UInt64] = []
        // By sequence: 1: its outcome is known; 2: what became of its content.
        var known: [UInt8] = []
        func isFirst(_ sequence: UInt64, _ bit: UInt8) -> Bool {
            let place = Int(sequence)
            if place >= known.count { known += [UInt8](repeating: 0, count: max(4096, place + 1)) }
            defer { known[place] |= bit }
            return known[place] & bit == 0
        }
        var problem: String?
        do throws(DeviceLog.Failure) {
            try DeviceLogFile.read(
                path, run: run,
                names: {
                    names = $0
                    byCode = [UInt64](repeating: 0, count: $0.count)
                }
            ) { sequence, event, time in
                guard let (intended, isMeasured) = due.due(sequence) else {
                    if case .outcome = event { beyondAccepted += 1 }
                    return
                }
                // What is still under way was waited for until the end.
                let moment = time == 0 ? end : time
                let after = moment > intended ? moment - intended : 1
                switch event {
                case .outcome(let code):
                    // One that was accepted twice counts as it ended first.
                    guard isFirst(sequence, 1) else { return }
                    byCode[code] += 1
                    guard isMeasured else { return }
                    if Self.presented.contains(names[code]) {
                        screen.answered.record(after)
                    } else if Self.unseen.contains(names[code]), shows(sequence) {
                        screen.unanswered.record(after)
                    }
                case .content: if isFirst(sequence, 2), isMeasured { content.answered.record(after) }
                case .noContent:
                    guard isFirst(sequence, 2), isMeasured else { return }
                    content.unanswered.record(after)
                    if time == 0 { contentKnown = min(contentKnown ?? .max, after) }
                }
            }
        } catch {
            problem = error.description
        }
        counts = Dictionary(uniqueKeysWithValues: zip(names, byCode).filter { $0.1 > 0 })
        let told = byCode.reduce(0, +)
        if told < accepted {
            counts[Self.unknown] = accepted - told
            censor(accepted - told, due, end, shows, hasContent) { isFirst($0, $1) }
        }
        return problem
    }

    /// Of pushes whose outcome is not known nobody can say that they were seen, or had their content.
    private mutating func censor(
        _ count: UInt64, _ due: IntendedTimes, _ end: UInt64, _ shows: (UInt64) -> Bool,
        _ hasContent: (UInt64) -> Bool, _ isFirst: (UInt64, UInt8) -> Bool
    ) {
        var (left, sequence) = (count, UInt64(0))
        while left > 0, sequence < due.capacity {
            defer { sequence += 1 }
            guard let (intended, isMeasured) = due.due(sequence), isFirst(sequence, 1) else { continue }
            left -= 1
            guard isMeasured else { continue }
            let after = end > intended ? end - intended : 1
            if shows(sequence) { screen.unanswered.record(after) }
            if hasContent(sequence), isFirst(sequence, 2) {
                content.unanswered.record(after)
                contentKnown = 0
            }
        }
    }
}
