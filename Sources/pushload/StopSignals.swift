import Dispatch
import Glibc

/// Ctrl-C and SIGTERM, until it is cancelled.
struct StopSignals {
    private let sources: [any DispatchSourceSignal]

    /// - Parameter stop: called at each of them.
    init(_ stop: @escaping @Sendable () -> Void) {
        sources = [SIGINT, SIGTERM].map { number in
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
            source.setEventHandler(handler: stop)
            source.resume()
            return source
        }
    }

    func cancel() {
        for source in sources { source.cancel() }
    }
}
