import CEpoll

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

    public init(token: UInt64, readiness: Readiness) {
        self.token = token
        self.readiness = readiness
    }
}

/// What a thread sees of the outside: its clock, which descriptors are ready, new connections. `Reactor` is the real one; a
/// simulation brings its own, so that a seed replays everything that time and the network decide.
open class EventLoop {
    /// A handle with which another thread ends the current or the next `wait`.
    public let wakeUp: WakeUp

    public init(wakeUp: WakeUp) { self.wakeUp = wakeUp }

    /// Nanoseconds since an arbitrary point, never going back.
    open var now: UInt64 { 0 }
    /// UNIX time, milliseconds.
    open var unixMilliseconds: Int64 { 0 }
    /// UNIX time, whole seconds.
    public final var unixSeconds: Int64 { unixMilliseconds / 1000 }

    open func add(_ descriptor: Int32, token: UInt64, interest: Readiness) {}
    open func modify(_ descriptor: Int32, token: UInt64, interest: Readiness) {}
    open func remove(_ descriptor: Int32) {}

    /// Waits until something is ready, `wakeUp` is called, or `timeout` nanoseconds have passed (nil: no limit).
    ///
    /// - Returns: how many events `event(at:)` now holds; wake-ups are not among them.
    open func wait(timeout: UInt64?) -> Int { 0 }

    /// As `wait(timeout:)`, but ends on time: a sleep ends a little too late, so the rest of the wait is spent looking again and
    /// again. Without an override, as in a simulation, whose waits end on time anyway, it is `wait(timeout:)`.
    ///
    /// - Parameter spins: looks for as long as a sleep may be late, rather than for as long as it mostly is.
    open func waitPunctually(timeout: UInt64, spins: Bool) -> Int { wait(timeout: timeout) }

    /// Lets so many nanoseconds pass whatever comes meanwhile. Without an override none do: a simulation need not sleep.
    open func rest(_ time: UInt64) {}

    /// CPU time spent on looking again and again in `waitPunctually`, ns.
    open var spinTime: UInt64 { 0 }

    /// Events of a wait; more are held in the next one.
    public static let mostEvents = 256

    /// The ready event at `index`, valid until the next `wait`.
    open func event(at index: Int) -> ReadyEvent { ReadyEvent(token: 0, readiness: []) }

    /// Starts connecting to `address`; `serverName` is sent as SNI and checked against the certificate.
    ///
    /// - Parameter gathering: buffers of the thread, as `SocketStream` takes them.
    open func connect(
        to address: SocketAddress, serverName: String, tls: TLSContext?, options: SocketOptions, gathering: BufferPool?
    ) throws(NetworkError) -> ByteStream {
        throw NetworkError(.connect, "this event loop makes no connections")
    }
}
