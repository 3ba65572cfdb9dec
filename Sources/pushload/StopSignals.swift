import Dispatch
import Glibc

/// Ctrl-C and SIGTERM, or other signals, until it is cancelled.
struct StopSignals {
    private let sources: [any DispatchSourceSignal]

    /// - Parameter stop: called at each of them.
    init(_ numbers: [Int32] = [SIGINT, SIGTERM], _ stop: @escaping @Sendable () -> Void) {
        sources = numbers.map { number in
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
