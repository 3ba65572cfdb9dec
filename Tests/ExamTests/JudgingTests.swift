import Testing

@testable import Exam

/// Every criterion has one journal that passes and one that fails.
@Suite struct JudgingTests {
    private struct Pair {
        let good: Journal
        let bad: Journal
    }

    private static let second = 1000 * Journal.millisecond

    private static func answeredFirst(_ status: Int, again: UInt64?) -> Journal {
        .good { journal in
            journal.pushes[3].fate = .rejected(status: status, reason: "Reason")
            if let again { journal.add(3, at: again) }
        }
    }

    private static func wait(_ status: Int, tooSoon: UInt64) -> Pair {
        Pair(good: answeredFirst(status, again: 3000), bad: answeredFirst(status, again: 32 + tooSoon))
    }

    private static func again(_ status: Int) -> Pair {
        Pair(good: answeredFirst(status, again: 3000), bad: answeredFirst(status, again: nil))
    }

    /// A lost connection, and so many opened after it.
    private static func lost(opened count: Int) -> Journal {
        .good { journal in
            journal.connections[0].closedAt = 100 * Journal.millisecond
            for place in 0..<count { journal.connect(at: 200 + UInt64(place)) }
        }
    }

    private static func goingAway(_ change: (inout Journal) -> Void = { _ in }) -> Journal {
        .good { journal in
            journal.connections[0].goAwayAt = 200 * Journal.millisecond
            journal.connections[0].goAwayKnownAt = 210 * Journal.millisecond
            change(&journal)
        }
    }

    private static func abandoned(again: Bool) -> Journal {
        goingAway { journal in
            journal.connections[0].isClosedByClient = true
            journal.pushes[19].fate = .unanswered
            if again {
                journal.connect(at: 300)
                journal.add(19, at: 310, connection: 1)
            }
        }
    }

    /// The fifth push and the next were on a connection that fell silent.
    private static func silent(_ change: (inout Journal) -> Void) -> Journal {
        .good { journal in
            journal.connections[0].silentFrom = 40 * Journal.millisecond
            journal.pushes[4].fate = .unanswered
            journal.pushes[5].fate = .unanswered
            journal.connect(at: 50)
            for place in 6..<20 { journal.pushes[place].connection = 1 }
            change(&journal)
        }
    }

    private static func cut(_ change: (inout Journal) -> Void) -> Journal {
        .good { journal in
            journal.connections[0].cutAt = 5 * Journal.millisecond
            journal.pushes[0].fate = .acceptedUnheard
            journal.connect(at: 6)
            for place in 1..<20 { journal.pushes[place].connection = 1 }
            change(&journal)
        }
    }

    /// The first token has expired after five pushes; six more are sent with it, and then again with another.
    private static func expired(_ change: (inout Journal) -> Void = { _ in }) -> Journal {
        .good { journal in
            for place in 5..<20 {
                if place < 11 {
                    journal.pushes[place].fate = .rejected(status: 403, reason: "ExpiredProviderToken")
                    journal.add(place, at: 400 + UInt64(place), token: 1)
                } else {
                    journal.pushes[place].providerToken = 1
                }
            }
            journal.providerTokens = [nil, nil]
            change(&journal)
        }
    }

