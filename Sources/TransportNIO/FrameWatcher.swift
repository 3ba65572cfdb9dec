#if NIO
    import HTTP2
    import NIOCore
    import NIOHTTP2
    import NIOTLS
    import Transport

    /// Behind HTTP/2: what concerns the connection rather than a stream.
    final class FrameWatcher: ChannelInboundHandler {
        typealias InboundIn = HTTP2Frame

        private let connection: NIOConnection

        init(_ connection: NIOConnection) { self.connection = connection }

        func channelActive(context: ChannelHandlerContext) {
            connection.didConnect()
            context.fireChannelActive()
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            switch unwrapInboundIn(data).payload {
            case .settings(.settings(let settings)):
                let limit = settings.last { $0.parameter == .maxConcurrentStreams }
                connection.didReceiveSettings(limit: limit?.value)
            case .goAway(let last, let code, let data):
                let goAway = GoAway(
                    code: ErrorCode(rawValue: UInt32(truncatingIfNeeded: code.networkCode)),
                    debugData: data.map { Array($0.readableBytesView.prefix(GoAway.longestDebugData)) } ?? [])
                connection.didReceiveGoAway(lastStream: Int(last), goAway)
            default: break
            }
        }

        func channelReadComplete(context: ChannelHandlerContext) { connection.didFinishReading() }

        func channelWritabilityChanged(context: ChannelHandlerContext) { connection.didFinishReading() }

        func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
            if case .handshakeCompleted(let name)? = event as? TLSUserEvent { connection.didSecure(protocol: name) }
            context.fireUserInboundEventTriggered(event)
        }

        /// Errors of the byte stream were noted by `BatchGate`; these are HTTP/2's.
        func errorCaught(context: ChannelHandlerContext, error: any Error) {
            if error is any NIOHTTP2Error { connection.didFindViolation(error) }
        }
    }
#endif
