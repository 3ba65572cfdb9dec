import Glibc

/// Lets threads write to one descriptor in the order of their chunks. The first failure ends it for all.
final class WriteTurns: @unchecked Sendable {
    private let descriptor: Int32
    private let isStopped: (@Sendable () -> Bool)?
    private let progress: (@Sendable (_ rows: UInt64) -> Void)?
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let changed = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
    /// Under the mutex: whose turn it is, and the first `errno`.
    private var next: UInt64 = 0
    private var code: Int32 = 0

    init(
        _ descriptor: Int32, _ isStopped: (@Sendable () -> Bool)?, _ progress: (@Sendable (_ rows: UInt64) -> Void)?
    ) {
        self.descriptor = descriptor
        self.isStopped = isStopped
        self.progress = progress
        mutex.initialize(to: pthread_mutex_t())
        changed.initialize(to: pthread_cond_t())
        pthread_mutex_init(mutex, nil)
        pthread_cond_init(changed, nil)
    }

    deinit {
        pthread_cond_destroy(changed)
        pthread_mutex_destroy(mutex)
        changed.deallocate()
        mutex.deallocate()
    }

    private func locked<Value>(_ body: () -> Value) -> Value {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return body()
    }

    /// 0, or the `errno` of the write that failed.
    var failure: Int32 { locked { code } }

    var isOver: Bool { failure != 0 }

    /// Ends it for everybody; the first reason counts.
    func fail(_ reason: Int32) {
        locked {
            if code == 0 { code = reason }
            pthread_cond_broadcast(changed)
        }
    }

    /// Waits for the chunk's turn and writes it.
    ///
    /// - Parameter rows: how many there are up to the end of this chunk.
    /// - Returns: false when this write or another one failed.
    func write(chunk: UInt64, _ bytes: UnsafeRawBufferPointer, rows: UInt64) -> Bool {
        let isMine = locked {
            while next != chunk, code == 0 { pthread_cond_wait(changed, mutex) }
            return code == 0
        }
        // Only the one whose turn it is gets here; the others make their next chunks meanwhile.
        guard isMine, writeAll(bytes) else { return false }
        progress?(rows)
        if let isStopped, isStopped() { fail(ECANCELED) }
        locked {
            next += 1
            pthread_cond_broadcast(changed)
        }
        return true
    }

    /// - Returns: false when it failed.
    func writeAll(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard let base = bytes.baseAddress else { return true }
        var done = 0
        while done < bytes.count {
            let count = Glibc.write(descriptor, base + done, bytes.count - done)
            if count >= 0 {
                done += count
            } else if errno == EAGAIN {
                // Somebody made our end of a pipe or terminal non-blocking.
                var poll = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                _ = Glibc.poll(&poll, 1, -1)
            } else if errno != EINTR {
                fail(errno)
                return false
            }
        }
        return true
    }
}
