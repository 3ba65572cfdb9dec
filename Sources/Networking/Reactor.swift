import CEpoll
import Glibc

/// What a descriptor is ready for, or what its owner waits for.
public struct Readiness: OptionSet, Sendable {
    public let rawValue: UInt32
    public init(rawValue: UInt32) { self.rawValue = rawValue }

    public static let readable = Readiness(rawValue: EPOLLIN.rawValue)
    public static let writable = Readiness(rawValue: EPOLLOUT.rawValue)
    /// The peer closed its side, or the socket has an error; always reported.
    public static let closed = Readiness(rawValue: EPOLLHUP.rawValue | EPOLLERR.rawValue)
}

/// One ready descriptor: the token its owner registered it with, and what it is ready for.
public struct ReadyEvent: Sendable {
    public let token: UInt64
    public let readiness: Readiness
}

/// A level-triggered epoll loop of one thread.
///
/// The owner registers descriptors with a token of its choice and asks `wait` for the ready ones. `wakeUp` may be
/// called from any thread and ends a `wait` early. Waiting is precise to the clock's resolution (`epoll_pwait2`), which
/// an open-loop schedule needs: a millisecond's rounding would be visible in its latencies.
public final class Reactor {
    private let epoll: Int32
    private let waker: WakeUp
    private let events: UnsafeMutablePointer<epoll_event>
    private let capacity = 256
    private static let wakeToken = UInt64.max

    public init() throws(NetworkError) {
        epoll = epoll_create1(Int32(EPOLL_CLOEXEC))
        guard epoll >= 0 else { throw NetworkError(.io, "epoll_create1: \(systemErrorText(errno))") }
        let wakeDescriptor = eventfd(0, Int32(EFD_NONBLOCK | EFD_CLOEXEC))
        guard wakeDescriptor >= 0 else {
            let text = systemErrorText(errno)
            close(epoll)
            throw NetworkError(.io, "eventfd: \(text)")
        }
        waker = WakeUp(descriptor: wakeDescriptor)
        events = .allocate(capacity: capacity)
        var event = epoll_event()
        event.events = EPOLLIN.rawValue
        event.data.u64 = Self.wakeToken
        _ = epoll_ctl(epoll, EPOLL_CTL_ADD, wakeDescriptor, &event)
    }

    deinit {
        close(epoll)
        events.deallocate()
    }

    /// A handle with which another thread ends the current or the next `wait`.
    public var wakeUp: WakeUp { waker }

    public func add(_ descriptor: Int32, token: UInt64, interest: Readiness) {
        control(EPOLL_CTL_ADD, descriptor, token, interest)
    }

    public func modify(_ descriptor: Int32, token: UInt64, interest: Readiness) {
        control(EPOLL_CTL_MOD, descriptor, token, interest)
    }

    public func remove(_ descriptor: Int32) {
        control(EPOLL_CTL_DEL, descriptor, 0, [])
    }

    private func control(_ operation: Int32, _ descriptor: Int32, _ token: UInt64, _ interest: Readiness) {
        var event = epoll_event()
        event.events = interest.rawValue
        event.data.u64 = token
        let status = epoll_ctl(epoll, operation, descriptor, &event)
        // The only failures possible here are a descriptor that is not open or not registered: a bug of the caller.
        assert(status == 0, "epoll_ctl: \(systemErrorText(errno))")
    }

    /// Waits until something is ready, `wakeUp` is called, or `timeout` nanoseconds have passed (nil: no limit).
    ///
    /// - Returns: how many events `event(at:)` now holds; wake-ups are not among them.
    public func wait(timeout: UInt64?) -> Int {
        let count: Int32
        if let timeout {
            if timeout == 0 {
                count = epoll_wait(epoll, events, Int32(capacity), 0)
            } else {
                var limit = timespec(
                    tv_sec: Int(timeout / 1_000_000_000), tv_nsec: Int(timeout % 1_000_000_000))
                count = epoll_pwait2(epoll, events, Int32(capacity), &limit, nil)
            }
        } else {
            count = epoll_wait(epoll, events, Int32(capacity), -1)
        }
        guard count > 0 else { return 0 }
        var kept = 0
        for index in 0..<Int(count) {
            if events[index].data.u64 == Self.wakeToken {
                waker.clear()
            } else {
                events[kept] = events[index]
                kept += 1
            }
        }
        return kept
    }

    /// The ready event at `index`, valid until the next `wait`.
    public func event(at index: Int) -> ReadyEvent {
        let event = events[index]
        return ReadyEvent(token: event.data.u64, readiness: Readiness(rawValue: event.events))
    }
}

/// Ends a reactor's `wait` from another thread.
public final class WakeUp: Sendable {
    private let descriptor: Int32

    init(descriptor: Int32) { self.descriptor = descriptor }

    deinit { close(descriptor) }

    public func signal() {
        var one: UInt64 = 1
        _ = write(descriptor, &one, 8)
    }

    func clear() {
        var value: UInt64 = 0
        _ = read(descriptor, &value, 8)
    }
}
