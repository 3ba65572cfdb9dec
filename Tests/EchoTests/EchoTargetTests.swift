import Testing

@testable import Echo

/// Which backends devices may be sent to.
@Suite struct EchoTargetTests {
    @Test("A URL has scheme, host, port, credentials and a path that is kept")
    func parts() throws {
        let plain = try EchoTarget("http://127.0.0.1:8080")
        #expect(plain.url == "http://127.0.0.1:8080" && plain.credentials == "device:device" && !plain.isSecure)
        let all = try EchoTarget("HTTPS://bob:p%40ss:word@LocalHost:8443/v1/app/")
        #expect(all.url == "https://localhost:8443/v1/app" && all.credentials == "bob:p@ss:word" && all.isSecure)
        #expect(try EchoTarget("http://[::1]:80").url == "http://[::1]:80")
        #expect(try EchoTarget("https://127.0.0.1").port == 443)
    }

    @Test(
        "What is no such URL is refused in one line",
        arguments: [
            "", "127.0.0.1:8080", "ftp://127.0.0.1", "http://", "http://:80", "http://127.0.0.1:", "http://127.0.0.1:0",
            "http://127.0.0.1:65536", "http://127.0.0.1:8080?a=b", "http://127.0.0.1/#top", "http://127.0.0.1/a b",
            "http://:word@127.0.0.1", "http://[::1", "http://127.0.0.1:80x", "http://no-such-host.invalid:80",
        ])
    func refused(_ url: String) {
        let error = #expect(throws: EchoError.self) { try EchoTarget(url) }
        #expect(error?.description.contains("\n") == false)
    }

    @Test("Only this machine may be asked, and hosts that are named; Apple's never")
    func allowed() throws {
        #expect(throws: EchoError.self) { try EchoTarget("http://192.0.2.1:80") }
        #expect(throws: EchoError.self) { try EchoTarget("http://192.0.2.1:80", allowed: ["192.0.2.2"]) }
        #expect(try EchoTarget("http://192.0.2.1:80", allowed: ["192.0.2.1"]).host == "192.0.2.1")
        #expect(try EchoTarget("http://[2001:db8::1]:80", allowed: ["[2001:DB8::1]"]).host == "2001:db8::1")
        for host in ["17.0.0.1", "[2620:149::1]", "[::ffff:17.1.1.1]"] {
            #expect(throws: EchoError.self) { try EchoTarget("http://\(host):80", allowed: [host]) }
        }
    }

    @Test("No refusal shows a password")
    func secrets() {
        let error = #expect(throws: EchoError.self) { try EchoTarget("http://bob:secret@192.0.2.1") }
        #expect(error?.description.contains("secret") == false)
        let wrong = #expect(throws: EchoError.self) { try EchoTarget("http://bob:secret@") }
        #expect(wrong?.description.contains("secret") == false)
    }
}
