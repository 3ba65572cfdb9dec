import Foundation
import Networking
import PlainHTTP
import Synchronization
import Testing

/// A server on a thread of its own. `/big` is 100 KB; `/events` an event stream; anything else says `ok`.
private final class Served: Sendable {
    let port: UInt16
    private let stopping = Atomic<Bool>(false)
    private let reactorWakeUp: WakeUp
    private let done = DispatchSemaphore(value: 0)
    let answered = Atomic<Int>(0)
    let ended = Atomic<Int>(0)
    /// Sent to all event streams, in each turn, while it is on.
    let floods = Atomic<Bool>(false)
    /// Events that were sent to each of them so far, and those dropped, of all together.
    let rounds = Atomic<Int>(0)
    let dropped = Atomic<Int>(0)

    init(_ change: (inout PlainLimits) -> Void = { _ in }) throws {
        var limits = PlainLimits()
        change(&limits)
        let listener = try Listener(host: "127.0.0.1", port: 0, shared: false)
        port = listener.address.port
        let reactor = try Reactor()
        reactorWakeUp = reactor.wakeUp
        nonisolated(unsafe) let owned = (listener, reactor, limits)
        Thread { [self] in serve(owned.0, owned.1, owned.2) }.start()
    }

    private func serve(_ listener: Listener, _ reactor: Reactor, _ limits: PlainLimits) {
        var streams: [UInt64] = []
        let big = PlainResponse(status: 200, body: [UInt8](repeating: 0x62, count: 100_000))
        let event = Array("data: \(String(repeating: "e", count: 8000))\n\n".utf8)
        nonisolated(unsafe) weak var made: PlainServer?
        let server = PlainServer(listener: listener, reactor: reactor, hosts: HostRule(), limits: limits) {
            request, connection in
            self.answered.add(1, ordering: .relaxed)
            if request.path == "/events" {
                made?.beginEvents(connection)
                streams.append(connection)
                return nil
            }
            return request.path == "/big" ? big : .text("ok")
        }
        made = server
        server.ended = { [self] connection in
            streams.removeAll { $0 == connection }
            ended.add(1, ordering: .relaxed)
        }
        server.dropped = { [self] in dropped.add($0, ordering: .relaxed) }
        while !stopping.load(ordering: .relaxed) {
            server.turn(timeout: 5_000_000)
            if floods.load(ordering: .relaxed) {
                rounds.add(1, ordering: .relaxed)
                for stream in streams { server.sendEvent(event, to: stream) }
            }
        }
        done.signal()
    }

    deinit { stop() }

    func stop() {
        stopping.store(true, ordering: .relaxed)
        reactorWakeUp.signal()
        done.wait()
        done.signal()
    }
}

/// A client that does what it likes.
private final class Peer {
    private let stream: ByteStream
    private(set) var isOver = false
    private var read: [UInt8] = []
    var text: String { String(decoding: read, as: UTF8.self) }
    var count: Int { read.count }

    init(_ served: Served, receiveBuffer: Int? = nil) throws {
        var options = SocketOptions()
        options.receiveBuffer = receiveBuffer
        stream = try SocketStream(
            connectingTo: try SocketAddress(host: "127.0.0.1", port: served.port), serverName: "127.0.0.1", tls: nil,
            options: options)
        for _ in 0..<60_000 {
            if stream.advance() == .done { break }
            usleep(1000)
        }
    }

    /// Sends until nothing was taken for a second; false when not all of it was.
    @discardableResult
    func send(_ text: String) -> Bool {
        let bytes = Array(text.utf8)
        var offset = 0
        var stuck = 0
        while offset < bytes.count, stuck < 1000 {
            switch bytes.withUnsafeBufferPointer({
                stream.write($0.baseAddress! + offset, count: bytes.count - offset)
            }) {
            case .bytes(let count): (offset, stuck) = (offset + count, 0)
            case .wouldBlock:
                stuck += 1
                usleep(1000)
            case .endOfStream, .failed: return false
            }
        }
        return offset == bytes.count
    }

    /// Reads what there is.
    func receive() {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while !isOver {
            switch stream.read(into: &buffer, capacity: buffer.count) {
            case .bytes(let count): read += buffer[..<count]
            case .wouldBlock: return
            case .endOfStream, .failed: isOver = true
            }
        }
    }

    /// Reads until `isEnough`, for two minutes at most.
    func receive(until isEnough: (Peer) -> Bool) -> Bool {
        for _ in 0..<120_000 {
            receive()
            if isEnough(self) { return true }
            if isOver { return false }
            usleep(1000)
        }
        return false
    }

