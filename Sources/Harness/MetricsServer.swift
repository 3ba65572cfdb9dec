import Foundation
import Measurement
import Networking
import PlainHTTP
import Synchronization

/// Answers `GET /metrics` while a run goes on: Prometheus' text format, plain HTTP on loopback.
final class MetricsServer: Sendable {
    let port: UInt16
    private let stopping = Atomic<Bool>(false)
    private let done = DispatchSemaphore(value: 0)
    private let wakeUp: WakeUp

    /// - Parameter text: the metrics of the moment.
    init(port: UInt16, text: @escaping @Sendable () -> String) throws(NetworkError) {
        let listener = try Listener(host: "127.0.0.1", port: port, shared: false)
        self.port = listener.address.port
        let reactor = try Reactor()
        wakeUp = reactor.wakeUp
        // Handed over to the thread and not touched here again.
        nonisolated(unsafe) let owned = (listener, reactor)
        let thread = Thread { [self] in
            AllocationCount.leaveThreadOut()
            var limits = PlainLimits()
            limits.connections = 256
            limits.held = 4 << 20
            // So few places are not kept for who says nothing.
            limits.request = 2_000_000_000
            limits.idle = 5_000_000_000
            let plain = PlainServer(listener: owned.0, reactor: owned.1, hosts: HostRule(), limits: limits) {
                request, _ in
                guard request.path == "/metrics" else { return .text("there is GET /metrics", status: 404) }
                guard request.method == "GET" else { return .wrongMethod(request, allowed: ["GET"]) }
                return PlainResponse(status: 200, type: MetricsText.contentType, body: Array(text().utf8))
            }
            while !stopping.load(ordering: .relaxed) { plain.turn(timeout: 1_000_000_000) }
            done.signal()
        }
        thread.name = "metrics"
        thread.start()
    }

    func stop() {
        stopping.store(true, ordering: .relaxed)
        wakeUp.signal()
        done.wait()
    }
}
