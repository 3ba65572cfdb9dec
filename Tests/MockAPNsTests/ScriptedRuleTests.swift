import HTTP2
import Payloads
import Settings
import Testing

@testable import Faults
@testable import MockAPNs

/// Which request a rule is for, and how often.
@Suite struct ScriptedRuleTests {
    private func request(_ headers: [(KnownHeader, String)] = [], device: String = "aa") -> RequestState {
        let state = RequestState()
        var all = headers
        if !headers.contains(where: { $0.0 == .path }) { all.append((.path, "/3/device/" + device)) }
        for (header, value) in all {
            Array(value.utf8).withUnsafeBufferPointer { state.set(header, $0.baseAddress!, $0.count) }
        }
        return state
    }

    private func script(_ rules: String, startedAt: UInt64 = 0) throws -> FaultScript {
        FaultScript(try FaultFile.parse("{seed: 1, rules: [\(rules)]}", file: "f"), startedAt: startedAt)
    }

    private func fates(_ script: FaultScript, _ count: Int, workers: Int = 1) -> [FaultDice.Fate?] {
        var dice = (0..<workers).map { FaultDice(script, worker: $0) }
        return (0..<count).map { dice[$0 % workers].choose(FaultSubject(request: request()), now: 0)?.fate }
    }

    @Test("next counts the pushes a rule is for, over all threads; then the rules after it decide")
    func next() throws {
        let script = try script("{next: 2, reject: 503}, {reject: 429}")
        #expect(
            fates(script, 4, workers: 3) == [
                .rejected(.serviceUnavailable), .rejected(.serviceUnavailable), .rejected(.tooManyRequests),
                .rejected(.tooManyRequests),
            ])
        // What counts is only what matches.
        let of = try self.script("{token: bb*, next: 1, reject: 410}")
        #expect(fates(of, 3) == [nil, nil, nil])
        var dice = FaultDice(of, worker: 0)
        #expect(dice.choose(FaultSubject(request: request(device: "bb")), now: 0)?.fate == .rejected(.unregistered))
        #expect(dice.choose(FaultSubject(request: request(device: "bb")), now: 0) == nil)
    }

    @Test("times counts what a rule has done, not what it looked at")
    func times() throws {
        let drawn = fates(try script("{times: 3, reject: {503: 20%}}"), 500)
        #expect(drawn.count { $0 == .rejected(.serviceUnavailable) } == 3)
        let last = try #require(drawn.lastIndex(of: .rejected(.serviceUnavailable)))
        #expect(last > 2 && drawn[..<last].contains(.normal) && drawn[(last + 1)...].allSatisfy { $0 == nil })
        // Without a share each is something done.
        #expect(fates(try script("{times: 2, latency: 1ms}"), 3) == [.normal, .normal, nil])
    }

    @Test("then takes one step after the other; after the last the rule is used up, or begins again")
    func steps() throws {
        let steps: [FaultDice.Fate?] = [
            .rejected(.serviceUnavailable), .rejected(.tooManyRequests), .normal, .silent, .reset, .answered, .closed,
        ]
        let list = "then: [503, TooManyRequests, 200, silent, reset, 502, {close: rst}]"
        #expect(fates(try script("{\(list)}"), 9, workers: 2) == steps + [nil, nil])
        #expect(fates(try script("{\(list), repeat: true}"), 9) == steps + steps[..<2])
        #expect(fates(try script("{\(list), repeat: true, next: 8}"), 9) == steps + [steps[0], nil])
        let step = try #require(
            try script("{then: [{reject: 503, retry_after: 5s, latency: 1s}]}").plan.rules[0].steps.first)
        #expect(step.retryAfter == 5 && step.latency == .fixed(1_000_000_000))
    }

    @Test("What begins anew counts from the beginning; a share leaves the others to later rules")
    func again() throws {
        let script = try script("{next: 1, reject: 503}")
        #expect(fates(script, 2) == [.rejected(.serviceUnavailable), nil])
        #expect(fates(script.begunAnew(), 2) == [.rejected(.serviceUnavailable), nil])
        let shared = fates(try self.script("{share: 30%, close: fin}, {answer: 502}"), 10_000)
        let closed = shared.count { $0 == .closed }
        // Five deviations of 46.
        #expect(abs(closed - 3000) < 230 && shared.count { $0 == .answered } == 10_000 - closed)
    }

    @Test("A burst counts from when its plan came into force")
    func bursts() throws {
        let second: UInt64 = 1_000_000_000
        var dice = FaultDice(try script("{start: 1s, for: 2s, reject: 503}", startedAt: 100 * second), worker: 0)
        let on = [99, 100, 101, 102, 103].map { (time: UInt64) in
            dice.choose(FaultSubject(request: request()), now: time * second) != nil
        }
        #expect(on == [false, false, true, true, false])
        let server = FaultScript(FaultPlan(), startedAt: 7)
        #expect(server.begunAnew().startedAt == 7)
    }

    @Test("A rule may be for connections, teams, identifiers, priorities and collapse ids")
    func matching() throws {
        func matches(_ rule: String, _ subject: FaultSubject) throws -> Bool {
            var dice = FaultDice(try script("{\(rule), reject: 503}"), worker: 0)
            return dice.choose(subject, now: 0) != nil
        }
        let id = "EB4BB4A7-0F3A-4B2C-9C1D-111111111111"
        let push = FaultSubject(
            request: request([(.identifier, id), (.priority, "5"), (.collapseID, "score-7")]), connection: 17,
            team: "TEAM567890")
        for rule in [
            "connection: 17", "connection: [3, 17]", "team: TEAM567890", "team: TEAM*", "apns_id: \(id.lowercased())",
            "apns_id: eb4bb4a7*", "apns_id: EB4B*", "priority: 5", "priority: [1, 5]", "collapse_id: score-*",
            "request: push", "request: any",
        ] { #expect(try matches(rule, push), "\(rule)") }
        for rule in [
            "connection: 1", "team: OTHERTEAM0", "apns_id: \"00*\"", "priority: 10", "collapse_id: score",
            "request: broadcast", "request: [broadcast, management]",
        ] { #expect(!(try matches(rule, push)), "\(rule)") }
        // Not given is 10.
        #expect(try matches("priority: 10", FaultSubject(request: request())))
    }

    @Test("Broadcasts and channel management are matched by what they have; rules without a kind are for pushes")
    func channels() throws {
        func matches(_ rule: String, _ subject: FaultSubject) throws -> Bool {
            var dice = FaultDice(try script("{\(rule), silent: 100%}"), worker: 0)
            return dice.choose(subject, now: 0) != nil
        }
        let broadcast = FaultSubject(
            request: request([
                (.path, "/4/broadcasts/apps/com.example.app"), (.pushType, "LiveActivity"), (.requestID, "AB"),
            ]), kind: .broadcast)
        let management = FaultSubject(
            request: request([(.path, "/1/apps/com.example.app/channels")]), kind: .management)
        #expect(try !matches("start: 0s, for: 1h", broadcast))
        #expect(try !matches("topic: com*", management))
        for rule in ["topic: com.example.app", "push_type: liveactivity", "apns_id: ab*", "environment: production"] {
            #expect(try matches("request: broadcast, \(rule)", broadcast), "\(rule)")
        }
        #expect(!(try matches("request: any, token: \"*\"", broadcast)))
        #expect(try matches("request: management, topic: com.example.app", management))
        #expect(!(try matches("request: any, push_type: alert", management)))
    }

    @Test("A file with everything that a script may say is read as it is meant")
    func file() throws {
        let rule = try script(
            """
            {batch: 4, within: 2s, order: reversed,
             goaway: {keep: 2, code: ENHANCE_YOUR_CALM, debug: "slow down", twice: true, pause: 50ms}, ping: 3}
            """
        ).plan.rules[0]
        #expect(rule.batch?.count == 4 && rule.batch?.within == 2_000_000_000 && rule.batch?.order == .reversed)
        var goAway = FaultRule.GoAway()
        (goAway.last, goAway.code, goAway.debug) = (.kept(2), .enhanceYourCalm, "slow down")
        (goAway.isTwice, goAway.pause) = (true, 50_000_000)
        #expect(rule.goAway == goAway && rule.pings == 3)
        #expect(try script("{goaway: {last_stream: -2}}").plan.rules[0].goAway?.last == .below(2))
        #expect(try script("{goaway: {last_stream: 7}}").plan.rules[0].goAway?.last == .stream(7))
        #expect(try script("{goaway: NO_ERROR}").plan.rules[0].goAway == FaultRule.GoAway())
        let answer = try script(
            """
            {answer: {status: 502, headers: {content-type: text/html, retry-after: 5}, body: "<html>", end: reset,
             body_rate: 10B/s, apns_id: no}}
            """
        ).plan.rules[0].answer
        var expected = RawAnswer(status: 502)
        expected.headers = [.init("content-type", "text/html"), .init("retry-after", "5")]
        (expected.body, expected.ending, expected.bodyRate) = (Array("<html>".utf8), .reset, 10)
        expected.hasIdentifier = false
        #expect(answer == expected)
    }

    @Test(
        "What a script cannot mean is refused with its place",
        arguments: [
            ("{token: []}", "f:1:27: rules[0].token: the list is empty: no request is like that"),
            ("{priority: []}", "f:1:30: rules[0].priority: the list is empty: no request is like that"),
            ("{request: []}", "f:1:29: rules[0].request: the list is empty: no request is like that"),
            (
                "{request: broadcast, token: 0a*}",
                "f:1:19: rules[0]: \"token\" is of pushes; no other request has one"
            ),
            (
                "{request: management, push_type: alert}",
                "f:1:19: rules[0]: \"push_type\" is of pushes and broadcasts; management requests have none"
            ),
            (
                "{reset_code: CANCEL}",
                "f:1:32: rules[0].reset_code: needs \"reset\", or an \"answer\" with \"end: reset\" or \"after_reset\""
            ),
            ("{share: 0%, reject: 503}", "f:1:27: rules[0].share: 0% is for no request; leave the rule out"),
            ("{next: 2, times: 3}", "f:1:19: rules[0]: \"times\" is more than \"next\": the rule is for 2 only"),
            (
                "{next: 2, then: [503, 429, 200], repeat: true}",
                "f:1:19: rules[0]: \"next\" is less than there are steps: those after step 2 never come"
            ),
            (
                "{times: 1, then: [503, 429]}",
                "f:1:19: rules[0]: \"times\" is less than there are steps: those after step 1 never come"
            ),
            (
                "{silent: 3%}, {request: any, latency: 1ms}, {request: [push, management], reject: 503}",
                "f:1:63: rules[2]: it is for no request: rules[1] decides about all of that kind; put that one last, or give it a \"share\""
            ),
            ("{next: 0}", "f:1:26: rules[0].next: expected at least 1"),
            ("{then: []}", "f:1:26: rules[0].then: expected at least one step, as in [503, 200]"),
            (
                "{then: [503, maybe]}",
                "f:1:32: rules[0].then[1]: \"maybe\" is not a step; expected a status, a reason of APNs, silent, reset or what a rule may do, as in {latency: 1s, reject: 503}"
            ),
            (
                "{then: [200], latency: 1s}",
                "f:1:19: rules[0]: a rule with \"then\" does what its steps say, and nothing besides; put it into them"
            ),
            ("{repeat: true}", "f:1:28: rules[0].repeat: there are no steps to repeat; expected \"then\" beside it"),
            ("{token: '*abab'}", "f:1:27: rules[0].token: \"*abab\": * may only stand at the end: what begins so"),
            ("{token: zz*}", "f:1:27: rules[0].token: \"zz*\" is not hexadecimal: no device token is like that"),
            (
                "{token: abab}",
                "f:1:27: rules[0].token: \"abab\" is shorter than a device token; did you mean \"abab*\", all that begin so?"
            ),
            (
                "{apns_id: foo}",
                "f:1:29: rules[0].apns_id: \"foo\" is not a UUID, nor the beginning of one with a * behind it"
            ),
            (
                "{team: abc}",
                "f:1:26: rules[0].team: \"abc\" is not a team id, 10 characters of A-Z and 0-9, nor the beginning of one with a * behind it"
            ),
            (
                "{answer: {status: 200, after_reset: true, body: \(String(repeating: "x", count: 16_385))}}",
                "f:1:28: rules[0].answer: 16385 bytes of body; expected at most 16384 with \"after_reset\", one frame"
            ),
            (
                "{answer: {status: 200, headers: {\((0..<1366).map { "h\($0 + 1000): ''" }.joined(separator: ", "))}}}",
                "f:1:51: rules[0].answer.headers: 12294 bytes of headers, with 4 for each; expected at most 8192"
            ),
            (
                Array(repeating: "{silent: 1%}", count: 1001).joined(separator: ", "),
                "f:1:18: rules: 1001 rules; expected at most 1000"
            ),
            (
                "{token: [\(Array(repeating: "a*", count: 10_001).joined(separator: ", "))], silent: 1%}",
                "f:1:18: rules: 10001 texts to match in all rules; expected at most 10000"
            ),
            (
                "{then: [\(Array(repeating: "503", count: 10_001).joined(separator: ", "))]}",
                "f:1:18: rules: 10001 steps in all rules; expected at most 10000"
            ),
            ("{priority: 7}", "f:1:30: rules[0].priority: \"7\" is not a priority; expected 10, 5 or 1"),
            ("{connection: [1, 0]}", "f:1:36: rules[0].connection[1]: connections are numbered from 1"),
            (
                "{request: pushes}",
                "f:1:29: rules[0].request: \"pushes\" is not a kind of request; expected push, broadcast, management or any"
            ),
            ("{order: reversed}", "f:1:27: rules[0].order: needs \"batch\": how many pushes are held together"),
            ("{batch: 1}", "f:1:27: rules[0].batch: 1: expected 2 to 1000"),
            (
                "{batch: 2, order: sorted}",
                "f:1:37: rules[0].order: \"sorted\" is not an order; expected sent, reversed or shuffled"
            ),
            ("{batch: 2, request: any}", "f:1:19: rules[0]: \"batch\" is for pushes; expected no \"request\""),
            ("{goaway: {keep: 1}}", "f:1:19: rules[0]: \"keep\" needs \"batch\": of how many pushes"),
            (
                "{goaway: {last_stream: few}}",
                "f:1:42: rules[0].goaway.last_stream: \"few\" is not a last stream; expected a stream's id, or how many streams below this one, as in -2"
            ),
            ("{goaway: {pause: 1s}}", "f:1:36: rules[0].goaway.pause: needs \"twice\": it stands between the two"),
            (
                "{close: softly}",
                "f:1:27: rules[0].close: \"softly\" is not a way to close a connection; expected fin or rst"
            ),
            ("{ping: 101}", "f:1:26: rules[0].ping: 101: expected 1 to 100 PING frames"),
            (
                "{retry_after: 5s}",
                "f:1:19: rules[0]: \"retry_after\" needs \"reject\"; an answer of your own has it among its headers"
            ),
            ("{reject: 503, retry_after: 5ms}", "f:1:46: rules[0].retry_after: expected whole seconds, as in 5s"),
            (
                "{close: fin, silent: 1%}",
                "f:1:19: rules[0]: expected one of \"answer\", \"close\", and the shares of \"reject\", \"silent\" and \"reset\""
            ),
            ("{answer: 99}", "f:1:28: rules[0].answer: \"99\" is not a status; expected 200 to 599"),
            ("{answer: {body: x}}", "f:1:28: rules[0].answer: \"status\" is missing"),
            (
                "{answer: {status: 200, headers: {Date: x}}}",
                "f:1:52: rules[0].answer.headers: \"Date\" is not a header's name in HTTP/2; expected lower case, as in retry-after"
            ),
            (
                "{answer: {status: 200, headers: {x: \"a\\nb\"}}}",
                "f:1:55: rules[0].answer.headers.x: expected a header's value without line ends and other control characters"
            ),
            (
                "{answer: {status: 200, after_reset: yes, end: never}}",
                "f:1:28: rules[0].answer: \"after_reset\" is answered in one piece; expected no trailers, body_rate or end beside it"
            ),
            (
                "{answer: {status: 200, end: later}}",
                "f:1:47: rules[0].answer.end: \"later\" is not an end of an answer; expected stream, reset or never"
            ),
        ])
    func refused(_ rule: String, _ expected: String) {
        do throws(SettingsError) {
            _ = try FaultFile.parse("{seed: 1, rules: [\(rule)]}", file: "f")
            Issue.record("\(rule) was read")
        } catch { #expect(error.description == expected) }
    }

    @Test("A device token says what it is answered")
    func tokens() throws {
        func rule(_ begin: String) -> FaultRule? {
            Array((begin + String(repeating: "0", count: 64 - begin.count)).utf8).withUnsafeBytes(ScriptedToken.rule)
        }
        #expect(rule("dea0410") == nil && rule("0dead410") == nil)
        #expect(rule("dead4100")?.rejections == [.init(.unregistered, share: 1)])
        #expect(rule("DEAD4101")?.rejections == [.init(.expiredToken, share: 1)])
        #expect(rule("dead400d")?.rejections == [.init(.topicDisallowed, share: 1)])
        #expect(rule("dead503000")?.retryAfter == nil && rule("dead503030")?.retryAfter == 30)
        #expect(rule("dead5021")?.rejections == [.init(.badDeviceToken, share: 1)])
        #expect(rule("dead5020")?.answer == RawAnswer(status: 502) && rule("dead2000") == FaultRule())
        #expect(rule("dead0000")?.silentShare == 1 && rule("dead0002")?.resetCode == .refusedStream)
        #expect(rule("dead0003")?.close == .fin && rule("dead0005")?.goAway != nil)
        for unknown in ["deadbeef", "dead9990", "dead400e", "dead0009", "dead1000"] {
            #expect(rule(unknown)?.rejections == [.init(.badDeviceToken, share: 1)], "\(unknown)")
        }
    }
}
