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
        for text in [
            "", "x", "ftp://a", "https://", "https://a:0", "https://a:99999", "https://a/b", "https://u@a",
            "https://[::1",
        ] {
            #expect(throws: HarnessError.self) { try TargetURL(text) }
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
        #expect(reason("{ \"timestamp\" : 1, \"reason\" : \"Unregistered\" }") == "Unregistered")
        for body in [
            "", "{}", "{\"reason\"", "{\"reason\":\"Bad", "reason", "{\"reason\":1}", "{\"reason\":\"a\\u0041\"}",
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

    /// What one worker takes when it is asked at these times, as sequence numbers and due times.
    private func taken(_ inputs: RunInputs, worker: Int = 0, workers: Int = 1, at times: [UInt64]) throws -> [(
        UInt64, UInt64
    )] {
        let ledger = try #require(DeliveryLedger(capacity: 1000))
        let driver = WorkerDriver(
            inputs: inputs, share: WorkerShare(worker: worker, workers: workers),
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
        #expect(try taken(inputs, worker: 1, workers: 2, at: [5]).map(\.0) == [1, 3, 5, 7, 9])
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
        #expect(error { $0.template = "/nonexistent" } == "cannot read the template /nonexistent")
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
