import Testing

@testable import PlainHTTP

@Suite struct HostRuleTests {
    private func refusal(_ host: String?, _ origin: String? = nil, names: [String] = []) -> PlainResponse? {
        var request = PlainRequest("POST", "/reset")
        request.host = host
        request.origin = origin
        return HostRule(names: names, flag: "--admin-name").refusal(request)
    }

    @Test(
        "Names that no web page can have are taken: addresses, localhost, a container's, Kubernetes'",
        arguments: [
            nil, "127.0.0.1", "127.0.0.1:9101", "10.0.3.4:9101", "[::1]:9101", "[fd00::7]", "localhost:9101",
            "LOCALHOST",
            "localhost.", "mock.localhost", "mock-apns:8082", "mock-apns", "host.docker.internal:9101",
            "mock-apns.default.svc", "mock-apns.default.svc.cluster.local:9101", "box.local", "mock.example.com:9101",
            "Mock.Example.com", "0.0.0.0",
        ])
    func taken(_ host: String?) { #expect(refusal(host, names: ["mock.example.com"]) == nil) }

    @Test(
        "Public names are refused, whatever they resolve to",
        arguments: [
            "evil.example", "evil.example:9101", "evil.example.", "127.0.0.1.nip.io", "localhost.evil.example", "1.2.3",
            "svc.evil.example:80", "[evil]", "[::1", "", ":9101", "mock.example.org", "x.mock.example.com",
            "256.1.1.1.x", "[::1].evil.com", "localhost:80@evil.com",
        ])
    func refused(_ host: String) throws {
        let answer = try #require(refusal(host, names: ["mock.example.com"]))
        #expect(answer.status == 403)
        let text = String(decoding: answer.body, as: UTF8.self)
        #expect(
            text == "Host \"\(host)\": expected an IP address, localhost, a name without a dot, one that ends in "
                + ".localhost, .localdomain, .local, .internal, .svc, or one said with --admin-name\n")
    }

    @Test("A web page of another server is refused, one of this server is not")
    func origins() {
        #expect(refusal("127.0.0.1:9101", "http://127.0.0.1:9101") == nil)
        #expect(refusal("mock:443", "https://Mock:443") == nil)
        for origin in [
            "http://evil.example", "null", "http://127.0.0.1:8080", "http://127.0.0.1", "http://localhost:9101", "",
            "file://",
        ] { #expect(refusal("127.0.0.1:9101", origin)?.status == 403, "\(origin)") }
        #expect(refusal(nil, "http://127.0.0.1:9101")?.status == 403)
    }
}
