import NIOCore
import NIOHPACK
import NIOHTTP2

/// A closed loop over one connection: as many streams as asked for are open until all requests have been answered.
///
/// Touched on its event loop only.
final class Load {
    private let multiplexer: NIOHTTP2Handler.StreamMultiplexer
    private let headers: HPACKHeaders
    private let body: ByteBuffer
    private let requests: Int
    private let ended: EventLoopPromise<Void>
    private var begun = 0
    private(set) var accepted = 0
    private var answered = 0

    init(
        _ multiplexer: NIOHTTP2Handler.StreamMultiplexer, headers: HPACKHeaders, body: ByteBuffer, requests: Int,
        ended: EventLoopPromise<Void>
    ) {
        self.multiplexer = multiplexer
        self.headers = headers
        self.body = body
        self.requests = requests
        self.ended = ended
    }

    func begin(streams: Int) {
        for _ in 0..<min(streams, requests) { next() }
    }

    private func next() {
        guard begun < requests else { return }
        begun += 1
        let exchange = NIOLoopBound(Exchange(self), eventLoop: ended.futureResult.eventLoop)
        multiplexer.createStreamChannel(promise: nil) { channel in
            channel.eventLoop.makeCompletedFuture { try channel.pipeline.syncOperations.addHandler(exchange.value) }
        }
    }

    /// A stream has closed.
    fileprivate func didEnd(status: String?) {
        if status == "200" { accepted += 1 }
        answered += 1
        if answered == requests { ended.succeed() } else { next() }
    }

    /// One request and its answer.
    private final class Exchange: ChannelInboundHandler {
        typealias InboundIn = HTTP2Frame.FramePayload
        typealias OutboundOut = HTTP2Frame.FramePayload
        private let load: Load
        private var status: String?

        init(_ load: Load) { self.load = load }

        func channelActive(context: ChannelHandlerContext) {
            context.write(wrapOutboundOut(.headers(.init(headers: load.headers))), promise: nil)
            context.writeAndFlush(
                wrapOutboundOut(.data(.init(data: .byteBuffer(load.body), endStream: true))), promise: nil)
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            if case .headers(let headers) = unwrapInboundIn(data) { status = headers.headers.first(name: ":status") }
        }

        func channelInactive(context: ChannelHandlerContext) { load.didEnd(status: status) }
    }
}
