import CEpoll
import Glibc

/// A level-triggered epoll loop of one thread.
///
/// The owner registers descriptors with a token of its choice and asks `wait` for the ready ones. `wakeUp` may be
/// called from any thread and ends a `wait` early. Waiting is precise to the clock's resolution (`epoll_pwait2`), which
/// an open-loop schedule needs: a millisecond's rounding would be visible in its latencies.
public final class Reactor: EventLoop {
    private let epoll: Int32
    private let events: UnsafeMutablePointer<epoll_event>
    private let capacity = EventLoop.mostEvents
    private static let wakeToken = UInt64.max
    /// `wakeUp` ended the last wait.
    private var wasWoken = false
    public override var spinTime: UInt64 { spun }
    private var spun: UInt64 = 0
    private var wakeError = WakeError()
    /// A wait that spins sleeps until so long before its end, ns: rarely is a sleep so much too late.
    private static let spinLead: UInt64 = 100_000

    public init() throws(NetworkError) {
        epoll = epoll_create1(Int32(EPOLL_CLOEXEC))
        guard epoll >= 0 else { throw NetworkError(.io, "epoll_create1: \(systemErrorText(errno))") }
        let wakeDescriptor = eventfd(0, Int32(EFD_NONBLOCK | EFD_CLOEXEC))
        guard wakeDescriptor >= 0 else {
            let text = systemErrorText(errno)
            close(epoll)
            throw NetworkError(.io, "eventfd: \(text)")
        }
        events = .allocate(capacity: capacity)
        super.init(wakeUp: WakeUp(descriptor: wakeDescriptor))
        var event = epoll_event()
        event.events = EPOLLIN.rawValue
        event.data.u64 = Self.wakeToken
        _ = epoll_ctl(epoll, EPOLL_CTL_ADD, wakeDescriptor, &event)
    }

    deinit {
        close(epoll)
        events.deallocate()
    }

    public override var now: UInt64 { MonotonicClock.now() }
    public override var unixMilliseconds: Int64 { MonotonicClock.unixMilliseconds() }

    public override func connect(
        to address: SocketAddress, serverName: String, tls: TLSContext?, options: SocketOptions, gathering: BufferPool?
    ) throws(NetworkError) -> ByteStream {
        try SocketStream(
            connectingTo: address, serverName: serverName, tls: tls, options: options, gathering: gathering)
    }

    public override func add(_ descriptor: Int32, token: UInt64, interest: Readiness) {
        control(EPOLL_CTL_ADD, descriptor, token, interest)
    }

    public override func modify(_ descriptor: Int32, token: UInt64, interest: Readiness) {
        control(EPOLL_CTL_MOD, descriptor, token, interest)
    }

    public override func remove(_ descriptor: Int32) {
        control(EPOLL_CTL_DEL, descriptor, 0, [])
    }

    /// For libraries that close descriptors by themselves, and may say so later: waits for what a descriptor, known or new, is wanted for.
    package func watch(_ descriptor: Int32, token: UInt64, interest: Readiness) {
        var event = epoll_event()
        event.events = interest.rawValue
        event.data.u64 = token
        if epoll_ctl(epoll, EPOLL_CTL_MOD, descriptor, &event) != 0, errno == ENOENT {
            _ = epoll_ctl(epoll, EPOLL_CTL_ADD, descriptor, &event)
        }
    }

    /// The same: waits for it no more; one that is closed is not waited for anyway.
    package func forget(_ descriptor: Int32) {
        var event = epoll_event()
        _ = epoll_ctl(epoll, EPOLL_CTL_DEL, descriptor, &event)
    }

    private func control(_ operation: Int32, _ descriptor: Int32, _ token: UInt64, _ interest: Readiness) {
        var event = epoll_event()
        event.events = interest.rawValue
        event.data.u64 = token
        let status = epoll_ctl(epoll, operation, descriptor, &event)
        // The only failures possible here are a descriptor that is not open or not registered: a bug of the caller.
        assert(status == 0, "epoll_ctl: \(systemErrorText(errno))")
    }

    public override func wait(timeout: UInt64?) -> Int {
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
        wasWoken = false
        guard count > 0 else { return 0 }
        var kept = 0
        for index in 0..<Int(count) {
            if events[index].data.u64 == Self.wakeToken {
                wakeUp.clear()
                wasWoken = true
            } else {
                events[kept] = events[index]
                kept += 1
            }
        }
        return kept
    }

    public override func rest(_ time: UInt64) {
        var left = timespec(tv_sec: Int(time / 1_000_000_000), tv_nsec: Int(time % 1_000_000_000))
        _ = nanosleep(&left, nil)
    }

    public override func waitPunctually(timeout: UInt64, spins: Bool) -> Int {
        var time = now
        let end = time &+ timeout
        let lead = spins ? Self.spinLead : wakeError.estimate
        if timeout > lead {
            let count = wait(timeout: timeout - lead)
            if count > 0 || wasWoken { return count }
            time = now
            wakeError.add(time &- (end &- lead))
            if time >= end { return 0 }
        }
        let begin = time
        var count = 0
        repeat {
            count = wait(timeout: 0)
            time = now
        } while count == 0 && time < end && !wasWoken
        spun &+= time &- begin
        return count
    }

    public override func event(at index: Int) -> ReadyEvent {
        let event = events[index]
        return ReadyEvent(token: event.data.u64, readiness: Readiness(rawValue: event.events))
    }
}

/// Ends an event loop's `wait` from another thread.
public final class WakeUp: Sendable {
    private let descriptor: Int32

    init(descriptor: Int32) { self.descriptor = descriptor }

    /// One that ends no `wait`, for event loops that never sleep.
    public init() { descriptor = -1 }

    deinit { if descriptor >= 0 { close(descriptor) } }

    public func signal() {
        if descriptor < 0 { return }
        var one: UInt64 = 1
        _ = write(descriptor, &one, 8)
    }

    func clear() {
        var value: UInt64 = 0
        _ = read(descriptor, &value, 8)
    }
}
