import Foundation
import Synchronization

/// A server on 127.0.0.1 that does with each request what the test says; a thread a connection.
final class ScriptedPeer: @unchecked Sendable {
    enum Reply {
        /// These bytes; then the connection stays open.
        case bytes(String)
        /// These bytes; then it is closed, in order or by a reset.
        case close(after: String)
        case reset(after: String)
        /// These bytes again and again, with a pause between them, until the client is gone.
        case endless(String, first: String, pause: useconds_t)
        /// Nothing, while the client is there.
        case silence

        static func status(_ status: Int, _ heads: [String] = [], body: String = "") -> Reply {
            .bytes(
                "HTTP/1.1 \(status) X\r\ncontent-length: \(body.utf8.count)\r\n" + heads.map { $0 + "\r\n" }.joined()
                    + "\r\n" + body)
        }
    }

    struct Request: Sendable {
        let line: String
        let head: String
        let body: String
        /// Seconds of the monotonic clock.
        let time: Double
        let connection: Int
    }

    let port: UInt16
    private let listener: Int32
    private let script: @Sendable (Int, Request) -> Reply
    private struct State {
        var requests: [Request] = []
        var open: Set<Int32> = []
        var connections = 0
        var isStopping = false
    }
    private let state = Mutex(State())
    private let threads = DispatchGroup()

    var url: String { "http://127.0.0.1:\(port)" }
    var requests: [Request] { state.withLock { $0.requests } }

    /// - Parameter script: is given the number of the request, from 0.
    init(_ script: @escaping @Sendable (Int, Request) -> Reply) {
        self.script = script
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                _ = bind(listener, $0, length)
                _ = listen(listener, 1000)
                _ = getsockname(listener, $0, &length)
            }
        }
        self.listener = listener
        port = UInt16(bigEndian: address.sin_port)
        start { [self] in accept() }
    }

    /// Closes everything, and waits for its threads.
    func stop() {
        state.withLock { state in
            state.isStopping = true
            for descriptor in state.open { shutdown(descriptor, Int32(SHUT_RDWR)) }
        }
        shutdown(listener, Int32(SHUT_RDWR))
        threads.wait()
        close(listener)
    }

    private func start(_ body: @escaping @Sendable () -> Void) {
        threads.enter()
        let thread = Thread { [threads] in
            body()
            threads.leave()
        }
        thread.stackSize = 256 << 10
        thread.start()
    }

    private func accept() {
        while true {
            let descriptor = Glibc.accept(listener, nil, nil)
            guard descriptor >= 0 else { return }
            let number: Int? = state.withLock { state in
                guard !state.isStopping else { return nil }
                state.open.insert(descriptor)
                state.connections += 1
                return state.connections
            }
            guard let number else {
                close(descriptor)
                return
            }
            start { [self] in
                serve(descriptor, number)
                state.withLock { _ = $0.open.remove(descriptor) }
                close(descriptor)
            }
        }
    }

    private func serve(_ descriptor: Int32, _ connection: Int) {
        var text = ""
        while let request = read(descriptor, &text, connection) {
            let number = state.withLock { state in
                state.requests.append(request)
                return state.requests.count - 1
            }
            switch script(number, request) {
            case .bytes(let bytes): send(descriptor, bytes)
            case .close(let bytes):
                send(descriptor, bytes)
                return
            case .reset(let bytes):
                send(descriptor, bytes)
                var option = linger(l_onoff: 1, l_linger: 0)
                setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &option, socklen_t(MemoryLayout<linger>.size))
                return
            case .endless(let bytes, let first, let pause):
                guard send(descriptor, first) else { return }
                while send(descriptor, bytes) { if pause > 0 { usleep(pause) } }
                return
            case .silence: break
            }
        }
    }

    @discardableResult
    private func send(_ descriptor: Int32, _ text: String) -> Bool {
        var bytes = Array(text.utf8)[...]
        while !bytes.isEmpty {
            let count = bytes.withUnsafeBytes {
                Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { return false }
            bytes = bytes.dropFirst(count)
        }
        return true
    }

    /// nil: the client is gone.
    private func read(_ descriptor: Int32, _ text: inout String, _ connection: Int) -> Request? {
        var buffer = [UInt8](repeating: 0, count: 16_384)
        while true {
            if let end = text.range(of: "\r\n\r\n") {
                let head = String(text[..<end.lowerBound])
                let length = head.lowercased().range(of: "content-length: ").map {
                    Int(head.lowercased()[$0.upperBound...].prefix { $0.isNumber }) ?? 0
                }
                let body = text[end.upperBound...]
                if body.utf8.count >= length ?? 0 {
                    text = String(body.dropFirst(length ?? 0))
                    return Request(
                        line: String(head.prefix { $0 != "\r\n" }), head: head, body: String(body.prefix(length ?? 0)),
                        time: Double(DispatchTime.now().uptimeNanoseconds) / 1e9, connection: connection)
                }
            }
            let count = Glibc.read(descriptor, &buffer, buffer.count)
            guard count > 0 else { return nil }
            text += String(decoding: buffer[..<count], as: UTF8.self)
        }
    }
}
