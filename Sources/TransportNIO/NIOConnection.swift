#if NIO
    import Glibc
    import HTTP2
    import NIOCore
    import NIOHPACK
    import NIOHTTP2
    import NIOPosix
    import NIOSSL
    import Networking
    import Transport

    /// One connection of the pool: its channel, the pushes on it, and how it ends.
    ///
    /// Unchecked: like everything of a worker it is touched on its event loop's thread only.
    final class NIOConnection: @unchecked Sendable {
        enum State {
            case connecting
            /// Connected and secured; the peer's SETTINGS are awaited.
            case settling
            case open
            /// GOAWAY received, or no stream id left: open streams are finished, none is begun.
            case draining
            case closed
        }

        let index: Int
        let lane: Int
        let options: TransportOptions
        private let isSecure: Bool
        private unowned let client: NIOPushClient
        private unowned let driver: PushDriver
        private let composer: RequestComposer
        private(set) var state = State.connecting
        /// Why it closed, once it has.
        private(set) var problem: ConnectionProblem?
        /// Why it drains, once it does.
        private var departure: ConnectionEnd?
        private(set) var answered: UInt64 = 0
        /// Pushes the peer refused unprocessed, to be sent again elsewhere.
        var refused: [PushTicket] = []
        private(set) var tlsDescription: String?

        private var channel: (any Channel)?
        private var tls: NIOSSLClientHandler?
        private var multiplexer: NIOHTTP2Handler.StreamMultiplexer?
        private var gate: BatchGate?

        private var streams: ContiguousArray<PushStream?> = []
        private var freeSlots: [Int] = []
        private var opened = 0
        private var streamLimit: Int
        private var lastStream = Int.max
        /// Streams that NIO reset for the peer's violations; it reports each to the connection besides.
        private var reportedTwice = 0

        private let connectDeadline: UInt64
        private var lastRead: UInt64
        private var pingSent: UInt64?
        private var nextScan: UInt64 = 0
        /// Stream ids end at 2^31-1 (RFC 9113 section 5.1.1).
        private static let mostStreams = 1 << 30

        init(
            index: Int, lane: Int, options: TransportOptions, isSecure: Bool, client: NIOPushClient, driver: PushDriver,
            composer: RequestComposer, now: UInt64
        ) {
            self.index = index
            self.lane = lane
            self.options = options
            self.isSecure = isSecure
            self.client = client
            self.driver = driver
            self.composer = composer
            // What NIO keeps to while the peer has set none.
            streamLimit = min(options.streams, 100)
            connectDeadline = now + options.connectTimeout
            lastRead = now
        }

        // MARK: Life

        var inFlight: Int { streams.count - freeSlots.count }

        func connect(
            to address: NIOCore.SocketAddress, context: NIOSSLContext?, serverName: String?,
            loop: any NIOCore.EventLoop
        ) {
            var bootstrap = ClientBootstrap(group: loop)
                .connectTimeout(.nanoseconds(Int64(options.connectTimeout)))
                .channelOption(.tcpOption(.tcp_nodelay), value: options.socket.noDelay ? 1 : 0)
            if let size = options.socket.sendBuffer {
                bootstrap = bootstrap.channelOption(.socketOption(.so_sndbuf), value: .init(clamping: size))
            }
            if let size = options.socket.receiveBuffer {
                bootstrap = bootstrap.channelOption(.socketOption(.so_rcvbuf), value: .init(clamping: size))
            }
            bootstrap
                .channelInitializer { channel in
                    do {
                        try self.configure(channel, context, serverName)
                        return channel.eventLoop.makeSucceededVoidFuture()
                    } catch {
                        return channel.eventLoop.makeFailedFuture(error)
                    }
                }
                .connect(to: address)
                .whenFailure { error in self.close(ConnectionProblem(error, isConnecting: true)) }
        }

        private func configure(_ channel: any Channel, _ context: NIOSSLContext?, _ serverName: String?) throws {
            self.channel = channel
            let pipeline = channel.pipeline.syncOperations
            if let context {
                let tls = try NIOSSLClientHandler(context: context, serverHostname: serverName)
                self.tls = tls
                try pipeline.addHandler(tls)
            }
            let gate = BatchGate(self, batch: options.sendBatch)
            self.gate = gate
            try pipeline.addHandler(gate)
            multiplexer = try pipeline.configureHTTP2Pipeline(
                mode: .client, connectionConfiguration: connectionConfiguration,
                streamConfiguration: streamConfiguration
            ) { $0.close() }
            try pipeline.addHandler(FrameWatcher(self))
        }

        /// NIO's guards against hostile peers are off: resets and errors are what a load test may be about. A rate is
        /// never too high within a nanosecond; a limit without bound is no way, for NIO takes memory for as many events.
        private var connectionConfiguration: NIOHTTP2Handler.ConnectionConfiguration {
            var configuration = NIOHTTP2Handler.ConnectionConfiguration()
            configuration.initialSettings = [
                HTTP2Setting(parameter: .headerTableSize, value: Int(options.session.headerTableSize)),
                HTTP2Setting(parameter: .enablePush, value: 0),
                HTTP2Setting(parameter: .initialWindowSize, value: Int(options.session.streamWindow)),
                HTTP2Setting(parameter: .maxFrameSize, value: Int(options.session.maxFrameSize)),
                HTTP2Setting(parameter: .maxHeaderListSize, value: HPACKDecoder.defaultMaxHeaderListSize),
            ]
            configuration.targetWindowSize = Int(options.session.connectionWindow)
            configuration.maximumSequentialEmptyDataFrames = .max
            configuration.maximumBufferedControlFrames = .max
            configuration.maximumConnectionGlitches = .max
            configuration.maximumRecentlyResetStreams = max(32, options.streams)
            configuration.controlFrameRateLimit.windowLength = .nanoseconds(1)
            return configuration
        }

        private var streamConfiguration: NIOHTTP2Handler.StreamConfiguration {
            var configuration = NIOHTTP2Handler.StreamConfiguration()
            configuration.targetWindowSize = Int(options.session.streamWindow)
            configuration.streamResetFrameRateLimit.windowLength = .nanoseconds(1)
            configuration.streamErrorRateLimit.windowLength = .nanoseconds(1)
            return configuration
        }

        func didConnect() {
            if !isSecure, state == .connecting { state = .settling }
        }

        /// RFC 9113 section 3.2: HTTP/2 over TLS is negotiated as `h2`.
        func didSecure(protocol name: String?) {
            guard state == .connecting else { return }
            guard name == "h2" else {
                close(ConnectionProblem(.notHTTP2, "the peer did not choose HTTP/2 (ALPN h2)"))
                return
            }
            state = .settling
            switch tls?.tlsVersion {
            case .tlsv13: tlsDescription = "TLSv1.3"
            case .tlsv12: tlsDescription = "TLSv1.2"
            default: tlsDescription = "TLS"
            }
        }

        /// - Parameter limit: SETTINGS_MAX_CONCURRENT_STREAMS, when it was among them.
        func didReceiveSettings(limit: Int?) {
            if let limit { streamLimit = min(options.streams, limit) }
            guard state == .settling else { return }
            state = .open
            driver.connection(index, .opened)
            client.settle(self)
        }

        func didReceiveGoAway(lastStream: Int, _ goAway: GoAway) {
            self.lastStream = min(self.lastStream, lastStream)
            switch state {
            case .settling, .open:
                state = .draining
                departure = .goAway(goAway)
                driver.connection(index, .goAway)
                client.settle(self)
            case .draining:
                // A graceful shutdown says it twice (RFC 9113 section 6.8).
                if case .goAway = departure { departure = .goAway(goAway) }
            case .connecting, .closed: break
            }
        }

        func didRead(at time: UInt64) {
            lastRead = time
            pingSent = nil
        }

        /// What was read has been handled, or the socket takes bytes again.
        func didFinishReading() { client.schedulePump() }

        /// An error of TLS or the socket, which NIO follows up by closing the channel.
        func note(_ error: any Error) {
            if problem == nil { problem = ConnectionProblem(error, isConnecting: state == .connecting) }
        }

        func didLose() {
            let isHandshake = state == .connecting && isSecure
            close(
                problem
                    ?? ConnectionProblem(
                        isHandshake ? .tlsFailed : .connectionClosed,
                        isHandshake
                            ? "TLS handshake failed: the peer closed the connection" : "the peer closed the connection")
            )
        }

        func didFindViolation(_ error: any Error) {
            if reportedTwice > 0 {
                reportedTwice -= 1
            } else if !(error is NIOHTTP2Errors.NoSuchStream) {
                close(ConnectionProblem(.protocolViolation, "the peer broke HTTP/2: \(error)"))
            }
        }

        /// The channel is closed and empty.
        func didDetach() {
            channel = nil
            tls = nil
            multiplexer = nil
            gate = nil
        }

        /// Ends the connection: pushes that never reached the kernel go back to be sent elsewhere, the others fail.
        func close(_ problem: ConnectionProblem) {
            guard state != .closed else { return }
            let before = state
            state = .closed
            self.problem = problem
            let now = MonotonicClock.now()
            for stream in streams {
                guard let stream, !stream.isEnded else { continue }
                if stream.written == 0, stream.status == 0, !problem.cause.isEndOfRun {
                    requeue(stream)
                } else {
                    finish(stream, .failed(problem.cause), at: now)
                }
            }
            streams = []
            freeSlots = []
            if before == .draining {
                tellDeparture()
            } else if !problem.cause.isEndOfRun {
                driver.connection(index, before == .open ? .lost : .connectFailed)
                driver.connection(index, .ended(.broken(problem.cause)))
            }
            channel?.close(promise: nil)
            client.settle(self)
        }

        /// Nothing more will be asked of it: says goodbye.
        ///
        /// - Returns: completed when the channel is closed; nil when it never was one.
        @discardableResult
        func finishGracefully() -> EventLoopFuture<Void>? {
            if state != .closed {
                if state == .draining { tellDeparture() }
                state = .closed
                channel?.close(promise: nil)
            }
            return channel?.closeFuture
        }

        private func tellDeparture() {
            if let departure { driver.connection(index, .ended(departure)) }
        }

        // MARK: Pushes

        /// True when one more push can be put on a stream now.
        var canSend: Bool {
            state == .open && inFlight < streamLimit && opened < Self.mostStreams && channel?.isWritable == true
        }

        /// Opens a stream for a push. The caller has checked `canSend`, and calls `release` after the last of a batch.
        func send(_ ticket: PushTicket, now: UInt64) {
            gate?.hold()
            let slot = freeSlots.popLast() ?? streams.count
            let stream = PushStream(self, slot: slot, ticket: ticket, now: now)
            if slot == streams.count { streams.append(stream) } else { streams[slot] = stream }
            opened += 1
            // NIO creates the channel in a task of its own.
            multiplexer?.createStreamChannel(promise: nil) { channel in
                guard self.state == .open else {
                    self.didClose(stream, unopened: true)
                    return channel.eventLoop.makeFailedFuture(ChannelError.ioOnClosedChannel)
                }
                do {
                    try channel.pipeline.syncOperations.addHandler(stream)
                    return channel.eventLoop.makeSucceededVoidFuture()
                } catch {
                    return channel.eventLoop.makeFailedFuture(error)
                }
            }
            if opened == Self.mostStreams {
                state = .draining
                departure = .streamIDsUsedUp
                client.settle(self)
            }
        }

        /// Writes what a batch has left behind.
        func release() { gate?.release() }

        func compose(_ ticket: PushTicket, allocator: ByteBufferAllocator) -> (HPACKHeaders, ByteBuffer) {
            composer.compose(ticket, driver: driver, connection: index, allocator: allocator)
        }

        func didWrite(_ stream: PushStream) {
            guard !stream.isEnded, stream.written == 0, let gate else { return }
            stream.written = gate.isFlushing ? gate.flushStarted : MonotonicClock.now()
            driver.written(stream.ticket, started: stream.started, at: stream.written)
        }

        /// The stream is over.
        func didClose(_ stream: PushStream, unopened: Bool = false) {
            // A closed connection has told the outcomes already.
            guard state != .closed else { return }
            if !stream.isEnded { end(stream, unopened ? .unopened : stream.ending) }
            streams[stream.slot] = nil
            freeSlots.append(stream.slot)
            if state == .draining || !refused.isEmpty { client.settle(self) }
        }

        private func end(_ stream: PushStream, _ ending: PushStream.Ending) {
            switch ending {
            case .answered, .reset(.noError): answer(stream)
            case .reset(.refusedStream) where stream.status == 0, .unopened: requeue(stream)
            case .reset(let code): finish(stream, .failed(.streamReset(code)), at: lastRead)
            case .closed(let id) where id > lastStream: requeue(stream)
            case .closed:
                reportedTwice += 1
                finish(stream, .failed(.protocolViolation), at: lastRead)
            }
        }

        private func answer(_ stream: PushStream) {
            answered &+= 1
            if stream.written == 0, let gate {
                // NIO tells of a write once all that was encrypted with it has left; the answer was faster.
                stream.written = gate.flushStarted
                driver.written(stream.ticket, started: stream.started, at: stream.written)
            }
            switch stream.status {
            case 0: finish(stream, .failed(.protocolViolation), at: lastRead)
            case 200: finish(stream, .accepted, at: lastRead)
            default: finish(stream, .rejected(status: stream.status), at: lastRead)
            }
        }

        private func finish(_ stream: PushStream, _ outcome: PushOutcome, at time: UInt64) {
            stream.isEnded = true
            stream.body.withUnsafeBufferPointer { body in
                driver.finished(
                    stream.ticket, outcome: outcome, connection: index, started: stream.started,
                    written: stream.written, at: time, body: body)
            }
        }

        /// The peer did not process the push (RFC 9113 sections 6.8 and 8.7): it may be sent again.
        private func requeue(_ stream: PushStream) {
            var ticket = stream.ticket
            if ticket.attempts >= options.retryLimit {
                finish(stream, .failed(.refusedTooOften), at: MonotonicClock.now())
                return
            }
            stream.isEnded = true
            ticket.attempts += 1
            driver.requeued(ticket)
            refused.append(ticket)
        }

        // MARK: Time

        /// Time-outs of connecting, of single pushes, and of the peer as a whole.
        func tick(now: UInt64) {
            switch state {
            case .closed: return
            case .connecting, .settling:
                if now >= connectDeadline {
                    close(
                        ConnectionProblem(
                            .connectTimeout,
                            "no usable connection after \(options.connectTimeout / 1_000_000) ms "
                                + (state == .connecting ? "(TCP and TLS)" : "(the peer's SETTINGS never came)")))
                }
                return
            case .open, .draining: break
            }
            if now >= nextScan { nextScan = scan(now) }
            if let sent = pingSent {
                if now > sent &+ options.pingTimeout {
                    close(ConnectionProblem(.peerVanished, "no byte from the peer after PING"))
                }
            } else if now > lastRead &+ options.pingInterval {
                pingSent = now
                let ping = HTTP2Frame(streamID: .rootStream, payload: .ping(HTTP2PingData(), ack: false))
                channel?.writeAndFlush(ping, promise: nil)
            }
        }

        /// Fails the pushes whose time is over.
        ///
        /// - Returns: when to look again: once the oldest push that is left has timed out, but not all the time.
        private func scan(_ now: UInt64) -> UInt64 {
            var oldest = now
            for stream in streams {
                guard let stream, !stream.isEnded else { continue }
                guard now > stream.started &+ options.pushTimeout else {
                    oldest = min(oldest, stream.started)
                    continue
                }
                finish(stream, .failed(.pushTimeout), at: now)
                // Resets the stream; its slot is free when that has been said.
                stream.channel?.close(promise: nil)
            }
            return max(oldest &+ options.pushTimeout &+ 1, now &+ min(100_000_000, options.pushTimeout / 4))
        }
    }
#endif
