import Foundation
import Testing

/// What a device of the model shows, and hands that use it: with curl, as people do.
@Suite(.serialized, .waitsForPrograms) struct DeviceScreenTests {
    private let device = ReasonTests.device

    /// A phone that is online and shows what it gets, and that nobody touches but by hand.
    private static let model = AudienceTests.root + "/mock-apns/examples/test-device.yaml"

    private func admin(_ mock: Mock, _ method: String, _ path: String, _ arguments: [String] = []) throws -> String {
        try Programs.run(
            "/usr/bin/curl",
            ["-s", "-w", "%{http_code}", "-X", method, "http://127.0.0.1:\(try mock.port(of: "admin"))\(path)"]
                + arguments
        ).output
    }

    private func screen(_ text: String) throws -> [String: Any] {
        let object = text.hasSuffix("\n200") ? try JSONSerialization.jsonObject(with: Data(text.dropLast(3).utf8)) : nil
        return try #require(object as? [String: Any], "\(text)")
    }

    private func notifications(_ screen: [String: Any]) throws -> [[String: Any]] {
        try #require(screen["notifications"] as? [[String: Any]], "\(screen)")
    }

    private func push(_ mock: Mock, _ payload: String, _ headers: [String] = []) throws {
        let request = ReasonTests.Request.with {
            $0.body = payload
            $0.headers += headers
        }
        #expect(try ReasonTests.curl(mock, [request]).last?.hasSuffix("200") == true)
    }