    /// By the criterion's id, or by what stands behind the situation's name.
    private static let pairs: [String: Pair] = [
        "came": Pair(good: .good(), bad: .good { $0.pushes = [] }),
        "ended": Pair(good: .good(), bad: .good { $0.clientEnd = .killed }),
        "arrived": Pair(good: .good(), bad: .good { $0.pushes[7].fate = .refused }),
        "once": Pair(good: .good(), bad: .good { $0.add(0, at: 500) }),
        "limit": Pair(good: .good(), bad: .good { $0.connections[0].beyondLimit = 1 }),
        "parallel": Pair(good: .good(), bad: .good { $0.connections[0].mostOpen = 1 }),
        "calm": Pair(
            good: answeredFirst(503, again: 300),
            bad: .good { journal in for place in 0..<6 { journal.add(0, at: 500 + UInt64(place), .refused) } }),
        "storm": Pair(good: lost(opened: 2), bad: lost(opened: 21)),
        "unavailable.pause": wait(503, tooSoon: 50), "retry-after.pause": wait(503, tooSoon: 900),
        "too-many-requests.pause": wait(429, tooSoon: 50),
        "unavailable.again": again(503), "retry-after.again": again(503), "too-many-requests.again": again(429),
        "settings-shrink.acknowledged": Pair(good: .good(), bad: .good { $0.connections[0].settingsAcknowledged = 1 }),
        "stalled-window.window": Pair(
            good: .good { $0.pushes[3].completeAt = second },
            bad: .good { journal in
                journal.pushes[3].completeAt = second
                journal.connections[0].beyondWindow = 1
            }),
        "goaway.new-streams": Pair(good: goingAway(), bad: goingAway { $0.add(3, at: 500, .refused) }),
        "goaway.below": Pair(good: abandoned(again: false), bad: abandoned(again: true)),
        "goaway.waits": Pair(good: goingAway(), bad: abandoned(again: false)),
        "silent.noticed": Pair(
            good: silent { _ in },
            bad: silent { journal in
                journal.connections.removeLast()
                journal.pushes.removeLast(14)
            }),
        "silent.others": Pair(good: silent { _ in }, bad: silent { $0.pushes.removeLast() }),
        "cut.goes-on": Pair(good: cut { _ in }, bad: cut { $0.pushes.removeLast(19) }),
        "cut.unheard": Pair(good: cut { _ in }, bad: cut { $0.add(0, at: 300, connection: 1) }),
        "down.back-off": Pair(
            good: lost(opened: 0).turnedAway(3), bad: lost(opened: 0).turnedAway(11)),
        "unregistered.not-again": Pair(
            good: .good { $0.special = [$0.devices[1]] },
            bad: .good { journal in
                journal.special = [journal.devices[1]]
                journal.add(1, at: 900, .rejected(status: 410, reason: "Unregistered"))
            }),
        "expired-token.renewed": Pair(good: expired(), bad: expired { $0.pushes.removeLast(15) }),
        "expired-token.not-again": Pair(
            good: expired(),
            bad: expired { $0.add(6, at: 300, .rejected(status: 403, reason: "ExpiredProviderToken")) }),
        "expired-token.old": Pair(
            good: expired(),
            bad: expired { journal in
                for place in 11..<14 {
                    journal.pushes[place].fate = .rejected(status: 403, reason: "ExpiredProviderToken")
                }
            }),
        "expired-token.again": Pair(good: expired(), bad: expired { $0.pushes.removeLast() }),
        "expired-token.updates": Pair(good: expired(), bad: expired { $0.pushes[19].providerToken = 2 }),
        "token-updates.one": Pair(good: .good(), bad: .good { $0.pushes[4].providerToken = 1 }),
        "token-updates.form": Pair(good: .good(), bad: .good { $0.providerTokens = ["alg is not ES256"] }),
        "ping.acknowledged": Pair(
            good: .good { $0.connections[0].pings = [PingRecord(sentAt: 1, acknowledgedAt: 2)] },
            bad: .good { $0.connections[0].pings = [PingRecord(sentAt: 1, acknowledgedAt: 2), PingRecord(sentAt: 3)] }),
    ]

    private static let criteria = Situation.all.flatMap(\.criteria)

    private static func pair(_ criterion: Criterion) throws -> Pair {
        let last = criterion.id.split(separator: ".").last.map(String.init) ?? ""
        return try #require(pairs[criterion.id] ?? pairs[last], "\(criterion.id) has no journals")
    }

    private func judge(_ id: String, _ journal: Journal) throws -> Finding {
        try #require(Self.criteria.first { $0.id == id }).judge(journal)
    }

    @Test(
        "Every criterion passes a journal and fails another, and says why with a count",
        arguments: Self.criteria.map(\.id))
    func bothWays(_ id: String) throws {
        let criterion = try #require(Self.criteria.first { $0.id == id })
        let pair = try Self.pair(criterion)
        let (good, bad) = (criterion.judge(pair.good), criterion.judge(pair.bad))
        #expect(good.verdict == .passed, "\(good)")
        #expect(bad.verdict == .failed, "\(bad)")
        #expect(!good.evidence.isEmpty && !bad.evidence.isEmpty)
    }

    @Test("Streams at once may be on several connections, but not one connection after the other")
    func parallel() throws {
        let apart = Journal.good { journal in
            journal.connections[0].mostOpen = 1
            journal.connect(at: 5)
            journal.connections[1].mostOpen = 1
            for place in 0..<10 { journal.pushes[place * 2].connection = 1 }
        }
        var together = apart
        together.pushes[6].endedAt = 75 * Journal.millisecond
        #expect(try judge("slow.parallel", apart).evidence == "at most 1 stream at once on 2 connections")
        #expect(try judge("slow.parallel", apart).verdict == .failed)
        #expect(try judge("slow.parallel", together).verdict == .passed)
    }

    @Test("A PING counts that the client had a second to acknowledge, times the exam's patience")
    func ping() throws {
        let journal = Journal.good { journal in
            journal.connections[0].pings = [PingRecord(sentAt: 1)]
            journal.connections[0].isClosedByClient = true
            journal.connections[0].closedAt = 1500 * Journal.millisecond
            journal.patience = 2
        }
        #expect(try judge("ping.acknowledged", journal).verdict == .notShown)
        var other = journal
        other.patience = 1
        #expect(try judge("ping.acknowledged", other).verdict == .failed)
        other.connections[0].closedAt = 900 * Journal.millisecond
        other.connect(at: 900)
        other.connections[1].pings = [PingRecord(sentAt: 1, acknowledgedAt: 2)]
        #expect(try judge("ping.acknowledged", other) == .passed("1 of 1 acknowledged"))
    }

