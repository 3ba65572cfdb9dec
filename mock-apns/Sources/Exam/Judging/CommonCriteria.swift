import Settings

/// What is judged in many situations.
extension Criterion {
    private static let second: UInt64 = 1_000_000_000

    /// There is something to judge.
    static func came(_ situation: String) -> Criterion {
        Criterion(id: situation + ".came", .must, "comes with pushes", source: Source.came) { journal in
            let devices = Set(journal.pushes.map(\.device))
            let come = journal.devices.count(where: devices.contains)
            return .of(come > 0, "\(come) of \(Units.counted(journal.devices.count, "push")) came")
        }
    }

    /// Every push was accepted in the end.
    ///
    /// - Parameter sparing: the situation's special devices may have been rejected.
    static func arrived(_ situation: String, _ weight: Weight = .must, source: String, sparing: Bool = false)
        -> Criterion
    {
        let who = sparing ? "every other push" : "every push"
        return Criterion(id: situation + ".arrived", weight, "\(who) is accepted in the end", source: source) {
            journal in
            let devices = journal.devices.filter { !sparing || !journal.special.contains($0) }
            let lost = devices.filter { journal.acceptances($0) == 0 }
            let count = "\(devices.count - lost.count) of \(Units.counted(devices.count, "push")) accepted"
            guard !lost.isEmpty else { return .passed(count) }
            var kinds: [(words: String, count: Int)] = []
            for device in lost {
                let words = journal.tries(device).last.map { "last \($0.fate.words)" } ?? "never sent"
                if let place = kinds.firstIndex(where: { $0.words == words }) {
                    kinds[place].count += 1
                } else {
                    kinds.append((words, 1))
                }
            }
            return .failed(count + "; lost: " + kinds.map { "\($0.count) \($0.words)" }.joined(separator: ", "))
        }
    }

    /// No push was accepted twice.
    static func once(_ situation: String, source: String = Source.own) -> Criterion {
        Criterion(situation + ".once", .must, "no push is accepted twice", source: source) { journal in
            let doubled = journal.devices.count { device in
                journal.pushes.count { $0.device == device && $0.fate == .accepted } > 1
            }
            return .of(doubled == 0, doubled == 0 ? "none doubled" : "\(Units.counted(doubled, "push")) doubled")
        }
    }

    /// Streams kept within the limit that was acknowledged.
    static func withinLimit(_ situation: String, source: String = Source.streamLimit) -> Criterion {
        Criterion(
            situation + ".limit", .must, "never more streams at once than the server allows", source: source
        ) { journal in
            guard journal.connections.contains(where: { $0.settingsAcknowledged > 0 }) else {
                return .notShown("no SETTINGS of the server's was acknowledged")
            }
            let beyond = journal.connections.reduce(0) { $0 + $1.beyondLimit }
            let most = journal.connections.map(\.mostOpen).max() ?? 0
            return .of(beyond == 0, "\(Units.counted(beyond, "stream")) beyond the limit, at most \(most) at once")
        }
    }

    /// More than one stream at once, on one connection or on several, where that is allowed.
    static func parallel(_ situation: String) -> Criterion {
        Criterion(
            situation + ".parallel", .should, "does not wait for each answer before it sends the next push",
            source: Source.manyStreams
        ) { journal in
            let most = max(journal.connections.map(\.mostOpen).max() ?? 0, journal.mostUnderWay)
            let many = journal.connections.count { $0.mostOpen > 0 }
            return .of(
                most > 1,
                "at most \(Units.counted(most, "stream")) at once on \(Units.counted(many, "connection"))")
        }
    }

    /// No push was tried again and again without a pause.
    static func calm(_ situation: String) -> Criterion {
        Criterion(situation + ".calm", .must, "does not hammer", source: Source.noHammer) { journal in
            let most = journal.mostTries(within: second)
            return .of(most <= 5, "at most \(Units.counted(most, "try")) of a push within a second")
        }
    }

    /// Connections that were opened after one was lost.
    static func noStorm(_ situation: String) -> Criterion {
        Criterion(
            id: situation + ".storm", .must, "opens at most 20 connections a second after a loss",
            source: Source.connections
        ) { journal in
            guard let loss = journal.connections.compactMap({ $0.cutAt ?? $0.closedAt }).min() else {
                return .notShown("no connection was lost")
            }
            let later = journal.connections.map(\.openedAt).filter { $0 >= loss }
            let most = Journal.most(of: later, within: second)
            return .of(most <= 20, "\(later.count) opened after the first loss, at most \(most) within a second")
        }
    }

    /// The client's command ended by itself.
    static func ended(_ situation: String) -> Criterion {
        Criterion(id: situation + ".ended", .must, "comes to an end by itself", source: Source.noHang) { journal in
            switch journal.clientEnd {
            case .unknown: .notShown("the client is not the exam's own command")
            case .exited(let status): .passed("ended with status \(status)")
            case .signaled(let number): .failed("ended by signal \(number)")
            case .killed:
                .failed("still running at the time limit, \(Units.duration(nanoseconds: Double(journal.duration)))")
            }
        }
    }

    /// A pause before a push that was answered `status` is sent again.
    static func pause(_ situation: String, after status: Int, _ text: String, source: String, least: UInt64)
        -> Criterion
    {
        Criterion(situation + ".pause", .should, text, source: source) { journal in
            let pauses = journal.pauses { $0.errorStatus == status }
            guard let shortest = pauses.min() else { return .notShown("none was sent again after its \(status)") }
            return .of(
                shortest >= least, "sent again after \(Units.duration(nanoseconds: Double(shortest))) at the soonest")
        }
    }

    /// Pushes that were answered with an error of the server's were sent again in the end.
    static func again(_ situation: String, after status: Int, source: String) -> Criterion {
        Criterion(
            situation + ".again", .should, "pushes answered \(status) are sent again, and accepted", source: source
        ) { journal in
            let meant = Set(journal.pushes.filter { $0.fate.errorStatus == status }.map(\.device))
            guard !meant.isEmpty else { return .notShown("no push was answered \(status)") }
            let given = meant.count { journal.acceptances($0) == 0 }
            return .of(given == 0, "\(meant.count - given) of \(meant.count) accepted later")
        }
    }
}
