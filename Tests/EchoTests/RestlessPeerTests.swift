import Foundation
import Glibc
import Testing

@testable import Echo

/// A peer over HTTP/2 that never pauses: libcurl reads as long as something comes, so that the echo's thread does not come back by itself.
@Suite(.serialized) struct RestlessPeerTests {
    /// Answers the first request with a head, and then sends empty DATA frames (RFC 9113 section 6.1) for as long as it can.
    private final class Peer: @unchecked Sendable {
        let port: UInt16
        private let listener: Int32
        private let over = DispatchSemaphore(value: 0)

        init() {
            let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
            self.listener = listener
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
            var length = socklen_t(MemoryLayout<sockaddr_in>.size)
            port = withUnsafeMutablePointer(to: &address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    bind(listener, $0, length)
                    getsockname(listener, $0, &length)
                }
                return UInt16(bigEndian: pointer.pointee.sin_port)
            }
            listen(listener, 16)
            let thread = Thread { [self] in
                serve()
                over.signal()
            }
            thread.start()
        }

        private func serve() {
            let connection = accept(listener, nil, nil)
            guard connection >= 0 else { return }
            defer { close(connection) }
            var input = [UInt8](repeating: 0, count: 4096)
            _ = recv(connection, &input, input.count, 0)
            let settings: [UInt8] = [0, 0, 0, 4, 0, 0, 0, 0, 0], acknowledged: [UInt8] = [0, 0, 0, 4, 1, 0, 0, 0, 0]
            let head: [UInt8] = [0, 0, 1, 1, 4, 0, 0, 0, 1, 0x88]
            var next = settings + acknowledged + head
            let data = (0..<500).flatMap { _ -> [UInt8] in [0, 0, 0, 0, 0, 0, 0, 0, 1] }
            while true {
                guard send(connection, next, next.count, Int32(MSG_NOSIGNAL)) > 0 else { return }
                next = data
            }
        }

        func stop() {
            shutdown(listener, Int32(SHUT_RDWR))
            over.wait()
            close(listener)
        }
    }

    @Test("Its figures are told all the same, the echo ends, and what was asked stays under way or has failed")
    func endless() throws {
        let peer = Peer()
        let bench = try EchoBench("http://127.0.0.1:\(peer.port)") { $0.version = .two }
        for id in 1...3 { bench.ask(UInt64(id)) }
        Thread.sleep(forTimeInterval: 0.3)
        let total = bench.echo.figures.books.total
        #expect(total.answered == 0)
        let isOver = DispatchSemaphore(value: 0)
        Thread { [echo = bench.echo] in
            echo.stop()
            isOver.signal()
        }.start()
        #expect(isOver.wait(timeout: .now() + 60) == .success, "the echo does not end")
        peer.stop()
        let ended = bench.books.total
        #expect(ended.requests == 3 && ended.answered == 0 && ended.underWay + ended.failed + ended.givenUp == 3)
    }
}
