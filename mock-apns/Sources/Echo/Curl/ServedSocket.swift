import Glibc
import Synchronization

/// The socket that libcurl is busy with: it reads as long as something comes, whatever that is, so that a peer which never pauses keeps
/// its thread. Whoever waits for the thread too long ends that connection.
final class ServedSocket: Sendable {
    private let descriptor = Atomic<Int32>(-1)
    /// ns of the monotonic clock; 0: with none.
    private let since = Atomic<UInt64>(0)

    /// Longer than any honest peer keeps it, ns.
    static let patience: UInt64 = 5_000_000_000

    func begin(_ descriptor: Int32, now: UInt64) {
        self.descriptor.store(descriptor, ordering: .relaxed)
        since.store(now, ordering: .releasing)
    }

    func end() { since.store(0, ordering: .releasing) }

    /// Ends the connection where the thread has been busy with it for too long: its requests then fail. From any thread.
    func rescue(now: UInt64, after patience: UInt64 = patience) {
        let since = since.load(ordering: .acquiring)
        guard since != 0, now > since, now - since > patience else { return }
        // After shutdown(2) what goes on coming could still be read; this resets the connection (connect(2), AF_UNSPEC).
        var nobody = sockaddr()
        nobody.sa_family = sa_family_t(AF_UNSPEC)
        _ = connect(descriptor.load(ordering: .relaxed), &nobody, socklen_t(MemoryLayout<sockaddr>.size))
    }
}
