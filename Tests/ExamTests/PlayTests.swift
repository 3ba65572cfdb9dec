import Glibc
import HTTP2
import Networking
import Signing
import Testing

@testable import Exam

/// Time stands still unless it is told to go on; nothing is ever ready by itself.
final class StillLoop: EventLoop {
    var time: UInt64 = 1_000_000_000
    init() { super.init(wakeUp: WakeUp()) }
    override var now: UInt64 { time }
    override var unixMilliseconds: Int64 { 1_700_000_000_000 }
}

/// Gives what it was given, piece by piece, and takes whatever is written.
final class FedStream: ByteStream {
    var input: ArraySlice<UInt8> = []
    var written: [UInt8] = []
    /// Nothing can be written.
    var isStuck = false
    /// Nothing comes behind the input.
    var hasEnded = false
    override func read(into buffer: UnsafeMutablePointer<UInt8>, capacity: Int) -> IOResult {
        guard !input.isEmpty else { return hasEnded ? .endOfStream : .wouldBlock }
        let count = min(capacity, input.count)
        for (place, byte) in input.prefix(count).enumerated() { buffer[place] = byte }
        input = input.dropFirst(count)
        return .bytes(count)
    }
    override func write(_ bytes: UnsafePointer<UInt8>, count: Int) -> IOResult {
        if isStuck { return .wouldBlock }
        written += UnsafeBufferPointer(start: bytes, count: count)
        return .bytes(count)
    }
}

/// What the exam itself does to a connection, and what its journal says of it.
@Suite struct PlayTests {
    private let loop = StillLoop()
    private let identity: ProviderIdentity

    init() throws { identity = try Credentials.ephemeral().identity }

    private func stage(_ name: String, patience: Double = 1) throws -> Stage {
        Stage(
            try #require(Situation.all.first { $0.name == name }), loop: loop, tls: nil, identity: identity,
            devices: ExamDevices.tokens(20), pace: Pace(patience: patience))
    }

    /// A connection that begins with so many pushes in one go.
    private func stream(_ pushes: Range<Int>) throws -> FedStream {
        let stream = FedStream()
        let token = try TokenSigner.bearer(identity, unixTime: loop.unixSeconds)
        stream.input += Frame.preface + ServerFrames.settings([])
        for (place, device) in ExamDevices.tokens(20)[pushes].enumerated() {
            // :method POST by its index, :path and authorization as literals with indexed names.
            let block =
                [0x83, 0x04] + Self.text("/3/device/" + device) + [0x0F, 0x08] + Self.text(token)
            stream.input += ServerFrames.frame(
                Frame.headers, flags: Frame.endHeaders | Frame.endStream, stream: Int32(place * 2 + 1), block)
        }
        return stream
    }

    /// A literal of HPACK, not Huffman's.
    private static func text(_ text: String) -> [UInt8] {
        let bytes = Array(text.utf8)
        if bytes.count < 127 { return [UInt8(bytes.count)] + bytes }
        let rest = bytes.count - 127
        return (rest < 128 ? [127, UInt8(rest)] : [127, UInt8(rest & 127 | 128), UInt8(rest >> 7)]) + bytes
    }

    private func judge(_ id: String, _ journal: Journal) throws -> Finding {
        try #require(Situation.all.flatMap(\.criteria).first { $0.id == id }).judge(journal)
    }

    @Test("What a connection was answered before it fell silent is said to it first")
    func silent() throws {
        let stage = try stage("silent")
        let stream = try stream(0..<6)
        stage.adopt(stream)
        #expect(stage.journal.pushes.map(\.fate) == Array(repeating: .accepted, count: 4) + [.waiting, .waiting])
        #expect(String(decoding: stream.written, as: UTF8.self).ranges(of: "00000000-0000").count == 4)
        stage.adopt(try self.stream(4..<20))
        let journal = stage.end()
        #expect(try judge("silent.once", journal).verdict == .passed)
        #expect(try judge("silent.others", journal).evidence == "18 of 18 accepted, 2 on the dead connection")
    }

    @Test(
        "Answers that had not left when the connection fell silent, or ended, were not heard", arguments: [true, false])
    func unheard(_ isSilent: Bool) throws {
        let stage = try stage(isSilent ? "silent" : "idle")
        let stream = try stream(0..<6)
        stream.isStuck = true
        stage.adopt(stream)
        let fates = stage.end().pushes.map(\.fate)
        #expect(fates.prefix(4).allSatisfy { $0 == .acceptedUnheard }, "\(fates)")
    }

    @Test("The server is down for a second, however patient the exam is", arguments: [0.5, 4])
    func down(_ patience: Double) throws {
        let stage = try stage("down", patience: patience)
        for milliseconds in [0, 990, 1010] as [UInt64] {
            loop.time = 1_000_000_000 + milliseconds * 1_000_000
            stage.adopt(FedStream())
        }
        #expect(stage.end().connections.map(\.isTurnedAway) == [true, true, false])
    }

    @Test("Connections beyond what a situation takes are closed and counted; one that has ended makes room")
    func connectionsBeyond() throws {
        let stage = try stage("one-stream")
        /// Whether it was closed at once.
        func refuses() throws -> Bool {
            var ends: [Int32] = [-1, -1]
            try #require(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue), 0, &ends) == 0)
            defer { close(ends[1]) }
            stage.adopt(ends[0])
            var byte: UInt8 = 0
            return recv(ends[1], &byte, 1, Int32(MSG_DONTWAIT)) == 0
        }
        let first = FedStream()
        stage.adopt(first)
        for _ in 1..<Stage.mostConnectionsOpen { stage.adopt(FedStream()) }
        #expect(try refuses() && stage.journal.connections.count == Stage.mostConnectionsOpen)
        first.hasEnded = true
        stage.handle(0)
        stage.turn()
        #expect(try !refuses() && stage.journal.connections.count == Stage.mostConnectionsOpen + 1)
        let others = Array(repeating: ConnectionRecord(openedAt: 0), count: Stage.mostConnections)
        stage.journal.connections += others.dropFirst(stage.journal.connections.count)
        stage.turn()
        #expect(try refuses() && stage.journal.connections.count == Stage.mostConnections)
        #expect(ReportCard.SituationCard(.oneStream, stage.end()).connections == Stage.mostConnections + 2)
    }

    @Test("503 with Retry-After: 1 is over when the second is, however patient the exam is")
    func retryAfter() throws {
        let stage = try stage("retry-after", patience: 4)
        stage.adopt(try stream(0..<2))
        loop.time += 1_000_000_000
        stage.adopt(try stream(0..<2))
        #expect(stage.end().pushes.map(\.fate.errorStatus) == [503, 503, nil, nil])
    }

    @Test("An answer that takes 1.5 s takes no longer for a patient exam")
    func slow() throws {
        let stage = try stage("slow", patience: 4)
        stage.adopt(try stream(0..<1))
        loop.time += 1_500_000_000
        stage.turn()
        #expect(stage.end().pushes.map(\.fate) == [.accepted])
    }
}