    @Test("A device shows what was pushed to it; it is unlocked, replied to, tapped and cleared by hand")
    func hands() throws {
        let mock = try Mock(["--admin-port", "0", "--device-model", Self.model, "--threads", "2"])
        let path = "/devices/\(device)"
        let empty = try screen(try admin(mock, "GET", path + "/screen"))
        #expect(try notifications(empty).isEmpty && empty["platform"] as? String == "phone")
        #expect(empty["online"] as? Bool == true && empty["unlocked"] as? Bool == false)
        try push(
            mock, "{\"aps\":{\"alert\":{\"title\":\"Ada\",\"body\":\"Dinner?\"},\"badge\":3,\"category\":\"MESSAGE\"}}")
        try push(mock, "{\"aps\":{\"alert\":\"1:0\"}}", ["apns-collapse-id: match"])
        try push(mock, "{\"aps\":{\"alert\":\"2:0\"}}", ["apns-collapse-id: match"])
        let shown = try screen(
            try admin(mock, "GET", path.uppercased().replacing("/DEVICES", with: "/devices") + "/screen"))
        let list = try notifications(shown)
        #expect(shown["badge"] as? Int == 3 && shown["token"] as? String == device)
        #expect(list.map { $0["body"] as? String } == ["2:0", "Dinner?"])
        #expect(list[0]["identifier"] as? String == "match" && list[0]["place"] as? String == "lock_screen")
        #expect(list[1]["title"] as? String == "Ada" && list[1]["actions"] as? [String] == ["REPLY", "LIKE"])
        let id = try #require(list[1]["id"] as? String)

        #expect(
            try admin(mock, "POST", path + "/tap")
                == "the device is locked; POST /devices/<token>/unlock first\n400")
        #expect(
            try admin(mock, "POST", path + "/reply", ["-d", "{text: At eight}"])
                == "the notification has no action that takes text\n400")
        // A text action that does not ask for it works on the locked device.
        let replied = try screen(
            try admin(mock, "POST", path + "/reply", ["-d", "{\"text\": \"At eight\", \"notification\": \"\(id)\"}"]))
        #expect(try notifications(replied).map { $0["body"] as? String } == ["2:0"])
        #expect(
            try admin(mock, "POST", path + "/dismiss", ["-d", "{notification: '\(id)'}"])
                == "the device shows no notification with the id \"\(id)\"\n404")
        #expect(try screen(try admin(mock, "POST", path + "/unlock"))["unlocked"] as? Bool == true)
        #expect(try notifications(try screen(try admin(mock, "POST", path + "/tap"))).isEmpty)
        #expect(try admin(mock, "POST", path + "/dismiss") == "the device shows no notification\n404")

        // In the foreground the app shows it itself; locked, it is on the lock screen again.
        #expect(try screen(try admin(mock, "POST", path + "/open"))["app"] as? String == "foreground")
        try push(mock, "{\"aps\":{\"alert\":\"a\"}}")
        let locked = try screen(try admin(mock, "POST", path + "/lock"))
        #expect(locked["unlocked"] as? Bool == false && locked["app"] as? String == "background")
        try push(mock, "{\"aps\":{\"alert\":\"b\",\"category\":\"MESSAGE\"}}")
        let last = try notifications(try screen(try admin(mock, "GET", path + "/screen")))
        #expect(last.first?["place"] as? String == "lock_screen" && last.first?["body"] as? String == "b")
        #expect(
            try admin(mock, "POST", path + "/tap", ["-d", "{action: LIK}"])
                == "the notification has no action \"LIK\"; did you mean \"LIKE\"?\n400")
        #expect(
            try !notifications(try screen(try admin(mock, "POST", path + "/tap", ["-d", "{action: LIKE}"])))
                .contains { $0["body"] as? String == "b" })

        let text = try admin(mock, "GET", "/stats")
        let stats = try #require(try JSONSerialization.jsonObject(with: Data(text.dropLast(3).utf8)) as? [String: Any])
        let devices = try #require(stats["devices"] as? [String: Any])
        let outcomes = try #require(devices["outcomes"] as? [String: Int])
        #expect(outcomes["lock_screen"] == 4 && outcomes["in_app"] == 1 && outcomes.values.reduce(0, +) == 5)
        let events = try #require(devices["events"] as? [String: Int])
        #expect(events["acted_on"] == 2 && events["opened"] == 1 && events["updated"] == 1)
        #expect(events["callback_failed"] == 3 && (devices["requests_failed"] as? [String: Int])?["action"] == 3)
        #expect(try admin(mock, "POST", "/reset") == "reset\n200")
        #expect(try notifications(try screen(try admin(mock, "GET", path + "/screen"))).isEmpty)
        _ = try mock.stop()
    }

    @Test("The page shows the same with everything of strangers escaped, and neither loads nor runs anything")
    func page() throws {
        let mock = try Mock(["--admin-port", "0", "--device-model", Self.model])
        let hostile = "<script>alert(1)</script><img src=x onerror='a'>\\u0000\\u0008\\ud83d\\ude00\\\"&amp;"
        try push(
            mock,
            "{\"aps\":{\"alert\":{\"title\":\"\(hostile)\",\"subtitle\":\"</style>\",\"body\":\"]]><!--\"},\"category\":\"MESSAGE\"}}"
        )
        for arguments in [
            ["http://127.0.0.1:\(try mock.port(of: "admin"))/devices/\(device)/screen.html"],
            ["-H", "Accept: text/html,*/*", "http://127.0.0.1:\(try mock.port(of: "admin"))/devices/\(device)/screen"],
        ] {
            let answer = try Programs.run("/usr/bin/curl", ["-s", "-i"] + arguments).output
            #expect(answer.contains("content-type: text/html; charset=utf-8\r\n"), "\(answer)")
            #expect(
                answer.contains(
                    "&lt;script&gt;alert(1)&lt;/script&gt;&lt;img src=x onerror=&#39;a&#39;&gt;\u{FFFD}\u{FFFD}😀&quot;&amp;amp;</p>"
                ), "\(answer)")
            #expect(
                answer.contains("&lt;/style&gt;") && answer.contains("]]&gt;&lt;!--")
                    && answer.contains("<span>REPLY</span>"))
            for tag in ["<script", "<img", "<link", "<iframe", "http://", "https://", "url(", "@import"] {
                #expect(!answer.contains(tag), "\(tag)")
            }
            #expect(answer.contains("default-src 'none'"))
        }
        _ = try mock.stop()
    }

    @Test("Tokens, pages, methods and bodies that are wrong get one line, and the mock goes on")
    func wrong() throws {
        let mock = try Mock(["--admin-port", "0", "--device-model", "on", "--devices", "10"])
        let known = try Programs.run("pushload", ["device-token", "1"]).output.trimmingCharacters(in: .newlines)
        let path = "/devices/\(known)"
        let bad = "expected a device token after /devices/, at least 64 hexadecimal digits\n400"
        let long = String(repeating: "ab", count: 5000)
        for (method, path, body, expected) in [
            ("GET", "/devices/\(known.dropLast())/screen", nil, bad), ("GET", "/devices//screen", nil, bad),
            ("GET", "/devices/\(known)a/screen", nil, bad), ("GET", "/devices/\(long)/screen", nil, bad),
            ("POST", "/devices/x%00y/tap", nil, bad), ("GET", "/devices/\(known.dropLast(2))/screen", nil, bad),
            (
                "GET", "/devices/\(device)/screen", nil,
                "there is no device with this token among those that are registered\n404"
            ),
            ("POST", path + "/tab", nil, "/devices/<token>/tab: no such page; did you mean \"tap\"?\n404"),
            ("POST", path + "/tap/", nil, nil), ("GET", path + "/", nil, nil),
            ("GET", path + "/tap", nil, "GET \(path)/tap: expected POST\n405"),
            ("POST", path + "/screen", nil, "POST \(path)/screen: expected GET\n405"),
            ("GET", path + "/screen?all=1", nil, "\(path)/screen: unknown query \"all\"; this page takes none\n400"),
            ("POST", path + "/reply", nil, "reply: expected what is typed, as in {text: On my way}\n400"),
            (
                "POST", path + "/reply", "{\"text\": \"\(String(repeating: "x", count: 5000))\"}",
                "reply: the text has 5,000 bytes; expected at most 4,096\n400"
            ),
            ("POST", path + "/reply", "{txt: a}", "reply:1:2: unknown key \"txt\"; did you mean \"text\"?\n400"),
            ("POST", path + "/tap", "{text: a}", nil), ("POST", path + "/unlock", "{a: b}", nil),
            ("POST", path + "/tap", "[", nil), ("POST", path + "/tap", "{notification: [1]}", nil),
            (
                "POST", path + "/dismiss", "{notification: 99999999999999999999999}",
                "the device shows no notification with the id \"99999999999999999999999\"\n404"
            ),
        ] as [(String, String, String?, String?)] {
            let text = try admin(mock, method, path, body.map { ["--data-binary", $0] } ?? [])
            if let expected {
                #expect(text == expected)
            } else {
                #expect((text.hasSuffix("\n400") || text.hasSuffix("\n404")) && text.count > 20, "\(path): \(text)")
                #expect(text.split(separator: "\n").count == 2, "\(text)")
            }
        }
        #expect(try admin(mock, "GET", path + "/screen").hasSuffix("\n200"))
        _ = try mock.stop()
        let plain = try Mock(["--admin-port", "0"])
        #expect(
            try admin(plain, "GET", path + "/screen")
                == "there is no device model; start mock-apns with --device-model on\n404")
        _ = try plain.stop()
    }
}
