import HTTP2
import Signing
import TestSupport
import Testing

@testable import Exam

/// What strangers send in an exam may be anything.
@Suite struct HostileBytesTests {
    private static func frame(_ random: inout SeededRandom) -> [UInt8] {
        let stream = Int32(random.below(12))
        switch random.below(9) {
        case 0: return ServerFrames.settings([])
        case 1: return ServerFrames.frame(Frame.settings, flags: Frame.acknowledgement)
        case 2: return ServerFrames.frame(Frame.ping, flags: UInt8(random.below(2)), Array("exam\0\0\0\0".utf8))
        case 3:
            // :method POST by its index, :path and apns-id as literals.
            let path = Array("/3/device/".utf8) + (0..<random.below(90)).map { _ in UInt8(random.below(256)) }
            let block: [UInt8] =
                [0x83, 0x04, UInt8(path.count)] + path + [0, 7] + Array("apns-id".utf8) + [2, 13, 10]
            return ServerFrames.frame(Frame.headers, flags: UInt8(random.below(64)), stream: stream, block)
        case 4: return ServerFrames.frame(Frame.continuation, flags: UInt8(random.below(8)), stream: stream, [0x88])
        case 5:
            let data = [UInt8](repeating: UInt8(random.below(256)), count: random.below(300))
            return ServerFrames.frame(Frame.data, flags: UInt8(random.below(16)), stream: stream, data)
        case 6: return ServerFrames.reset(stream, .cancel)
        case 7: return ServerFrames.windowUpdate(stream, by: UInt32(truncatingIfNeeded: random.next()))
        default:
            let payload = (0..<random.below(40)).map { _ in UInt8(random.below(256)) }
            return ServerFrames.frame(UInt8(random.below(12)), flags: UInt8(random.below(256)), stream: stream, payload)
        }
    }

    @Test("Frames in any order and bytes at random end no exam, in any situation", arguments: Situation.all.map(\.name))
    func anything(_ name: String) throws {
        let situation = try #require(Situation.all.first { $0.name == name })
        let identity = try Credentials.ephemeral().identity
        for seed in UInt64(0)..<60 {
            var random = SeededRandom(seed)
            let loop = StillLoop()
            let stage = Stage(
                situation, loop: loop, tls: nil, identity: identity, devices: ExamDevices.tokens(20),
                pace: Pace(patience: 1))
            for _ in 0..<4 {
                let stream = FedStream()
                stream.input += random.chance(0.9) ? Frame.preface : []
                for _ in 0..<random.below(60) { stream.input += Self.frame(&random) }
                if random.chance(0.5), stream.input.count > 30 {
                    for _ in 0..<random.below(5) { stream.input[24 + random.below(stream.input.count - 24)] ^= 0xFF }
                }
                stage.adopt(stream)
                loop.time += UInt64(random.below(400)) * 1_000_000
                stage.turn()
                loop.time += UInt64(random.below(3000)) * 1_000_000
                stage.turn()
            }
            let journal = stage.end()
            #expect(journal.connections.count == 4, "seed \(seed)")
            #expect(journal.connections.allSatisfy { $0.closedAt != nil }, "seed \(seed)")
            // Every request has its fate, and can be judged.
            #expect(!journal.pushes.contains { $0.fate == .waiting }, "seed \(seed)")
            for criterion in situation.criteria { #expect(!criterion.judge(journal).evidence.isEmpty, "seed \(seed)") }
        }
    }

    @Test("An apns-id that is no header value is not given back")
    func echo() throws {
        let loop = StillLoop()
        let situation = try #require(Situation.all.first { $0.name == "slow" })
        let stage = Stage(
            situation, loop: loop, tls: nil, identity: try Credentials.ephemeral().identity, devices: [],
            pace: Pace(patience: 1))
        let stream = FedStream()
        let block: [UInt8] = [0x83, 0x04, 1, 0x2F, 0, 7] + Array("apns-id".utf8) + [2, 13, 10]
        stream.input +=
            Frame.preface + ServerFrames.settings([])
            + ServerFrames.frame(Frame.headers, flags: Frame.endHeaders | Frame.endStream, stream: 1, block)
        stage.adopt(stream)
        #expect(stage.journal.pushes.map(\.fate) == [.rejected(status: 404, reason: "BadPath")])
        let text = String(decoding: stream.written, as: UTF8.self)
        #expect(text.contains("apns-id$00000000-0000-0000-0000-000000000000") && text.contains("BadPath"))
    }
}