    var isServed: Bool {
        send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        return receive { $0.text.hasSuffix("ok\n") }
    }
}

@Suite struct PlainServerTests {
    @Test("Who sends requests and reads no answers is not read from, and has all answers once it reads")
    func pipelined() throws {
        let served = try Served()
        let greedy = try Peer(served, receiveBuffer: 4096)
        let requests = 1000
        greedy.send(String(repeating: "GET /big HTTP/1.1\r\nHost: a\r\n\r\n", count: requests))
        #expect(try Peer(served).isServed)
        // What the kernel's buffers hold of 100 MB, no more.
        #expect(served.answered.load(ordering: .relaxed) < 500, "\(served.answered.load(ordering: .relaxed))")
        var whole = 0
        #expect(
            greedy.receive { peer in
                whole = peer.count
                return whole >= requests * 100_000
            }, "\(whole)")
        #expect(served.answered.load(ordering: .relaxed) == requests + 1)
    }

    @Test("Thousands of requests at once are answered in their order, and nobody waits for the last of them")
    func turns() throws {
        let served = try Served()
        let greedy = try Peer(served)
        greedy.send(
            String(repeating: "GET / HTTP/1.1\r\nHost: a\r\n\r\n", count: 4000)
                + "GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
        #expect(try Peer(served).isServed)
        _ = greedy.receive { $0.isOver }
        #expect(greedy.text.split(separator: "ok\n").count == 4001)
    }

    @Test("Half requests hold no more than they may together: those that hold most are closed, others are served")
    func halfRequests() throws {
        let served = try Served {
            $0.held = 8 << 20
            $0.request = 600_000_000_000
        }
        var peers: [Peer] = []
        for _ in 0..<60 {
            let peer = try Peer(served)
            peer.send(
                "PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000\r\n\r\n" + String(repeating: "x", count: 600_000))
            peers.append(peer)
        }
        #expect(try Peer(served).isServed)
        for _ in 0..<60_000 where peers.count(where: \.isOver) < 45 {
            for peer in peers { peer.receive() }
            usleep(1000)
        }
        // 600,000 bytes are 13 times in 8 MiB, and memory is taken in larger pieces.
        let open = peers.count { !$0.isOver }
        #expect(open > 0 && open <= 14, "\(open)")
    }

    @Test("A request that comes byte by byte is looked at once its head is there and once it is whole")
    func bytes() throws {
        let served = try Served()
        let slow = try Peer(served)
        for byte in "PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello" { slow.send(String(byte)) }
        #expect(slow.receive { $0.text.hasSuffix("ok\n") })
    }

    @Test("Who says nothing, half a request or nothing more is closed in time; an event stream is not")
    func limits() throws {
        let served = try Served {
            $0.request = 4_000_000_000
            $0.idle = 1_000_000_000
        }
        let subscriber = try Peer(served)
        subscriber.send("GET /events HTTP/1.1\r\nHost: a\r\n\r\n")
        #expect(subscriber.receive { $0.text.hasSuffix(": ready\n\n") })
        let (silent, half, idle) = (try Peer(served), try Peer(served), try Peer(served))
        half.send("GET / HT")
        #expect(idle.isServed)
        for peer in [silent, half, idle] { #expect(peer.receive { $0.isOver }) }
        #expect(silent.text.isEmpty && half.text.hasPrefix("HTTP/1.1 408 Request Timeout\r\n"), "\(half.text)")
        subscriber.receive()
        #expect(!subscriber.isOver && served.ended.load(ordering: .relaxed) == 0)
        served.floods.store(true, ordering: .relaxed)
        #expect(subscriber.receive { $0.text.contains("eee") })
    }

    @Test("An event stream that is never read is closed, one that is read goes on")
    func unreadEvents() throws {
        let served = try Served { $0.answer = 1_000_000_000 }
        let (reader, sleeper) = (try Peer(served), try Peer(served, receiveBuffer: 4096))
        for peer in [reader, sleeper] { peer.send("GET /events HTTP/1.1\r\nHost: a\r\n\r\n") }
        #expect(sleeper.receive { $0.text.hasSuffix(": ready\n\n") })
        served.floods.store(true, ordering: .relaxed)
        #expect(reader.receive { _ in served.ended.load(ordering: .relaxed) > 0 })
        #expect(sleeper.receive { $0.isOver } && served.ended.load(ordering: .relaxed) == 1)
        reader.receive()
        #expect(!reader.isOver)
    }

    /// Events that came, and those that the client was told of as lost.
    private func counted(_ peer: Peer) -> (came: Int, lost: Int) {
        let events = peer.text.components(separatedBy: "\n\n").dropLast()
        let lost = events.compactMap { event in
            event.split(separator: ":").last.flatMap { event.hasPrefix("event: lost") ? Int($0.dropLast()) : nil }
        }
        return (events.count { $0.hasPrefix("data: eee") }, lost.reduce(0, +))
    }

    @Test("Event streams that hold more than they may together lose events, are told how many, and go on")
    func sharedBound() throws {
        let served = try Served {
            $0.held = 1 << 20
            $0.answer = 600_000_000_000
        }
        let peers = try (0..<16).map { _ in try Peer(served, receiveBuffer: 4096) }
        for peer in peers {
            peer.send("GET /events HTTP/1.1\r\nHost: a\r\n\r\n")
            #expect(peer.receive { $0.text.hasSuffix(": ready\n\n") })
        }
        served.floods.store(true, ordering: .relaxed)
        for _ in 0..<60_000 where served.dropped.load(ordering: .relaxed) < 100 { usleep(1000) }
        // A request that is not complete needs room.
        let half = try Peer(served)
        half.send("PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\n")
        usleep(100_000)
        half.send("abc")
        #expect(half.receive { $0.text.hasSuffix("ok\n") })
        served.floods.store(false, ordering: .relaxed)
        #expect(try Peer(served).isServed)
        let flooded = served.rounds.load(ordering: .relaxed)
        // What was lost is told before the next event.
        var isTold = false
        for _ in 0..<600 where !isTold && !peers.contains(where: \.isOver) {
            let before = served.rounds.load(ordering: .relaxed)
            served.floods.store(true, ordering: .relaxed)
            while served.rounds.load(ordering: .relaxed) == before { usleep(1000) }
            served.floods.store(false, ordering: .relaxed)
            #expect(try Peer(served).isServed)
            let rounds = served.rounds.load(ordering: .relaxed)
            // All that is on its way, before it is counted: counting is what takes time.
            var come = -1
            while come != peers.reduce(0, { $0 + $1.count }) {
                come = peers.reduce(0) { $0 + $1.count }
                for _ in 0..<10 {
                    for peer in peers { peer.receive() }
                    usleep(2000)
                }
            }
            let all = peers.map(counted)
            isTold = all.allSatisfy { $0.came + $0.lost == rounds }
            if isTold {
                #expect(all.allSatisfy { $0.lost > 0 } && rounds > flooded)
                #expect(all.reduce(0) { $0 + $1.lost } == served.dropped.load(ordering: .relaxed))
            }
        }
        #expect(isTold && served.ended.load(ordering: .relaxed) == 0 && !peers.contains(where: \.isOver))
    }

    @Test("An answer that is not read in time ends its connection")
    func unreadAnswer() throws {
        let served = try Served { $0.answer = 1_000_000_000 }
        let peer = try Peer(served, receiveBuffer: 4096)
        peer.send(String(repeating: "GET /big HTTP/1.1\r\nHost: a\r\n\r\n", count: 2000))
        // It sends no more than the kernel takes, and hears of the end by what it sends.
        var isOver = false
        for _ in 0..<1200 where !isOver {
            isOver = !peer.send("x")
            usleep(50_000)
        }
        #expect(isOver && served.answered.load(ordering: .relaxed) < 2000)
    }

    @Test("Whoever comes beyond the limit of connections is closed at once, and taken when there is room again")
    func connections() throws {
        let served = try Served { $0.connections = 5 }
        var peers = try (0..<5).map { _ in try Peer(served) }
        for peer in peers { #expect(peer.isServed) }
        for _ in 0..<20 { #expect(try Peer(served).receive { $0.isOver }) }
        peers.removeAll()
        var isServed = false
        for _ in 0..<600 where !isServed {
            isServed = try Peer(served).isServed
            usleep(10_000)
        }
        #expect(isServed)
    }

    @Test("A refused request's answer arrives though the client goes on sending")
    func refused() throws {
        let served = try Served()
        let peer = try Peer(served)
        peer.send(
            "PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: 2000000\r\n\r\n" + String(repeating: "x", count: 2_000_000))
        #expect(peer.receive { $0.isOver })
        #expect(peer.text.hasPrefix("HTTP/1.1 413 Content Too Large\r\n"), "\(peer.text.prefix(100))")
    }
}
