import Foundation
import Measurement
import Networking
import PlainHTTP
import Synchronization

/// Answers `GET /metrics` while a run goes on: Prometheus' text format, plain HTTP on loopback. One thread, a request at a
/// time, each at most a second: it is for a scraper, not for a crowd.
final class MetricsServer: Sendable {
    let port: UInt16
    private let stopping = Atomic<Bool>(false)
    private let done = DispatchSemaphore(value: 0)

    /// - Parameter text: the metrics of the moment.
    init(port: UInt16, text: @escaping @Sendable () -> String) throws(NetworkError) {
        let listener = try Listener(host: "127.0.0.1", port: port, shared: false)
        self.port = listener.address.port
        let reactor = try Reactor()
        reactor.add(listener.descriptor, token: 0, interest: .readable)
        // Handed over to the thread and not touched here again.
        nonisolated(unsafe) let owned = (listener, reactor)
        let thread = Thread { [self] in
            AllocationCount.leaveThreadOut()
            while !stopping.load(ordering: .relaxed) {
                guard owned.1.wait(timeout: 100_000_000) > 0 else { continue }
                while !stopping.load(ordering: .relaxed), case .descriptor(let descriptor) = owned.0.accept() {
                    serve(descriptor, text)
                }
            }
            done.signal()
        }
        thread.name = "metrics"
        thread.start()
    }

    func stop() {
        stopping.store(true, ordering: .relaxed)
        done.wait()
    }

    private func serve(_ descriptor: Int32, _ text: () -> String) {
        guard let stream = try? SocketStream(accepted: descriptor, tls: nil, options: SocketOptions()),
            let reactor = try? Reactor()
        else { return }
        reactor.add(stream.descriptor, token: 1, interest: .readable)
        defer { reactor.remove(stream.descriptor) }
        let deadline = MonotonicClock.now() + 1_000_000_000
        var received: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4096)
        while MonotonicClock.now() < deadline, !stopping.load(ordering: .relaxed) {
            switch stream.read(into: &buffer, capacity: buffer.count) {
            case .bytes(let count): received += buffer[..<count]
            case .wouldBlock:
                _ = reactor.wait(timeout: 50_000_000)
                continue
            case .endOfStream, .failed: return
            }
            switch PlainRequest.parse(received) {
            case .incomplete: continue
            case .refused(let status, let problem):
                return Self.send(.text(problem, status: status), stream, reactor, deadline)
            case .request(let request, _):
                let answer: PlainResponse =
                    request.method == "GET" && request.path == "/metrics"
                    ? PlainResponse(
                        status: 200, type: MetricsText.contentType, body: Array(text().utf8))
                    : .text("there is GET /metrics", status: 404)
                return Self.send(answer, stream, reactor, deadline)
            }
        }
    }

    private static func send(_ response: PlainResponse, _ stream: ByteStream, _ reactor: Reactor, _ deadline: UInt64) {
        let bytes = response.bytes(closes: true)
        var offset = 0
        while offset < bytes.count, MonotonicClock.now() < deadline {
            let result = bytes.withUnsafeBufferPointer {
                stream.write($0.baseAddress! + offset, count: bytes.count - offset)
            }
            switch result {
            case .bytes(let count): offset += count
            case .wouldBlock:
                reactor.modify(stream.descriptor, token: 1, interest: .writable)
                _ = reactor.wait(timeout: 50_000_000)
            case .endOfStream, .failed: return
            }
        }
        stream.finish()
    }
}
