import Dispatch
import Glibc

/// Ctrl-C, Ctrl-\\, SIGTERM and the end of the terminal (SIGHUP; one that is ignored, as under nohup, stays so), or other signals,
/// until it is cancelled.
///
/// A handler puts each into a pipe, so that none is lost from `init` on, however late a thread gets to read it.
package struct StopSignals {
    private let numbers: [Int32]

    package static var usual: [Int32] {
        [SIGINT, SIGTERM]
            + [SIGHUP, SIGQUIT].filter { number in
                var action = sigaction()
                sigaction(number, nil, &action)
                // SIG_IGN
                return unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self) != 1
            }
    }
    private let source: (any DispatchSourceRead)?

    /// - Parameter stop: called at each of them.
    package init(_ numbers: [Int32] = StopSignals.usual, _ stop: @escaping @Sendable () -> Void) {
        var ends: [Int32] = [-1, -1]
        // Without a descriptor for the pipe signals end the process, as they do without this.
        guard !numbers.isEmpty, pipe(&ends) == 0 else {
            self.numbers = []
            source = nil
            return
        }
        self.numbers = numbers
        for end in ends {
            _ = fcntl(end, F_SETFD, FD_CLOEXEC)
            _ = fcntl(end, F_SETFL, O_NONBLOCK)
        }
        let descriptor = ends[0]
        let source = DispatchSource.makeReadSource(fileDescriptor: descriptor, queue: .global())
        self.source = source
        source.setEventHandler {
            var number: UInt8 = 0
            while read(descriptor, &number, 1) == 1 { stop() }
        }
        source.resume()
        for number in numbers {
            // The pipe stays for as long as the process lives: a handler may be about to write to it.
            signalPipes[Int(number)] = ends[1]
            var action = sigaction()
            action.__sigaction_handler.sa_handler = { number in
                let before = errno
                withUnsafeBytes(of: UInt8(truncatingIfNeeded: number)) {
                    _ = write(signalPipes[Int(number)], $0.baseAddress!, 1)
                }
                errno = before
            }
            action.sa_flags = SA_RESTART
            sigaction(number, &action, nil)
        }
    }

    /// What comes from now on is ignored.
    package func cancel() {
        for number in numbers { signal(number, SIG_IGN) }
        source?.cancel()
    }
}

/// For each signal the pipe its handler writes to.
private nonisolated(unsafe) let signalPipes = UnsafeMutablePointer<Int32>.allocate(capacity: 65)
