import Testing

@testable import HTTP2

private final class Client: HTTP2Session {
    var body: [UInt8] = []
    var statuses: [Int32: String] = [:]
    var closed: [Int32: ErrorCode] = [:]
    var received: [UInt8] = []
    var goAway: (last: Int32, code: ErrorCode, debug: String)?

    override func nextData(stream: Int32, buffer: UnsafeMutablePointer<UInt8>, capacity: Int, isLast: inout Bool) -> Int
    {
        isLast = true
        buffer.update(from: body, count: body.count)
        return body.count
    }
    override func didReceiveHeader(
        stream: Int32, name: UnsafePointer<UInt8>, nameLength: Int, value: UnsafePointer<UInt8>, valueLength: Int
    ) -> Bool {
        let field = String(decoding: UnsafeBufferPointer(start: name, count: nameLength), as: UTF8.self)
        if field == ":status" {
            statuses[stream] = String(decoding: UnsafeBufferPointer(start: value, count: valueLength), as: UTF8.self)
        }
        return true
    }
    override func didReceiveData(stream: Int32, bytes: UnsafePointer<UInt8>, count: Int) {
        received += UnsafeBufferPointer(start: bytes, count: count)
    }
    override func didClose(stream: Int32, code: ErrorCode) { closed[stream] = code }
    override func didReceiveGoAway(lastStream: Int32, code: ErrorCode, debugData: UnsafeBufferPointer<UInt8>) {
        goAway = (lastStream, code, String(decoding: debugData, as: UTF8.self))
    }
}

private final class Server: HTTP2Session {
    var paths: [String] = []
    var bodies: [Int32: [UInt8]] = [:]
    var respond = true

    override func didReceiveHeader(
        stream: Int32, name: UnsafePointer<UInt8>, nameLength: Int, value: UnsafePointer<UInt8>, valueLength: Int
    ) -> Bool {
        if String(decoding: UnsafeBufferPointer(start: name, count: nameLength), as: UTF8.self) == ":path" {
            paths.append(String(decoding: UnsafeBufferPointer(start: value, count: valueLength), as: UTF8.self))
        }
        return true
    }
    override func didReceiveData(stream: Int32, bytes: UnsafePointer<UInt8>, count: Int) {
        bodies[stream, default: []] += UnsafeBufferPointer(start: bytes, count: count)
    }
    override func didEndData(stream: Int32) {
        guard respond else { return }
        let block = HeaderBlock(capacity: 1)
        block.add(":status", "400")
        blocks.append(block)
        submitResponse(block, stream: stream, hasBody: true)
    }
    var blocks: [HeaderBlock] = []
    override func nextData(stream: Int32, buffer: UnsafeMutablePointer<UInt8>, capacity: Int, isLast: inout Bool) -> Int
    {
        isLast = true
        buffer.update(from: Array("no".utf8), count: 2)
        return 2
    }
}

@Suite struct HTTP2SessionTests {
    /// Carries what both sides say to each other until both are silent.
    private func exchange(_ client: HTTP2Session, _ server: HTTP2Session) {
        var isBusy = true
        while isBusy {
            isBusy = false
            for (from, to) in [(client, server), (server, client)] {
                var bytes: UnsafePointer<UInt8>?
                var output: [UInt8] = []
                while true {
                    let count = from.nextOutput(&bytes)
                    if count <= 0 { break }
                    output += UnsafeBufferPointer(start: bytes, count: count)
                }
                if !output.isEmpty {
                    isBusy = true
                    #expect(to.receive(output, count: output.count) == nil)
                }
            }
        }
    }

    private func request(_ path: [UInt8]) -> HeaderBlock {
        let block = HeaderBlock(capacity: 4)
        block.add(":method", "POST")
        block.add(":scheme", "https")
        block.add(":authority", "a")
        let place = block.addVariable(":path", indexed: true, copied: true)
        path.withUnsafeBufferPointer { block.setValue(place, $0.baseAddress!, path.count) }
        return block
    }

    @Test("A request and its body reach the server, the answer and its body reach the client")
    func roundTrip() {
        let client = Client(.client, settings: SessionSettings())
        var settings = SessionSettings()
        settings.maxConcurrentStreams = 7
        let server = Server(.server, settings: settings)
        exchange(client, server)
        #expect(client.peerSettings.maxConcurrentStreams == 7)
        client.body = Array("hello".utf8)
        let path = Array("/x".utf8)
        let block = request(path)
        let stream = client.submitRequest(block, context: 5)
        #expect(stream == 1)
        exchange(client, server)
        #expect(server.paths == ["/x"] && server.bodies[1] == client.body)
        #expect(client.statuses == [1: "400"] && client.received == Array("no".utf8))
        #expect(client.closed == [1: .noError] && client.isAlive)
    }

    @Test("GOAWAY names its reason, and settings change during the connection")
    func goAway() {
        let client = Client(.client, settings: SessionSettings())
        let server = Server(.server, settings: SessionSettings())
        exchange(client, server)
        server.submitSettings([(Frame.Setting.maxConcurrentStreams, 3)])
        exchange(client, server)
        #expect(client.peerSettings.maxConcurrentStreams == 3)
        server.submitGoAway(code: .noError, debugData: Array("{\"reason\":\"Shutdown\"}".utf8))
        exchange(client, server)
        #expect(client.goAway?.debug == "{\"reason\":\"Shutdown\"}" && client.goAway?.last == 0)
    }

    @Test("A reset closes the stream with its code")
    func reset() {
        let client = Client(.client, settings: SessionSettings())
        let server = Server(.server, settings: SessionSettings())
        server.respond = false
        exchange(client, server)
        let path = Array("/x".utf8)
        let block = request(path)
        _ = client.submitRequest(block, context: 1)
        exchange(client, server)
        server.submitReset(stream: 1, code: .enhanceYourCalm)
        exchange(client, server)
        #expect(client.closed == [1: .enhanceYourCalm])
    }

    @Test("Bytes that are not HTTP/2 are refused in words")
    func garbage() {
        let server = Server(.server, settings: SessionSettings())
        let bytes = Array("GET / HTTP/1.1\r\n\r\n".utf8)
        #expect(server.receive(bytes, count: bytes.count) != nil)
    }

    @Test("Error codes have their names")
    func names() {
        #expect(ErrorCode.refusedStream.description == "REFUSED_STREAM")
        #expect(ErrorCode(rawValue: 99).description == "error code 99")
    }
}
