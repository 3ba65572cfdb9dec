import Foundation
import Measurement
import Networking
import Payloads
import Scenarios
import Testing
import Transport

@testable import Harness

@Suite struct HarnessTests {
    @Test("Target URLs are taken apart, with the authority a client must send")
    func urls() throws {
        let secure = try TargetURL("https://api.example.com")
        #expect(secure.isSecure && secure.port == 443 && secure.authority == "api.example.com")
        let plain = try TargetURL("http://127.0.0.1:8080/")
        #expect(!plain.isSecure && plain.port == 8080 && plain.authority == "127.0.0.1:8080")
        let six = try TargetURL("https://[::1]:2197")
        #expect(six.host == "::1" && six.authority == "[::1]:2197")
        let upper = try TargetURL("HTTPS://LOCALHOST:1")
        #expect(upper == (try TargetURL("https://localhost:1")) && upper.authority == "localhost:1")
        for text in [
            "", "x", "ftp://a", "https://", "https://a:0", "https://a:99999", "https://a/b", "https://u@a",
            "https://[::1",
        ] {
            #expect(throws: HarnessError.self) { try TargetURL(text) }
        }
        for port in ["0", "99999", "99999999999999999999"] {
            do throws(HarnessError) {
                _ = try TargetURL("https://a:\(port)")
                Issue.record("port \(port) was taken")
            } catch {
                #expect(error.description == "target \"https://a:\(port)\": port \(port): expected 1 to 65535")
            }
        }
    }