    @Test("A connection is lost once the exam has ended it, however long it waits for the client to close it")
    func lostByCut() throws {
        var journal = Self.lost(opened: 21)
        journal.connections[0].cutAt = journal.connections[0].closedAt
        journal.connections[0].closedAt = 1100 * Journal.millisecond
        #expect(try judge("cut.storm", journal).verdict == .failed)
    }

    @Test("A client that hammers is judged too, whatever became of its pushes")
    func hammering() throws {
        let fates: [PushFate] = [
            .accepted, .acceptedUnheard, .unanswered, .rejected(status: 403, reason: "ExpiredProviderToken"),
        ]
        for fate in fates {
            let journal = Self.goingAway { journal in
                journal.connections[0].isClosedByClient = true
                for place in 0..<10_000 { journal.add(place % 20, at: 300 + UInt64(place), fate) }
            }
            for situation in ["cut", "goaway", "expired-token"] {
                for criterion in Self.criteria where criterion.id.hasPrefix(situation + ".") {
                    #expect(!criterion.judge(journal).evidence.isEmpty)
                }
            }
            if fate == .unanswered {
                #expect(try judge("goaway.below", journal).evidence == "9,980 pushes sent again without their answer")
            }
            if fate == fates[3] {
                #expect(try judge("expired-token.not-again", journal).evidence == "9,980 pushes sent again with it")
            }
        }
    }

    @Test("Streams on their way when the client read GOAWAY may be so for longer in a patient exam")
    func grace() throws {
        var journal = Self.goingAway { $0.add(3, at: 300, .refused) }
        #expect(try judge("goaway.new-streams", journal).verdict == .failed)
        journal.patience = 2
        #expect(try judge("goaway.new-streams", journal).verdict == .passed)
    }

    @Test("Pushes that went on over a connection that was there before say nothing of the dead one")
    func unnoticed() throws {
        let waiting = Self.silent { $0.connections[1].openedAt = 1 }
        #expect(try judge("silent.noticed", waiting).verdict == .failed)
        var again = waiting
        again.add(4, at: 900, connection: 1)
        let found = try judge("silent.noticed", again)
        #expect(found == .passed("did not close it; 1 push sent again or on connections opened since"))
    }

    @Test("Of a client that never came nothing is passed, and that is a failure")
    func nobody() {
        var journal = Journal(devices: ExamDevices.tokens(20))
        journal.clientEnd = .exited(0)
        for situation in Situation.all {
            let findings = situation.criteria.map { ($0.id, $0.weight, $0.judge(journal)) }
            for (id, _, finding) in findings where !id.hasSuffix(".ended") {
                #expect(finding.verdict != .passed, "\(id): \(finding)")
            }
            #expect(findings.contains { $0.1 == .must && $0.2.verdict == .failed }, "\(situation.name)")
        }
    }

    @Test("Names of situations and criteria are one each, and every criterion names its rule")
    func names() {
        let names = Situation.all.map(\.name)
        #expect(Set(names).count == names.count)
        let ids = Self.criteria.map(\.id)
        #expect(Set(ids).count == ids.count)
        for situation in Situation.all {
            for criterion in situation.criteria {
                #expect(criterion.id.hasPrefix(situation.name + ".") && !criterion.source.isEmpty, "\(criterion.id)")
            }
        }
    }

    @Test("What was lost is told apart by what became of it last")
    func lostKinds() throws {
        let journal = Journal.good { journal in
            journal.pushes[7].fate = .refused
            journal.pushes[8].fate = .refused
            journal.pushes.removeLast()
        }
        let arrived = try #require(Self.criteria.first { $0.id == "refused-streams.arrived" })
        #expect(
            arrived.judge(journal).evidence
                == "17 of 20 pushes accepted; lost: 2 last refused unprocessed, 1 never sent")
    }

    @Test("A client that is nobody's command is not judged by its end")
    func noCommand() throws {
        let ended = try #require(Self.criteria.first { $0.id == "ping.ended" })
        #expect(ended.judge(.good { $0.clientEnd = .unknown }).verdict == .notShown)
        #expect(ended.judge(.good { $0.clientEnd = .signaled(11) }).evidence == "ended by signal 11")
    }
}

extension Journal {
    /// So many connections more that the server closed as soon as they were made.
    fileprivate func turnedAway(_ count: Int) -> Journal {
        var journal = self
        for place in 0..<count {
            journal.connect(at: UInt64(place))
            journal.connections[journal.connections.count - 1].isTurnedAway = true
        }
        return journal
    }
}
