import HTTP2
import TestSupport
import Testing

@testable import Exam

@Suite struct ClientFramesTests {
    private static let sent: [(type: UInt8, flags: UInt8, stream: Int32, payload: [UInt8])] = [
        (Frame.settings, 0, 0, []), (Frame.headers, Frame.endHeaders, 1, [0x82, 0x87]),
        (Frame.data, Frame.endStream, 1, Array(repeating: 7, count: 16_384)), (Frame.ping, 0, 0, Array(1...8)),
        (Frame.windowUpdate, 0, 0, [0, 0, 1, 0]),
    ]

    @Test("Frames are cut the same however their bytes come", arguments: 0..<20)
    func pieces(_ seed: UInt64) {
        var random = SeededRandom(seed)
        let bytes =
            Frame.preface
            + Self.sent.flatMap { ServerFrames.frame($0.type, flags: $0.flags, stream: $0.stream, $0.payload) }
        var frames = ClientFrames()
        var found: [ClientFrame] = []
        var place = 0
        while place < bytes.count {
            let end = min(bytes.count, place + Int.random(in: 1...3000, using: &random))
            frames.take(bytes[place..<end])
            place = end
            while case .frame(let frame) = frames.next() { found.append(frame) }
        }
        #expect(found.count == Self.sent.count, "seed \(seed)")
        for (frame, sent) in zip(found, Self.sent) {
            #expect(frame.type == sent.type && frame.flags == sent.flags && frame.stream == sent.stream)
            #expect(frame.payload == sent.payload, "seed \(seed)")
        }
    }

    @Test("What is no HTTP/2, and a frame longer than allowed, is said to be so")
    func broken() {
        var frames = ClientFrames()
        frames.take(Array("GET / HTTP/1.1\r\n".utf8))
        guard case .broken("no connection preface") = frames.next() else { return #expect(Bool(false)) }
        frames = ClientFrames()
        frames.take(Frame.preface + [0, 0x40, 1, 0, 0, 0, 0, 0, 1])
        guard case .broken("a frame of 16385 bytes") = frames.next() else { return #expect(Bool(false)) }
    }

    @Test("Padding and priority are left out, and more padding than there is is found out")
    func padding() {
        let padded = ClientFrame(type: Frame.data, flags: Frame.padded, stream: 1, payload: [2, 5, 6, 0, 0])
        #expect(padded.content.map(Array.init) == [5, 6])
        let priority = ClientFrame(
            type: Frame.headers, flags: Frame.hasPriority | Frame.padded, stream: 1, payload: [1, 0, 0, 0, 0, 9, 5, 0])
        #expect(priority.content.map(Array.init) == [5])
        #expect(ClientFrame(type: Frame.data, flags: Frame.padded, stream: 1, payload: [3, 1]).content == nil)
        #expect(ClientFrame(type: Frame.headers, flags: Frame.hasPriority, stream: 1, payload: [0]).content == nil)
    }
}