    @Test("The reason is found in an error answer, and nowhere else")
    func reasons() {
        func reason(_ body: String) -> String {
            Array(body.utf8).withUnsafeBufferPointer {
                ReasonText.find(in: $0).map { String(decoding: $0, as: UTF8.self) } ?? ""
            }
        }
        #expect(reason("{\"reason\":\"BadDeviceToken\"}") == "BadDeviceToken")
        #expect(
            reason("{\"extra\":{\"reason\":\"Unregistered\"},\"list\":[1,\"}\"],\"reason\":\"BadDeviceToken\"}")
                == "BadDeviceToken")
        #expect(reason("{ \"timestamp\" : 1, \"reason\" : \"Unregistered\" }") == "Unregistered")
        for body in [
            "", "{}", "{\"reason\"", "{\"reason\":\"Bad", "reason", "{\"reason\":1}", "{\"reason\":\"a\\u0041\"}",
            "<p>\"reason\":\"Unregistered\"</p>", "[{\"reason\":\"Unregistered\"}]",
            "{\"a\":{\"reason\":\"Unregistered\"}}",
            "{\"a\":\"\\\"reason\\\":\", \"b\":\"reason\"}", "{\"a\":\"reason\":\"Unregistered\"}", "{\"a\\",
        ] {
            #expect(reason(body) == "")
        }
    }

    private func inputs(_ change: (inout Scenario) -> Void) throws -> RunInputs {
        var scenario = Scenario()
        scenario.pushes = 10
        change(&scenario)
        return try RunInputs(scenario)
    }

    private func problem(_ change: (inout Scenario) -> Void) -> String {
        do {
            try inputs(change).checkMeaning()
            return "none"
        } catch { return "\(error)" }
    }

    @Test("Reasons and labels that there are not are refused with the nearest one")
    func names() {
        #expect(
            problem { $0.expectedReasons = ["Unregistered", "BadDevceToken"] }
                == "expect_reasons BadDevceToken: not a reason of APNs; did you mean \"BadDeviceToken\"?")
        #expect(problem { $0.expectedReasons = ["none", "503", "Unregistered"] } == "none")
        for status in ["200", "99", "+503", "0503"] {
            #expect(
                problem { $0.expectedReasons = [status] }
                    == "expect_reasons \(status): not a status of a rejection; expected one such as 503")
        }
        // Other servers have reasons of their own.
        #expect(
            problem {
                $0.target = "http://127.0.0.1:1"
                $0.expectedReasons = ["QuotaExceeded"]
            } == "none")
        func threshold(_ part: String, by: [String]) -> String {
            problem {
                $0.by = by
                $0.connections = 2
                $0.thresholds = ["p99{\(part)} < 1s"]
            }
        }
        #expect(threshold("tag:location_=location_Boston", by: ["tag:location_"]) == "none")
        #expect(
            threshold("tag:location_=location_Bosten", by: ["tag:location_"])
                == "threshold \"p99{tag:location_=location_Bosten} < 1s\": no device has the tag \"location_Bosten\"; did you mean \"location_Boston\"?"
        )
        #expect(
            threshold("tag=location_Boston", by: ["tag:location_"])
                == "threshold \"p99{tag=location_Boston} < 1s\": nothing is kept apart by tag; give --by tag:PREFIX, and the same in braces"
        )
        #expect(threshold("tag:username:=username:user7", by: ["tag:username:"]) == "none")
        #expect(
            threshold("tag:username:=username:user1000000", by: ["tag:username:"]).contains("no device has the tag"))
        #expect(threshold("connection=1", by: ["connection"]) == "none")
        #expect(threshold("connection=2", by: ["connection"]).hasSuffix("no connection \"2\"; expected 0 to 1"))
        #expect(threshold("status=20O", by: ["status"]).hasSuffix("no status \"20O\"; expected one such as 200 or 503"))
    }

    @Test(
        "A setting that has no effect without another is refused, and says which",
        arguments: [
            ("backlog", "5", "backlog 5: goes with a rate or stages; a closed loop sends when it can"),
            ("pacing", "spin", "pacing spin: goes with a rate or stages; a closed loop sends when it can"),
            (
                "retry_attempts", "5",
                "retry_attempts 5: goes with retry (429, 5xx, connection), which says what is sent again"
            ),
            (
                "retry_backoff", "1s",
                "retry_backoff 1s: goes with retry (429, 5xx, connection), which says what is sent again"
            ),
            (
                "retry_budget", "50%",
                "retry_budget 50%: goes with retry (429, 5xx, connection), which says what is sent again"
            ),
        ])
    func withoutEffect(_ name: String, _ value: String, _ said: String) throws {
        let key = try #require(ScenarioKey.named(name))
        #expect(problem { try? key.apply([value], to: &$0) } == said)
        let effective = problem {
            ($0.rate, $0.retry) = (100, "5xx")
            try? key.apply([value], to: &$0)
        }
        #expect(effective == "none")
    }

    @Test(
        "Headers of which several cannot be are each refused; a priority that APNs refuses is sent as asked, and noted")
    func headers() throws {
        #expect(
            problem { ($0.topic, $0.collapseID) = ("a b", "") }
                == "topic \"a b\": expected a bundle id of letters, digits, '-', '_' and '.'\n"
                + "collapse id \"\": expected 1 to 64 bytes, this has 0")
        let silent = try inputs { ($0.profile, $0.priority) = ("alert:1,silent:1", 10) }
        #expect(silent.headers.map(\.priority) == [10, 10])
        #expect(
            silent.refusals == [
                "priority 10: sent as asked with pushes of type background, which APNs refuses with it (400 BadPriority); it "
                    + "takes 5 or 1"
            ])
        let live = try inputs { ($0.profile, $0.priority) = ("live-activity", 1) }
        #expect(live.headers.map(\.priority) == [1] && live.refusals.count == 1)
        for priority in [nil, 5, 1] as [Int?] {
            #expect(try inputs { ($0.profile, $0.priority) = ("alert:1,silent:1", priority) }.refusals.isEmpty)
        }
    }

    @Test("A connect timeout in which the emulated link lets nobody connect is refused")
    func slowLink() throws {
        func problem(_ rtt: String, _ timeout: UInt64, _ change: (inout Scenario) -> Void = { _ in }) -> String {
            self.problem {
                $0.connectTimeout = timeout * 1_000_000
                $0.rtt = rtt
                change(&$0)
            }
        }
        let said = "connect_timeout 100 ms: with rtt 80ms a connection takes 200 ms; expected more"
        #expect(problem("80ms", 100) == said && problem("80ms", 199) != "none" && problem("80ms", 200) == "none")
        #expect(problem("80ms", 200) { $0.tlsMaximum = "1.2" }.contains("takes 280 ms"))
        #expect(problem("80ms", 119) { $0.plaintext = true }.contains("takes 120 ms"))
        let faults = FileManager.default.temporaryDirectory.appendingPathComponent("faults-\(UUID()).yaml")
        defer { try? FileManager.default.removeItem(at: faults) }
        try "seed: 1\nlink:\n  rtt: 80ms\n".write(to: faults, atomically: true, encoding: .utf8)
        func byFlags(_ flags: String) -> String {
            self.problem {
                $0.connectTimeout = 100_000_000
                $0.mockFlagText = flags
            }
        }
        for flags in [
            "--latency 1ms --rtt 80ms", "--rtt=80ms", "--rtt 1ms '--rtt=80ms'", "--faults \(faults.path)",
            "--faults=\(faults.path) --latency 1ms",
        ] { #expect(byFlags(flags) == said, "\(flags)") }
        #expect(byFlags("--faults \(faults.path) --rtt 10ms") == "none", "a flag is stronger than the file")
    }

    @Test("Everything that is wrong with a scenario is said at once: what cannot be used, and what would not be meant")
    func everyProblem() {
        func problems(_ change: (inout Scenario) -> Void) -> [String] {
            var scenario = Scenario()
            scenario.pushes = 10
            change(&scenario)
            do throws(HarnessError) {
                try RunInputs(scenario).checkMeaning()
                return []
            } catch { return error.description.split(separator: "\n").map(String.init) }
        }
        #expect(problems { _ in } == [])
        let unusable = problems {
            $0.profile = "alrt"
            $0.signPolicy = "often"
            $0.by = ["colour"]
            $0.deviceFile = "/nowhere"
            $0.backlog = 0
        }
        #expect(unusable.count == 5, "\(unusable)")
        // Without an end there is no schedule to be made, and nothing is said of it.
        let endless = problems {
            $0.pushes = nil
            $0.rate = 100
            $0.profile = "alrt"
        }
        #expect(endless.count == 2 && endless[0].hasPrefix("nothing says when to stop"), "\(endless)")
        let meant = problems {
            $0.arrivals = "poisson"
            $0.expectedReasons = ["200", "99"]
            $0.target = "http://192.0.2.1"
            $0.warmupPushes = 10
            $0.thresholds = ["p99{stage=x} < 1s", "p50{status=200} < 1s"]
        }
        #expect(meant.count == 7, "\(meant)")
        let parts = problems {
            ($0.streams, $0.by) = (0, ["connection"])
            $0.thresholds = [
                "p99{stage=x} < 1s", "p50{status=200} < 1s", "p50{connection=1} < 1s", "p50{connection=0} < 1s",
            ]
        }
        #expect(parts.count == 4 && parts[0].hasPrefix("streams 0"), "\(parts)")
        let targets = problems {
            $0.target = TargetList(["http://127.0.0.1:1", "https://127.0.0.1:2", "HTTP://127.0.0.1:1/", "x"])
            $0.connections = 3
            $0.arrivals = "poisson"
        }
        #expect(
            targets == [
                "connections 3: each of the 4 targets needs at least one",
                "target https://127.0.0.1:2: the first target is http; expected one scheme for all",
                "target HTTP://127.0.0.1:1/: given twice; expected each target once",
                "target \"x\": expected https://host:port, or http://host:port for plaintext HTTP/2",
                "arrivals poisson: goes with a rate or stages; a closed loop sends when it can",
            ], "\(targets)")
    }

    @Test(
        "A run's time and its drain are ended when they are over, not at some look after, whatever a worker last said")
    func punctualEnd() throws {
        var scenario = Scenario()
        (scenario.duration, scenario.drain) = (1_000_000_000, 500_000_000)
        let state = RunState(accepted: try #require(DeliveryLedger(capacity: 1)), times: nil)
        let control = RunControl()
        // Its worker never says anything.
        let watcher = RunWatcher(
            inputs: try RunInputs(scenario), state: state, control: control, boxes: [SnapshotBox()], isTerminal: false,
            judge: nil, record: nil, progress: { _ in })
        let start: UInt64 = 7_000_000_000
        #expect(watcher.untilNextLook(clock: start) == RunWatcher.pause)
        state.start.store(start, ordering: .relaxed)
        for (after, wait) in [
            (0, 50_000_000), (980, 50_000_000), (1010, 40_000_001), (1049, 1_000_001), (1050, 1), (1060, 50_000_000),
            (1470, 30_000_001), (1500, 1), (1700, 50_000_000),
        ] as [(UInt64, UInt64)] {
            #expect(watcher.untilNextLook(clock: start + after * 1_000_000) == wait, "\(after) ms")
        }
        for (after, request) in [
            (1_050_000_000, .none), (1_050_000_001, .drain), (1_500_000_000, .drain), (1_500_000_001, .abort),
        ] as [(UInt64, RunControl.Request)] {
            watcher.look(clock: start + after)
            #expect(control.request == request && !control.isInterrupted, "\(after) ns")
        }
        #expect(control.cause == .runEnded)
    }

    @Test("Only this machine is sent to unless somebody says so; Apple's servers never")
    func targets() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("targets-\(UUID())")
        try FileManager.default.createDirectory(
            at: folder.appendingPathComponent("pushload"), withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        func check(_ target: String, _ hosts: [String] = []) -> String {
            let allowed = AllowedTargets(hosts, ["XDG_CONFIG_HOME": folder.path], siteFile: folder.path + "/site")
            do throws(HarnessError) {
                try allowed.check(target)
                return "allowed"
            } catch { return error.description }
        }
        for target in ["http://127.0.0.1:80", "https://localhost:1", "https://[::1]:2", "http://127.9.9.9:3"] {
            #expect(check(target) == "allowed")
        }
        for target in [
            "https://api.push.apple.com", "https://API.sandbox.push.apple.com.:2197", "https://17.188.1.2",
            "https://[2620:149:a44::5]:443", "https://apple.com", "https://[::ffff:17.1.1.1]:443",
            "https://[2620:149:2::1]", "https://[2620:149:fff:ffff::1]", "https://[2403:300:1::1]",
            "https://[2a01:b740:a42::1]", "https://[2a01:b740::1]", "https://[2a01:b740:ffff::1]",
        ] {
            let host = try TargetURL(target).host
            #expect(
                check(target, ["api.push.apple.com", "apple.com", host]).contains("that is Apple's"), "\(target)")
        }
        for neighbour in ["2620:149:1000::1", "2620:14a::1", "2403:301::1", "2a01:b741::1", "18.0.0.1"] {
            let target = neighbour.contains(":") ? "https://[\(neighbour)]" : "https://\(neighbour)"
            #expect(check(target, [neighbour]) == "allowed" && check(target).contains("not this machine"))
        }
        #expect(
            check("http://192.0.2.7:80")
                == "target http://192.0.2.7:80: 192.0.2.7 is not this machine; if it is yours to load, say so: --allow-target "
                + "192.0.2.7, or allowed_targets: [192.0.2.7] in the scenario, or a line 192.0.2.7 in \(folder.path)/site or "
                + "\(folder.path)/pushload/targets")
        #expect(check("http://192.0.2.7:80", ["192.0.2.7"]) == "allowed")
        #expect(check("http://[2001:db8::1]:80", ["2001:DB8::1"]) == "allowed")
        #expect(check("http://192.0.2.8:80", ["192.0.2.7"]).contains("not this machine"))
        #expect(check("https://apple.com.example:80").contains("not this machine"))
        try "# ours\n192.0.2.9 # the test bed\n".write(
            to: folder.appendingPathComponent("pushload/targets"), atomically: true, encoding: .utf8)
        try "192.0.2.10\n".write(to: folder.appendingPathComponent("site"), atomically: true, encoding: .utf8)
        #expect(check("http://192.0.2.9:80") == "allowed" && check("http://192.0.2.10:80") == "allowed")
    }

    /// What one worker takes when it is asked at these times, as sequence numbers and due times.
    private func taken(_ inputs: RunInputs, thread: Int = 0, at times: [UInt64]) throws -> [(
        UInt64, UInt64
    )] {
        let ledger = try #require(DeliveryLedger(capacity: 1000))
        let driver = WorkerDriver(
            inputs: inputs, thread: thread,
            state: RunState(accepted: ledger, times: nil),
            box: SnapshotBox(), signer: nil)
        var result: [(UInt64, UInt64)] = []
        for time in times {
            var ticket = PushTicket(sequence: 0, due: 0)
            while result.count < 100, case .push = driver.take(now: time, into: &ticket) {
                result.append((ticket.sequence, ticket.due))
            }
        }
        return result
    }

    @Test("Open loop keeps the intended time of every push however late it is asked")
    func openLoop() throws {
        let inputs = try inputs { $0.rate = 1000 }
        // Asked at the start, then not for 50 ms: what fell due in between keeps its own time.
        let pushes = try taken(inputs, at: [1_000_000_000, 1_050_000_000])
        #expect(pushes.map(\.0) == Array(0..<10))
        #expect(pushes.map(\.1) == (0..<10).map { 1_000_000_000 + UInt64($0) * 1_000_000 })
    }

    @Test("Workers take the run's pushes in turn, and a closed loop ends with its duration")
    func shares() throws {
        let inputs = try inputs {
            $0.threads = 2; $0.connections = 2
        }
        #expect(try taken(inputs, thread: 1, at: [5]).map(\.0) == [1, 3, 5, 7, 9])
        let timed = try self.inputs {
            $0.pushes = nil; $0.duration = 1000
        }
        #expect(try taken(timed, at: [10, 2000]).count == 100)
        #expect(try taken(timed, at: [10]).allSatisfy { $0.1 == 10 })
    }

    @Test("Inputs that cannot be run say why")
    func errors() throws {
        func error(_ change: (inout Scenario) -> Void) -> String {
            do {
                _ = try inputs(change)
                return "accepted"
            } catch { return "\(error)" }
        }
        #expect(error { $0.pushes = nil } == "nothing says when to stop: give pushes (-n), a duration (-D), or both")
        #expect(error { $0.profile = "x" }.hasPrefix("unknown profile"))
        #expect(error { $0.topic = "a b" }.hasPrefix("topic \"a b\""))
        #expect(
            error { $0.template = "/nonexistent/t.json" }
                == "cannot read the template /nonexistent/t.json: No such file or directory"
        )
        #expect(
            error {
                $0.template = "/etc/hostname"; $0.pushType = "x"
            }.hasPrefix("push type \"x\": known types: alert"))
        #expect(
            error {
                $0.priority = 10; $0.profile = "silent"
            } == "accepted")
    }
}
