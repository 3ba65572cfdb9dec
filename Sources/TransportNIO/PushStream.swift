#if NIO
    import HTTP2
    import Networking
    import NIOCore
    import NIOHTTP2
    import Transport

    /// One push on its stream channel: writes the request when the channel opens, gathers the answer, and tells its
    /// connection when the stream has ended.
    ///
    /// Unchecked: like everything of a worker it is touched on its event loop's thread only.
    final class PushStream: ChannelInboundHandler, @unchecked Sendable {
        typealias InboundIn = HTTP2Frame.FramePayload
        typealias OutboundOut = HTTP2Frame.FramePayload

        /// What ended the stream, when it was not the answer.
        enum Ending {
            case answered
            /// RST_STREAM from the peer.
            case reset(ErrorCode)
            /// NIO closed it: after GOAWAY, or because the peer's frames on it were wrong.
            case closed(stream: Int)
            /// NIO would not open it.
            case unopened
        }

        let connection: NIOConnection
        let slot: Int
        let ticket: PushTicket
        /// When it was put on a stream, ns; until the stream is open, when that was asked for.
        var started: UInt64
        /// When the write that handed its last byte to the kernel began, ns; 0 before.
        var written: UInt64 = 0
        /// Its outcome is told; the slot only waits for the stream to close.
        var isEnded = false
        private(set) var channel: (any Channel)?
        private(set) var status: UInt16 = 0
        private(set) var body: [UInt8] = []
        private(set) var ending = Ending.answered
        private static let bodyCapacity = 256

        init(_ connection: NIOConnection, slot: Int, ticket: PushTicket, now: UInt64) {
            self.connection = connection
            self.slot = slot
            self.ticket = ticket
            started = now
        }

        func handlerAdded(context: ChannelHandlerContext) { channel = context.channel }

        func handlerRemoved(context: ChannelHandlerContext) { channel = nil }

        func channelActive(context: ChannelHandlerContext) {
            if isEnded {
                context.close(promise: nil)
                return
            }
            started = MonotonicClock.now()
            let (headers, payload) = connection.compose(ticket, allocator: context.channel.allocator)
            context.write(wrapOutboundOut(.headers(.init(headers: headers))), promise: nil)
            let promise = context.eventLoop.makePromise(of: Void.self)
            promise.futureResult.whenSuccess { self.connection.didWrite(self) }
            context.writeAndFlush(
                wrapOutboundOut(.data(.init(data: .byteBuffer(payload), endStream: true))), promise: promise)
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            switch unwrapInboundIn(data) {
            case .headers(let answer):
                if let text = answer.headers.first(name: ":status"), let code = UInt16(text) { status = code }
            case .data(let answer):
                guard case .byteBuffer(let buffer) = answer.data else { break }
                let kept = min(buffer.readableBytes, Self.bodyCapacity - body.count)
                if kept > 0 { body.append(contentsOf: buffer.readableBytesView.prefix(kept)) }
            case .rstStream(let code): ending = .reset(ErrorCode(rawValue: UInt32(code.networkCode)))
            default: break
            }
        }

        func errorCaught(context: ChannelHandlerContext, error: any Error) {
            guard case .answered = ending else { return }
            if let closed = error as? NIOHTTP2Errors.StreamClosed {
                ending = .closed(stream: Int(closed.streamID))
            } else {
                ending = .unopened
                context.close(promise: nil)
            }
        }

        func channelInactive(context: ChannelHandlerContext) { connection.didClose(self) }
    }
#endif
