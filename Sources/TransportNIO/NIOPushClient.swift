#if NIO
    import Dispatch
    import NIOCore
    import NIOPosix
    import NIOSSL
    import Networking
    import Synchronization
    import Transport

    /// Engine `nio`: one worker over SwiftNIO, NIOHTTP2 and NIOSSL, as users of APNSwift and AsyncHTTPClient have them.
    ///
    /// It behaves as `PushClient` does. Different are what NIO decides: one stream channel a push, the peer's limit of
    /// concurrent streams taken as 100 until the peer sets one, HPACK with Huffman and the peer's table size
    /// (`SessionSettings.encoderTableSize` is not used), three TLS records a push (HEADERS, DATA's header, payload), and
    /// TLS by BoringSSL. Due pushes are waited for by NIO's own timers (`TransportOptions.pacing` is not used). A numeric host
    /// is checked against the certificate's IP addresses, without SNI.
    ///
    /// Unchecked: everything is touched on the thread that called `run`, but for `waker`, which has a lock.
    public final class NIOPushClient: PushEngine, @unchecked Sendable {
        /// One place in the pool. A connection that was told to go away drains outside its lane while the lane reconnects.
        private struct Lane {
            var connection: NIOConnection?
            var retryAt: UInt64 = 0
            var backoff: Backoff
        }

        /// Pumps the loop from any thread while there is one.
        private final class Waker: Sendable {
            let pump = Mutex<(@Sendable () -> Void)?>(nil)
        }

        private let target: Target
        private let address: NIOCore.SocketAddress
        private let context: NIOSSLContext?
        private let options: TransportOptions
        private let driver: PushDriver
        private let control: RunControl
        private let composer: RequestComposer
        private let waker = Waker()
        private var loop: (any NIOCore.EventLoop)!
        private var lanes: [Lane]
        /// Every connection that is not closed, those that drain included.
        private var connections: [NIOConnection] = []
        private var draining: [NIOConnection] = []
        private var retries = RetryQueue()
        private var turn = 0
        private var isFinished = false
        private var isStopped = false
        private var isOver = false
        private var isPumpScheduled = false
        private var alarm: (time: UInt64, task: Scheduled<Void>)?
        private var ticking: RepeatedTask?
        private var lastOpen: UInt64 = 0
        private var lastTick: UInt64 = 0
        private var lastCause = FailureCause.connectFailed
        private static let tickInterval = TimeAmount.milliseconds(20)
        private static let cutOffAfter: UInt64 = 200_000_000
        private static let longestPause: UInt64 = 100_000_000
        /// Pushes one connection gets in a row while a rate is kept, so that load spreads and batches still form.
        private static let pacedRun = 32
        /// Longer than NIO takes from the end of a task to its look at what is due next, ns.
        private static let shortestAlarm: Int64 = 10_000

        public private(set) var lastProblem = ""
        public private(set) var tlsDescription: String?
        /// NIO does not tell its own work, TLS and the kernel apart.
        public var transferTime: UInt64 { 0 }
        public var socketTime: UInt64 { 0 }

        /// - Parameters:
        ///   - headerSets: for each kind of push the APNs headers that never change.
        ///   - tokenCapacity: longest device token, digits.
        ///   - payloadCapacity: largest payload, bytes.
        /// - Throws: `NetworkError` of kind `.configuration` when NIOSSL cannot use the TLS settings.
        public init(
            target: Target, options: TransportOptions, driver: PushDriver, control: RunControl,
            headerSets: [[(String, String)]], tokenCapacity: Int, payloadCapacity: Int
        ) throws(NetworkError) {
            precondition(options.connections >= 1 && options.streams >= 1, "a worker needs a connection and a stream")
            self.target = target
            self.options = options
            self.driver = driver
            self.control = control
            address = target.address.forNIO
            if let tls = target.tls { context = try tls.options.makeNIOContext() } else { context = nil }
            composer = RequestComposer(
                authority: target.authority, isSecure: target.tls != nil, headerSets: headerSets,
                tokenCapacity: tokenCapacity, payloadCapacity: payloadCapacity)
            let seed = options.seed
            lanes = (0..<options.connections).map {
                Lane(backoff: Backoff(base: options.backoffBase, cap: options.backoffCap, seed: seed &+ UInt64($0)))
            }
            control.register { [waker] in waker.pump.withLock { $0?() } }
        }

        /// Runs until every push of the driver has ended; blocks the calling thread, which becomes the event loop.
        public func run() {
            MultiThreadedEventLoopGroup.withCurrentThreadAsEventLoop { loop in
                self.loop = loop
                self.waker.pump.withLock { $0 = { loop.execute { self.pump() } } }
                let now = MonotonicClock.now()
                self.lastOpen = now
                self.lastTick = now
                for lane in self.lanes.indices { self.connect(lane, now: now) }
                self.ticking = loop.scheduleRepeatedTask(initialDelay: .zero, delay: Self.tickInterval) { _ in
                    self.tick(MonotonicClock.now())
                }
            }
            driver.ended(now: MonotonicClock.now())
            driver.tick(now: MonotonicClock.now(), unixTime: MonotonicClock.unixSeconds(), inFlight: 0)
        }

        private var inFlight: Int {
            var total = 0
            for lane in lanes { total += lane.connection?.inFlight ?? 0 }
            for connection in draining { total += connection.inFlight }
            return total
        }

        // MARK: Sending

        /// Asks for one look at what is due, after all that is ready now has been read.
        func schedulePump() {
            if isPumpScheduled || isOver { return }
            isPumpScheduled = true
            loop.execute { self.pump() }
        }

        /// - Parameter time: since when there was something to do; nil: since now.
        private func pump(since time: UInt64? = nil) {
            isPumpScheduled = false
            if isOver { return }
            driver.idled(until: time ?? MonotonicClock.now())
            let request = control.request
            if request != .none, !isStopped {
                isStopped = true
                if control.cause == .runEnded, isCutOff(MonotonicClock.now()) { giveUp() }
                driver.stopped(control.cause, now: MonotonicClock.now())
            }
            if request == .abort { abandonAll() }
            if request == .none {
                let wakeAt = fill(MonotonicClock.now())
                // After the tasks that write what was taken.
                loop.execute { self.setAlarm(wakeAt) }
            }
            if hasEnded(request) { end() }
        }

        private func hasEnded(_ request: RunControl.Request) -> Bool {
            if request == .none { return isFinished && retries.isEmpty && inFlight == 0 }
            // What waits to be sent again will not be: it ends here.
            while let ticket = retries.popFirst() { fail(ticket, control.cause) }
            return inFlight == 0
        }

        /// Puts what is due on streams; returns when the next push is due, nil when that cannot be said.
        private func fill(_ now: UInt64) -> UInt64? {
            var wakeAt: UInt64?
            let count = lanes.count
            var position = turn
            for _ in 0..<count {
                if position >= count { position = 0 }
                if let connection = lanes[position].connection, connection.canSend {
                    let verdict = fill(connection, now: now, limit: wakeAt == nil ? .max : Self.pacedRun)
                    if case .notBefore(let due) = verdict { wakeAt = due }
                    if case .finished = verdict { isFinished = true }
                    if wakeAt != nil || isFinished && retries.isEmpty {
                        turn = position + 1
                        break
                    }
                }
                position += 1
            }
            return wakeAt
        }

        private func fill(_ connection: NIOConnection, now: UInt64, limit: Int) -> Supply {
            var ticket = PushTicket(sequence: 0, due: 0)
            var sent = 0
            defer {
                // After the tasks that open the streams.
                if sent > 0 { loop.execute { connection.release() } }
            }
            while connection.canSend, sent < limit {
                if let retry = retries.popFirst() {
                    ticket = retry
                } else {
                    let supply = isFinished ? .finished : driver.take(now: now, into: &ticket)
                    guard case .push = supply else { return supply }
                }
                connection.send(ticket, now: now)
                sent &+= 1
            }
            return .push
        }

        /// Looks again at `time`. NIO runs tasks as long as one is due and only then looks at its sockets: an alarm that is
        /// due at once would keep it from reading answers for as long as pushes are late.
        private func setAlarm(_ time: UInt64?) {
            if isOver { return }
            if let alarm {
                if alarm.time == time { return }
                alarm.task.cancel()
                self.alarm = nil
            }
            guard let time else { return }
            let now = MonotonicClock.now()
            let wait = TimeAmount.nanoseconds(max(Self.shortestAlarm, time > now ? Int64(clamping: time - now) : 0))
            alarm = (
                time,
                loop.scheduleTask(in: wait) {
                    self.alarm = nil
                    self.pump(since: time)
                }
            )
        }

        // MARK: Connections

        private func connect(_ lane: Int, now: UInt64) {
            let connection = NIOConnection(
                index: options.firstConnection + lane, lane: lane, options: options, isSecure: context != nil,
                client: self, driver: driver, composer: composer, now: now)
            lanes[lane].connection = connection
            connections.append(connection)
            connection.connect(
                to: address, context: context, serverName: target.isNumericHost ? nil : target.host, loop: loop)
        }

        /// Looks after a connection something happened to: takes back refused pushes, replaces it when it goes or is gone.
        func settle(_ connection: NIOConnection) {
            if isOver { return }
            for ticket in connection.refused { retries.append(ticket) }
            connection.refused.removeAll(keepingCapacity: true)
            let isCurrent = lanes[connection.lane].connection === connection
            switch connection.state {
            case .connecting, .settling: return
            case .open:
                tlsDescription = connection.tlsDescription
                if connection.answered > 0 { lanes[connection.lane].backoff.reset() }
            case .draining:
                if isCurrent {
                    release(connection.lane, hadAnswers: connection.answered > 0)
                    draining.append(connection)
                }
                if connection.inFlight == 0 {
                    connection.finishGracefully()
                    remove(connection)
                }
            case .closed:
                if let problem = connection.problem {
                    lastCause = problem.cause
                    lastProblem = problem.text
                }
                if isCurrent { release(connection.lane, hadAnswers: connection.answered > 0) }
                remove(connection)
            }
            schedulePump()
        }

        /// Empties a lane; it reconnects after the backoff, which a connection that worked resets.
        private func release(_ lane: Int, hadAnswers: Bool) {
            lanes[lane].connection = nil
            if hadAnswers { lanes[lane].backoff.reset() }
            lanes[lane].retryAt = MonotonicClock.now() + lanes[lane].backoff.next()
        }

        private func remove(_ connection: NIOConnection) {
            connections.removeAll { $0 === connection }
            draining.removeAll { $0 === connection }
        }

        private func tick(_ now: UInt64) {
            if isOver { return }
            let pause = now - min(lastTick, now)
            if pause > Self.longestPause { lastOpen = min(now, lastOpen &+ (pause - Self.longestPause)) }
            lastTick = now
            for connection in connections { connection.tick(now: now) }
            var hasOpen = false
            for lane in lanes.indices {
                if let connection = lanes[lane].connection {
                    if connection.state == .open { hasOpen = true }
                } else if now >= lanes[lane].retryAt, !isFinished || !retries.isEmpty || inFlight > 0 {
                    driver.connection(options.firstConnection + lane, .reconnecting)
                    connect(lane, now: now)
                }
            }
            if hasOpen || !draining.isEmpty {
                lastOpen = now
            } else if now > lastOpen &+ options.giveUpAfter || control.isTargetGone {
                giveUp()
            }
            driver.tick(now: now, unixTime: MonotonicClock.unixSeconds(), inFlight: inFlight)
            pump()
        }

        /// As `PushClient`'s.
        private func isCutOff(_ now: UInt64) -> Bool {
            guard !lastProblem.isEmpty, draining.isEmpty, now > lastOpen &+ Self.cutOffAfter else { return false }
            return !lanes.contains { $0.connection?.state == .open }
        }

        /// No connection for too long: everything left fails with what kept the last connection from working.
        private func giveUp() {
            while let ticket = retries.popFirst() { fail(ticket, lastCause) }
            driver.abandon(lastCause, now: MonotonicClock.now())
            isFinished = true
        }

        private func abandonAll() {
            for connection in connections { connection.close(ConnectionProblem(control.cause, "the run is over")) }
        }

        private func fail(_ ticket: PushTicket, _ cause: FailureCause) {
            driver.finished(
                ticket, outcome: .failed(cause), connection: -1, started: 0, written: 0, at: MonotonicClock.now(),
                body: UnsafeBufferPointer(start: nil, count: 0))
        }

        /// Says goodbye on every connection, and stops the loop once that has been heard.
        private func end() {
            isOver = true
            ticking?.cancel()
            alarm?.task.cancel()
            waker.pump.withLock { $0 = nil }
            let goodbyes = connections.compactMap { $0.finishGracefully() }
            let loop = self.loop!
            EventLoopFuture.andAllComplete(goodbyes, on: loop).whenComplete { _ in
                loop.shutdownGracefully(queue: .global()) { _ in }
            }
        }
    }
#endif
