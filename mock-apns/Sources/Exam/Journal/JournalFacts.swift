/// What a journal says of pushes.
extension Journal {
    /// All requests for a device, the first first.
    package func tries(_ device: String) -> [PushRecord] {
        pushes.filter { $0.device == device }.sorted { $0.begunAt < $1.begunAt }
    }

    /// When the last request of each kind, such as those for one device, was begun.
    func lastTries(by kind: (PushRecord) -> String) -> [String: UInt64] {
        pushes.reduce(into: [:]) { $0[kind($1)] = max($0[kind($1)] ?? 0, $1.begunAt) }
    }

    /// How often a push was accepted, heard of by the client or not.
    func acceptances(_ device: String) -> Int {
        pushes.count { $0.device == device && ($0.fate == .accepted || $0.fate == .acceptedUnheard) }
    }

    /// Most requests that waited for their fate at once, on all connections together.
    var mostUnderWay: Int {
        var changes = pushes.map { (at: $0.begunAt, by: 1) }
        changes += pushes.compactMap { push in push.endedAt.map { (at: $0, by: -1) } }
        changes.sort { ($0.at, $0.by) < ($1.at, $1.by) }
        var (open, most) = (0, 0)
        for change in changes {
            open += change.by
            most = max(most, open)
        }
        return most
    }

    /// Most requests for one device that were begun within `span` ns.
    func mostTries(within span: UInt64) -> Int {
        devices.map { device in Self.most(of: tries(device).map(\.begunAt), within: span) }.max() ?? 0
    }

    /// Most of some moments, in order, that lie within `span` ns.
    static func most(of moments: [UInt64], within span: UInt64) -> Int {
        var (first, most) = (0, 0)
        for (place, moment) in moments.enumerated() {
            while moment - moments[first] >= span { first += 1 }
            most = max(most, place - first + 1)
        }
        return most
    }

    /// Of pushes whose fate was one of those meant: from then until the client sent them again, ns.
    func pauses(after isMeant: (PushFate) -> Bool) -> [UInt64] {
        devices.flatMap { device in
            let tries = tries(device)
            return zip(tries, tries.dropFirst()).compactMap { former, later -> UInt64? in
                guard isMeant(former.fate), let ended = former.endedAt else { return nil }
                return later.begunAt > ended ? later.begunAt - ended : 0
            }
        }
    }
}

extension PushFate {
    /// The HTTP status of an error; nil for any other fate.
    var errorStatus: Int? {
        if case .rejected(let status, _) = self { status } else { nil }
    }

    var reason: String? {
        if case .rejected(_, let reason) = self { reason } else { nil }
    }

    /// In a few words, of a push that never arrived.
    var words: String {
        switch self {
        case .waiting: "not answered"
        case .accepted: "accepted"
        case .acceptedUnheard: "accepted unheard"
        case .rejected(let status, let reason): "answered \(status) \(reason)"
        case .refused: "refused unprocessed"
        case .unanswered: "on a connection that ended"
        case .cancelled: "reset by the client"
        }
    }
}
