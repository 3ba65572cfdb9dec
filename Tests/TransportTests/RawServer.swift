import Foundation
import HTTP2
import Networking
import Synchronization

/// A server that says what it is told, frame by frame, and keeps what the client says.
final class RawServer: Sendable {
    let address: SocketAddress
    private let received = Mutex<[UInt8]>([])
    private let done = DispatchSemaphore(value: 0)

    /// A frame of the client's: its type, flags, stream, and bytes of payload.
    typealias Head = (type: UInt8, flags: UInt8, stream: Int32, length: Int)

    /// - Parameters:
    ///   - bytes: what is written once the client's preface is there.
    ///   - answer: what is written once the first request is whole.
    convenience init(_ bytes: [UInt8], answer: [UInt8] = []) throws {
        let hasAnswered = Atomic<Bool>(false)
        try self.init(bytes) { frame in
            guard frame.type == Frame.data, frame.flags & Frame.endStream != 0 else { return [] }
            return hasAnswered.exchange(true, ordering: .relaxed) ? [] : answer
        }
    }

    /// - Parameters:
    ///   - bytes: what is written once the client's preface is there.
    ///   - reply: what is written after each of the client's frames.
    init(_ bytes: [UInt8], reply: @escaping @Sendable (Head) -> [UInt8]) throws {
        let listener = try Listener(host: "127.0.0.1", port: 0, shared: false)
        address = listener.address
        nonisolated(unsafe) let handed = listener
        Thread.detachNewThread { [self] in
            serve(handed, bytes, reply)
            done.signal()
        }
    }

    private func serve(_ listener: Listener, _ bytes: [UInt8], _ reply: (Head) -> [UInt8]) {
        var stream: ByteStream?
        for _ in 0..<4000 where stream == nil {
            if case .descriptor(let descriptor) = listener.accept() {
                stream = try? SocketStream(accepted: descriptor, tls: nil, options: SocketOptions())
            } else {
                usleep(500)
            }
        }
        guard let stream else { return }
        var buffer = [UInt8](repeating: 0, count: 65_536)
        var hasSpoken = false
        var seen = 0
        for _ in 0..<60_000 {
            switch stream.read(into: &buffer, capacity: buffer.count) {
            case .bytes(let count):
                let all = received.withLock { list in
                    list += buffer[..<count]
                    return list.count
                }
                // The preface, SETTINGS, WINDOW_UPDATE, and the first requests after our SETTINGS.
                if all > 24, !hasSpoken {
                    hasSpoken = true
                    _ = stream.write(bytes, count: bytes.count)
                }
                let frames = frames
                let answers = frames[seen...].flatMap { reply(($0.type, $0.flags, $0.stream, $0.payload.count)) }
                seen = frames.count
                if !answers.isEmpty { _ = stream.write(answers, count: answers.count) }
            case .wouldBlock: usleep(500)
            case .endOfStream, .failed: return
            }
        }
    }

    /// The client's frames so far that are whole.
    private var frames: [(type: UInt8, flags: UInt8, stream: Int32, payload: ArraySlice<UInt8>)] {
        let bytes = received.withLock { $0 }
        var position = Frame.preface.count
        var frames: [(type: UInt8, flags: UInt8, stream: Int32, payload: ArraySlice<UInt8>)] = []
        while position + 9 <= bytes.count {
            let length = Int(bytes[position]) << 16 | Int(bytes[position + 1]) << 8 | Int(bytes[position + 2])
            let end = position + 9 + length
            if end > bytes.count { break }
            let stream = bytes[(position + 5)..<(position + 9)].reduce(0) { $0 << 8 | Int32($1) }
            frames.append((bytes[position + 3], bytes[position + 4], stream, bytes[(position + 9)..<end]))
            position = end
        }
        return frames
    }

    /// The error code of the client's GOAWAY, of the last one; nil when it sent none.
    func goAwayCode() -> ErrorCode? {
        done.wait()
        return frames.last { $0.type == Frame.goAway && $0.payload.count >= 8 }.map { frame in
            Array(frame.payload).withUnsafeBufferPointer { ErrorCode(rawValue: Frame.read32($0.baseAddress! + 4)) }
        }
    }
}
