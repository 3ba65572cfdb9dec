import ArgumentParser
import Foundation
import NIOCore
import NIOHPACK
import NIOHTTP2
import NIOPosix
import NIOSSL

/// Takes h2load's flags and does h2load's work: one fixed request, as often as asked for, over one connection.
@main
struct NIOPush: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "nio-push", abstract: "One request many times over one HTTP/2 connection of SwiftNIO and NIOSSL.")

    @Option(name: .customShort("n"), help: "Requests.") var requests = 1000
    @Option(name: .customShort("m"), help: "Most streams open at once.") var streams = 500
    @Option(name: .customShort("d"), help: "A file with the body.") var body: String
    @Option(name: .customShort("H"), help: "A header field, name: value.") var header: [String] = []
    @Argument(help: "https://HOST:PORT/PATH; certificates are not checked.") var url: String

    func validate() throws {
        guard requests > 0, streams > 0 else { throw ValidationError("-n and -m: expected 1 or more") }
        guard Self.parts(url) != nil else { throw ValidationError("\(url): expected https://HOST:PORT/PATH") }
        for field in header where !field.contains(": ") { throw ValidationError("-H \(field): expected name: value") }
    }

    /// Without the limits that a flood of resets and empty frames has: nginx resets every stream it answers early.
    private static var connection: NIOHTTP2Handler.ConnectionConfiguration {
        var configuration = NIOHTTP2Handler.ConnectionConfiguration()
        configuration.maximumSequentialEmptyDataFrames = .max
        configuration.maximumBufferedControlFrames = .max
        configuration.maximumConnectionGlitches = .max
        configuration.maximumRecentlyResetStreams = 1024
        configuration.controlFrameRateLimit.windowLength = .nanoseconds(1)
        return configuration
    }

    private static var stream: NIOHTTP2Handler.StreamConfiguration {
        var configuration = NIOHTTP2Handler.StreamConfiguration()
        configuration.streamResetFrameRateLimit.windowLength = .nanoseconds(1)
        configuration.streamErrorRateLimit.windowLength = .nanoseconds(1)
        return configuration
    }

    private static func parts(_ url: String) -> (host: String, port: Int, path: String)? {
        guard url.hasPrefix("https://") else { return nil }
        let rest = url.dropFirst(8)
        guard let slash = rest.firstIndex(of: "/"), let colon = rest[..<slash].lastIndex(of: ":"),
            let port = Int(rest[rest.index(after: colon)..<slash])
        else { return nil }
        return (String(rest[..<colon]), port, String(rest[slash...]))
    }

    func run() throws {
        let (host, port, path) = Self.parts(url)!
        var fields = HPACKHeaders([
            (":method", "POST"), (":scheme", "https"), (":authority", "\(host):\(port)"), (":path", path),
        ])
        for field in header {
            let parts = field.split(separator: ": ", maxSplits: 1)
            fields.add(name: String(parts[0]), value: parts.count > 1 ? String(parts[1]) : "")
        }
        let headers = fields
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let loop = group.next()
        let content = ByteBuffer(bytes: try Data(contentsOf: URL(fileURLWithPath: body)))
        var tls = TLSConfiguration.makeClientConfiguration()
        tls.certificateVerification = .none
        tls.applicationProtocols = ["h2"]
        let context = try NIOSSLContext(configuration: tls)
        let ended = loop.makePromise(of: Void.self)
        let (requests, streams) = (requests, streams)
        let begin = NIODeadline.now()
        let accepted = try ClientBootstrap(group: loop)
            .channelOption(.socketOption(.tcp_nodelay), value: 1)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(
                        NIOSSLClientHandler(context: context, serverHostname: nil))
                }
            }
            .connect(host: host, port: port)
            .flatMap { channel in
                channel.configureHTTP2Pipeline(
                    mode: .client, connectionConfiguration: Self.connection, streamConfiguration: Self.stream
                ) { $0.eventLoop.makeSucceededVoidFuture() }.flatMap { multiplexer in
                    // A connection that ends takes unanswered requests with it.
                    channel.closeFuture.whenComplete { _ in ended.fail(ChannelError.eof) }
                    let load = Load(multiplexer, headers: headers, body: content, requests: requests, ended: ended)
                    load.begin(streams: streams)
                    let bound = NIOLoopBound(load, eventLoop: loop)
                    return ended.futureResult.map { bound.value.accepted }
                }
            }.wait()
        let seconds = Double((NIODeadline.now() - begin).nanoseconds) / 1e9
        try group.syncShutdownGracefully()
        print("\(accepted) of \(requests) answered with 200, \(Double(requests) / seconds) a second")
        if accepted != requests { throw ExitCode.failure }
    }
}
