import Foundation
import Testing

/// The admin port's page of pushes, as a browser shows it.
@Suite(
    .serialized, .waitsForPrograms,
    .enabled(if: Chromium.path != nil, "Chromium is not installed: make test-deps, or apt install chromium"))
struct LivePageTests {
    /// Phones that are online and show what they get.
    private static let model = AudienceTests.root + "/mock-apns/examples/test-device.yaml"

    @Test(
        "The page lists pushes with their verdicts, and shows one push's headers, payload, fate and screen; nothing in it is run"
    )
    func page() throws {
        let mock = try Mock(["--admin-port", "0", "--device-model", Self.model])
        let nasty = "</script><script>document.title='run'</script><img src=x onerror=\\\"document.title='run'\\\">"
        _ = try ReasonTests.curl(
            mock,
            [
                .init(), .with { $0.body = "" },
                .with {
                    $0.headers.append("x-odd: <b>")
                    $0.body = "{\"aps\":{\"alert\":{\"title\":\"Ada\",\"body\":\"\(nasty)\"}}}"
                },
            ])
        let address = "http://127.0.0.1:\(try mock.port(of: "admin"))/?follow=no"
        let time = ["--virtual-time-budget=5000"]
        let (document, console) = try Chromium.load(address: address + "#3", time)
        #expect(console.isEmpty, "\(console)")
        for part in [
            "<title>mock-apns</title>", "3 pushes", "400 PayloadEmpty", "<td>hi</td>",
            "Ada · &lt;/script&gt;&lt;script&gt;",
            "x-odd: &lt;b&gt;", "apns-topic: com.example.app", "\"title\": \"Ada\"", "accepted",
            "delivered (lock_screen)",
            "src=\"/devices/\(ReasonTests.device)/screen.html\"",
        ] { #expect(document.contains(part), "\(part)") }
        #expect(!document.contains("<img"))
        let (filtered, _) = try Chromium.load(address: address + "&status=400", time)
        #expect(filtered.contains("1 push<") && !filtered.contains("Ada"), "\(filtered)")
        let (wrong, _) = try Chromium.load(
            address: address.replacing("follow=no", with: "follow=no&reason=Nothing"), time)
        #expect(wrong.contains("is not a reason of APNs"), "\(wrong)")
        _ = try mock.stop()
    }

    @Test("The page goes on with what comes")
    func follows() throws {
        let mock = try Mock(["--admin-port", "0"])
        let port = try mock.port(of: "admin")
        let html = try Programs.run("/usr/bin/curl", ["-s", "-D-", "http://127.0.0.1:\(port)/"]).output
        #expect(html.contains("content-security-policy: default-src 'none'; ") && html.contains("query.set(\"wait\""))
        #expect(!html.contains("http://") && !html.contains("https://"))
        let browser = try Programs.start(
            Chromium.path!,
            [
                "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
                "--user-data-dir=\(try OutputFolder.made().path)", "--enable-logging=stderr", "--v=0",
                "--virtual-time-budget=3000", "--dump-dom", "http://127.0.0.1:\(port)/",
            ])
        func waiting(_ count: Int) throws {
            for _ in 0..<6000 {
                let stats = try Programs.run("/usr/bin/curl", ["-s", "http://127.0.0.1:\(port)/stats"]).output
                if stats.contains("\"waiting\":\(count)") { return }
                usleep(10_000)
            }
            Issue.record("never \(count) waiting: \(browser.errorText)")
        }
        try waiting(1)
        for number in 1...3 {
            // Answered when the browser is, which asks again once it has shown the push.
            let own = try Programs.start(
                "/usr/bin/curl", ["-s", "http://127.0.0.1:\(port)/pushes?after=\(number - 1)&wait=100s"])
            try waiting(2)
            #expect(try ReasonTests.curl(mock, [.init()]) == [" 200"])
            #expect(try own.wait().output.contains("\"id\":\(number)"))
            try waiting(1)
        }
        // The browser's clock stands while it waits for the mock, and runs out once that has gone.
        _ = try mock.stop()
        let document = try browser.wait().output
        #expect(document.components(separatedBy: "<td>hi</td>").count == 4, "\(document)")
        #expect(document.contains("the mock does not answer"), "\(document)")
    }
}
