import PlainHTTP
import Testing

@Suite struct PlainRequestTests {
    @Test("Requests are read whole, in pieces, one after the other")
    func parsing() {
        let bytes = Array(
            "PUT /faults?a=1&b=x%20y HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhelloGET / HTTP/1.1\r\nHost: y\r\nConnection: close\r\n\r\n"
                .utf8)
        guard case .request(let first, let used) = PlainRequest.parse(bytes) else {
            Issue.record("not read")
            return
        }
        #expect(first.method == "PUT" && first.path == "/faults" && first.query == ["a": "1", "b": "x y"])
        #expect(first.body == Array("hello".utf8) && !first.closes)
        guard case .request(let second, _) = PlainRequest.parse(Array(bytes[used...])) else {
            Issue.record("not read")
            return
        }
        #expect(second.path == "/" && second.closes)
        for count in 0..<used {
            guard case .incomplete(let needs) = PlainRequest.parse(Array(bytes[..<count])) else {
                Issue.record("\(count) bytes are taken")
                return
            }
            #expect(needs > count && needs <= used)
        }
        #expect(first.host == "x" && first.origin == nil && second.host == "y")
    }

    @Test(
        "A request may have one empty line before it, and name the host in its target, which counts then",
        arguments: [
            ("\r\nGET /stats HTTP/1.1\r\nHost: a\r\n\r\n", "/stats", [:], "a"),
            (
                "GET http://127.0.0.1:9101/stats?x=%20 HTTP/1.1\r\nHost: evil.example\r\n\r\n", "/stats", ["x": " "],
                "127.0.0.1:9101"
            ),
            ("GET HTTP://[::1]:9101 HTTP/1.1\r\nHost: a\r\n\r\n", "/", [:], "[::1]:9101"),
            ("GET http://localhost?a=b/c HTTP/1.1\r\nHost: a\r\n\r\n", "/", ["a": "b/c"], "localhost"),
        ] as [(String, String, [String: String], String)])
    func forms(_ text: String, _ path: String, _ query: [String: String], _ host: String) {
        let bytes = Array(text.utf8)
        guard case .request(let request, let used) = PlainRequest.parse(bytes) else {
            Issue.record("not read")
            return
        }
        #expect(request.path == path && request.query == query && request.host == host && used == bytes.count)
        for count in 0..<bytes.count {
            guard case .incomplete = PlainRequest.parse(Array(bytes[..<count])) else {
                Issue.record("\(count) bytes are taken")
                return
            }
        }
    }

    @Test(
        "What is no request, or too large, is refused",
        arguments: [
            ("nonsense\r\n\r\n", 400), ("\r\n\r\nGET / HTTP/1.1\r\n\r\n", 400),
            ("GET http:///stats HTTP/1.1\r\n\r\n", 400), ("GET ftp://a/ HTTP/1.1\r\n\r\n", 400),
            ("GET * HTTP/1.1\r\n\r\n", 400), ("GET stats HTTP/1.1\r\n\r\n", 400), ("GET / HTTP/2\r\n\r\n", 400),
            ("GET / HTTP/1.1\r\nno colon\r\n\r\n", 400), ("PUT / HTTP/1.1\r\nContent-Length: x\r\n\r\n", 400),
            ("PUT / HTTP/1.1\r\nContent-Length: 2000000\r\n\r\n", 413),
            ("PUT / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n", 411),
            ("GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", 400),
            ("GET / HTTP/1.1\r\nOrigin: http://a\r\nOrigin: http://b\r\n\r\n", 400),
            ("PUT / HTTP/1.1\r\nContent-Length: +8\r\n\r\n", 400),
            ("PUT / HTTP/1.1\r\nContent-Length: 8\r\nContent-Length: 9\r\n\r\n", 400),
            ("GET / HTTP/1.1\r\nHost: a\u{0}b\r\n\r\n", 400), ("GET /\u{0} HTTP/1.1\r\n\r\n", 400),
            ("GET / HTTP/1.1\r\nHost: a\u{7F}\r\n\r\n", 400), ("GET / HTTP/1.1\r\nX: a\nHost: b\r\n\r\n", 400),
            ("GET / HTTP/1.1\r\nX: a\rb\r\n\r\n", 400), ("PUT / HTTP/1.1\r\nExpect: a reply\r\n\r\n", 417),
            ("PUT / HTTP/1.1\r\nContent-Length : 8\r\n\r\n", 400), ("\u{16}\u{3}\u{1}", 400),
            (String(repeating: "x", count: 17_000), 431),
            ("GET /?" + String(repeating: "x", count: 17_000) + " HTTP/1.1\r\nHost: a\r\n\r\n", 431),
        ])
    func refused(_ text: String, _ status: Int) {
        guard case .refused(let found, _) = PlainRequest.parse(Array(text.utf8)) else {
            Issue.record("taken")
            return
        }
        #expect(found == status)
    }

    @Test("HTTP/1.1 needs a Host, also beside one in the target; HTTP/1.0 knows none")
    func host() {
        for target in ["/stats", "http://127.0.0.1/stats"] {
            let asked = PlainRequest.parse(Array("GET \(target) HTTP/1.1\r\nAccept: */*\r\n\r\n".utf8))
            #expect(asked == .refused(400, "no Host, which HTTP/1.1 needs"))
        }
        guard case .request(let old, _) = PlainRequest.parse(Array("GET /stats HTTP/1.0\r\n\r\n".utf8)) else {
            Issue.record("HTTP/1.0 without Host is not read")
            return
        }
        #expect(old.path == "/stats" && old.host == nil && old.closes)
    }

    @Test(
        "Who waits to be told to send a body is told once the head is there, and only then; HTTP/1.0 has no such thing")
    func awaited() {
        let head = Array("PUT /faults HTTP/1.1\r\nHost: a\tb\r\nExpect: 100-Continue\r\nContent-Length: 2\r\n\r\n".utf8)
        #expect(PlainRequest.parse(Array(head.dropLast())) == .incomplete(needs: head.count))
        #expect(PlainRequest.parse(head) == .awaited(needs: head.count + 2))
        guard case .request(let request, _) = PlainRequest.parse(head + [0x7B, 0x7D]) else {
            Issue.record("not read")
            return
        }
        #expect(request.body == [0x7B, 0x7D])
        let old = Array("PUT / HTTP/1.0\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n".utf8)
        #expect(PlainRequest.parse(old) == .incomplete(needs: old.count + 2))
    }

    @Test("A method that a page does not take is answered with those it takes")
    func wrongMethod() {
        guard case .request(let request, _) = PlainRequest.parse(Array("POST /x HTTP/1.1\r\nHost: a\r\n\r\n".utf8))
        else {
            Issue.record("not read")
            return
        }
        let text = String(
            decoding: PlainResponse.wrongMethod(request, allowed: ["GET", "PUT"]).bytes(closes: false), as: UTF8.self)
        #expect(text.hasPrefix("HTTP/1.1 405 Method Not Allowed\r\n") && text.contains("\r\nallow: GET, HEAD, PUT\r\n"))
        #expect(text.hasSuffix("\r\n\r\nPOST /x: expected GET or PUT\n"))
    }
}
