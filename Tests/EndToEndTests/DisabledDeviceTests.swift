import Foundation
import Testing

/// Devices whose owners have disabled notifications: pushes are accepted, and discarded.
@Suite(.serialized, .waitsForPrograms) struct DisabledDeviceTests {
    private struct Counts: Decodable {
        struct Delivery: Decodable {
            let delivered: Int
            let discarded: Int
            let waiting: Int
        }
        let accepted: Int
        let delivery: Delivery
    }

    private func counts(_ admin: String) throws -> Counts {
        try Programs.run("/usr/bin/curl", ["-s", admin + "/stats"]).read(Counts.self)
    }

    private func set(_ change: String, _ device: String, _ admin: String) throws -> String {
        try Programs.run("/usr/bin/curl", ["-s", "-X", "PUT", "-d", change, "\(admin)/devices/\(device)"]).output
    }

    @Test("By a device file and by hand, without and with a device model", arguments: [[], ["--device-model", "on"]])
    func disabled(_ flags: [String]) throws {
        let folder = try OutputFolder.made()
        let file = folder.path + "/devices.csv"
        try "token,state\n\(ReasonTests.device),disabled\n\(ReasonTests.other),\n"
            .write(toFile: file, atomically: true, encoding: .utf8)
        let mock = try Mock(["--device-file", file, "--admin-port", "0"] + flags)
        let admin = "http://127.0.0.1:" + (try mock.port(of: "admin"))
        let other = ReasonTests.Request.with { $0.path = "/3/device/\(ReasonTests.other)" }
        #expect(try ReasonTests.curl(mock, [.init(), .init(), other]) == [" 200", " 200", " 200"])
        var seen = try counts(admin)
        #expect(seen.accepted == 3 && seen.delivery.discarded == 2 && seen.delivery.delivered == 1, "\(seen)")
        #expect(try set("{state: disabled}", ReasonTests.other, admin) == "changed\n")
        #expect(try set("{state: registered}", ReasonTests.device, admin) == "changed\n")
        #expect(try ReasonTests.curl(mock, [.init(), other]) == [" 200", " 200"])
        seen = try counts(admin)
        #expect(seen.delivery.discarded == 3 && seen.delivery.delivered == 2, "\(seen)")
        let metrics = try Programs.run("/usr/bin/curl", ["-s", admin + "/metrics"]).output
        #expect(metrics.contains("\nmock_apns_discarded_total 3\n"))
        #expect(
            try set("{state: disbled}", ReasonTests.other, admin)
                == "device:1:9: state: \"disbled\": expected registered, unregistered, expired or disabled\n")
        #expect(try mock.stop().output.contains("\ndiscarded, notifications are disabled: 3\n"))
    }

    @Test("What waits for a device is discarded once its notifications are disabled")
    func waiting() throws {
        let mock = try Mock(["--admin-port", "0"])
        let admin = "http://127.0.0.1:" + (try mock.port(of: "admin"))
        _ = try set("{offline: true}", ReasonTests.device, admin)
        #expect(try ReasonTests.curl(mock, [.init()]) == [" 200"])
        #expect(try counts(admin).delivery.waiting == 1)
        _ = try set("{state: disabled}", ReasonTests.device, admin)
        _ = try set("{offline: false}", ReasonTests.device, admin)
        let seen = try counts(admin)
        #expect(seen.delivery.waiting == 0 && seen.delivery.discarded == 1 && seen.delivery.delivered == 0, "\(seen)")
        _ = try mock.stop()
    }

    @Test("Devices with tokens of other lengths are taken where that is said, on every way")
    func shortTokens() throws {
        let folder = try OutputFolder.made()
        let file = folder.path + "/devices.csv"
        try "token,state\n0a0b0c0d,\n0a0b0c0e,unregistered\n".write(toFile: file, atomically: true, encoding: .utf8)
        let refused = try Programs.run("mock-apns", ["--port", "0", "--device-file", file])
        #expect(
            refused.status == 64
                && refused.error
                    == "mock-apns: \(file):2: the device token \"0a0b0c0d\" has 8 digits; expected an even number from 64 to 400 (--token-digits)\n"
        )
        let mock = try Mock(["--device-file", file, "--token-digits", "8-400", "--admin-port", "0"])
        let admin = "http://127.0.0.1:" + (try mock.port(of: "admin"))
        func push(_ token: String) -> ReasonTests.Request { .with { $0.path = "/3/device/" + token } }
        let answers = try ReasonTests.curl(mock, [push("0A0B0C0D"), push("0a0b0c0e"), push("0a0b0c"), push("0a0b0c0")])
        #expect(answers.map { $0.suffix(3) } == ["200", "410", "400", "400"], "\(answers)")
        #expect(try set("{state: expired}", "0a0b0c0d", admin) == "changed\n")
        #expect(try ReasonTests.curl(mock, [push("0a0b0c0d")])[0].contains("ExpiredToken"))
        #expect(
            try set("{state: expired}", "0a0b", admin)
                == "expected a device token after /devices/, at least 8 hexadecimal digits\n")
        _ = try mock.stop()
        for (flag, value, problem) in [
            ("--token-digits", "7", "\"7\": expected an even number from 8 to 1024, or two of them, as in 8-400"),
            (
                "--key-environment-reason", "BadTopic",
                "\"BadTopic\": expected BadEnvironmentKeyIdInToken or BadEnvironmentKeyInToken"
            ),
        ] {
            let refused = try Programs.run("mock-apns", ["--port", "0", flag, value])
            #expect(refused.status == 64 && refused.error == "mock-apns: \(flag): \(problem)\n", "\(refused)")
        }
    }
}
