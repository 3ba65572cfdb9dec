#if NIO
    import Networking
    import NIOCore

    /// Between TLS and HTTP/2: holds flushes back while a batch of pushes is put on streams, so that one flush carries
    /// many, and notes when bytes came and went. Every stream channel flushes for itself, and without this each push
    /// would be a write to the kernel of its own, except while NIO is reading.
    final class BatchGate: ChannelDuplexHandler {
        typealias InboundIn = ByteBuffer
        typealias OutboundIn = IOData
        typealias OutboundOut = IOData

        /// The connection lets go of its channel and of this handler when the channel is closed.
        private let connection: NIOConnection
        private let batch: Int
        private var context: ChannelHandlerContext?
        private var bytes = 0
        private var isHeld = false
        private(set) var isHolding = false
        /// A flush is under way: what is now said to be written went with it.
        private(set) var isFlushing = false
        /// When the last flush began, ns.
        private(set) var flushStarted: UInt64 = 0

        /// - Parameter batch: bytes of frames after which a flush goes through all the same.
        init(_ connection: NIOConnection, batch: Int) {
            self.connection = connection
            self.batch = batch
        }

        func handlerAdded(context: ChannelHandlerContext) { self.context = context }
        func handlerRemoved(context: ChannelHandlerContext) {
            self.context = nil
            connection.didDetach()
        }

        func hold() { isHolding = true }

        func release() {
            isHolding = false
            if isHeld, let context { pass(context) }
        }

        func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
            bytes &+= unwrapOutboundIn(data).readableBytes
            context.write(data, promise: promise)
        }

        func flush(context: ChannelHandlerContext) {
            if isHolding, bytes < batch {
                isHeld = true
            } else {
                pass(context)
            }
        }

        private func pass(_ context: ChannelHandlerContext) {
            isHeld = false
            bytes = 0
            // Before the call: the peer may answer, and this thread may be put aside, before the call returns.
            flushStarted = MonotonicClock.now()
            isFlushing = true
            context.flush()
            isFlushing = false
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            connection.didRead(at: MonotonicClock.now())
            context.fireChannelRead(data)
        }

        /// The streams must learn from the connection why they end, so it is told before NIO closes them.
        func channelInactive(context: ChannelHandlerContext) {
            connection.didLose()
            context.fireChannelInactive()
        }

        func errorCaught(context: ChannelHandlerContext, error: any Error) {
            connection.note(error)
            context.fireErrorCaught(error)
        }
    }
#endif
