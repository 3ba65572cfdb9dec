import Measurement

/// Rejections by status and reason, and as readers see them.
extension ResultDocument {
    /// Stands in `reasons` for answers without one.
    package static let noReason = "(none)"
    /// Stands in `expect_reasons` for answers without one.
    package static let expectedNoReason = "none"
    private static let withoutReason = "without a reason"

    /// Takes `rejections` and `reasons` from what was counted.
    package mutating func setRejections(_ counts: [Rejection: UInt64]) {
        var all: [String: UInt64] = [:]
        reasons = [:]
        for (rejection, count) in counts {
            let isNone = rejection.reason.isEmpty
            all["\(rejection.status) \(isNone ? Self.withoutReason : rejection.reason)", default: 0] += count
            reasons[isNone ? Self.noReason : rejection.reason, default: 0] += count
        }
        rejections = all
    }

    /// `reasons` for readers: answers without one are named by their status, `503 without a reason`.
    package var shownReasons: [String: UInt64] { Self.shown(named(rejections)) ?? reasons }

    /// Rejections that `expected` does not name, as `shownReasons` has them.
    ///
    /// - Parameter expected: reasons, statuses such as `503`, and `none` for answers without a reason.
    package func unexpectedRejections(_ expected: Set<String>) -> [String: UInt64] {
        guard let all = named(rejections) else {
            // A result of an older version, which has no statuses of them.
            return reasons.filter { !expected.contains($0.key == Self.noReason ? Self.expectedNoReason : $0.key) }
        }
        return Self.shown(
            all.filter { !expected.contains($0.status) && !expected.contains($0.reason ?? Self.expectedNoReason) })
            ?? [:]
    }

    /// Whether readers see this for answers without a reason.
    package static func isWithoutReason(_ shown: String) -> Bool {
        shown == noReason || shown.hasSuffix(" " + withoutReason)
    }

    private typealias Named = (status: String, reason: String?, count: UInt64)

    /// Each part of `rejections` by status and reason.
    private func named(_ rejections: [String: UInt64]?) -> [Named]? {
        rejections?.map { key, count in
            let status = key.prefix { $0 != " " }
            let reason = String(key.dropFirst(status.count + 1))
            return (String(status), reason == Self.withoutReason ? nil : reason, count)
        }
    }

    private static func shown(_ rejections: [Named]?) -> [String: UInt64]? {
        rejections?.reduce(into: [:]) { shown, rejection in
            shown[rejection.reason ?? "\(rejection.status) \(withoutReason)", default: 0] += rejection.count
        }
    }
}
