import ArgumentParser
import MockAPNs
import Networking
import Settings

/// Where the mock listens, and how it treats connections.
struct ListenOptions: ParsableArguments {
    @Option(help: ArgumentHelp("Address to listen on.", valueName: "address"))
    var host = "127.0.0.1"

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("Port to listen on; 0 lets the system choose. Default: 2197.", valueName: "port"),
        transform: portNumber)
    var port: UInt16 = 2197

    @Option(help: ArgumentHelp("What --port is: production or development.", valueName: "environment"))
    var environment = "production"

    @Option(
        name: .customLong("second-port"), parsing: .unconditional,
        help: ArgumentHelp(
            "Port of the other environment; 0 lets the system choose. Default: none.", valueName: "port"),
        transform: portNumber)
    var secondPort: UInt16?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "Port of broadcast channel management for --environment (Apple: 2196 production, 2195 development). Default: none.",
            valueName: "port"), transform: portNumber)
    var managementPort: UInt16?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("The same for the other environment. Default: none.", valueName: "port"),
        transform: portNumber)
    var secondManagementPort: UInt16?

    @Flag(help: "HTTP/2 without TLS, with prior knowledge.")
    var plaintext = false

    @Option(
        name: [.customShort("t"), .long],
        help: ArgumentHelp(
            "Threads. Default: 1 when --host is a loopback address, where the client needs cores too; else as many as there are cores for this process.",
            valueName: "count"))
    var threads: Int?

    @Option(
        help: ArgumentHelp(
            "Pin threads to these cores, one each in turn, as 2-5. Default: the system places them.", valueName: "cores"
        ))
    var pin: String?

    @Option(help: ArgumentHelp("Most streams a client may have open on a connection.", valueName: "count"))
    var maxConcurrentStreams = "1000"

    @Flag(
        help: """
            Allow them from the start, for clients that never look at SETTINGS again (h2load). Otherwise a token connection \
            may have one stream until its first provider token was found valid, as at Apple.
            """)
    var allStreamsAtOnce = false

    @Option(help: ArgumentHelp("Flow-control window of each stream, bytes.", valueName: "size"))
    var streamWindow = "65535B"

    @Option(help: ArgumentHelp("Flow-control window of each connection, bytes.", valueName: "size"))
    var connectionWindow = "1MiB"

    @Option(help: ArgumentHelp("Largest frame the client may send, bytes.", valueName: "size"))
    var maxFrameSize = "16KiB"

    @Option(help: ArgumentHelp("HPACK dynamic table the client may use, bytes.", valueName: "size"))
    var headerTableSize = "4KiB"

    @Option(help: ArgumentHelp("Most connections a thread holds; the next one is closed at once.", valueName: "count"))
    var maxConnections = "100k"

    @Option(help: ArgumentHelp("Time for a connection's TLS handshake and HTTP/2's preface.", valueName: "duration"))
    var handshakeTimeout = "10s"

    @Option(
        help: ArgumentHelp("A connection silent for so long is told to go away; 0: never.", valueName: "duration"))
    var idleTimeout = "1h"

    @Option(
        help: ArgumentHelp(
            "A request not complete after so long is answered 400 IdleTimeout; 0: never.", valueName: "duration"))
    var requestTimeout = "60s"

    @Option(
        help: ArgumentHelp(
            "A connection whose client does not take its answers for so long is closed, a stream whose answer waits so long for the client's window is reset; 0: never.",
            valueName: "duration"))
    var writeTimeout = "60s"

    @Option(
        help: ArgumentHelp(
            "Answers that wait for their time, a thread; beyond it 503 ServiceUnavailable.", valueName: "count"))
    var maxWaiting = "1M"

    @Option(
        help: ArgumentHelp(
            "on: what a read brought is answered with one write; off: each frame is a TLS record and a write of its own, as many servers do.",
            valueName: "on|off"))
    var answerBatching = "on"

    @Option(
        help: ArgumentHelp(
            "When told to end: answer new pushes 503 Shutdown for so long, then send GOAWAY.", valueName: "duration"))
    var shutdownGrace = "0s"

    func apply(to configuration: inout MockConfiguration) throws(Misuse) {
        configuration.host = host
        configuration.port = port
        configuration.environment = try reading("--environment", environment, FaultText.environment)
        configuration.secondPort = secondPort
        configuration.managementPort = managementPort
        configuration.secondManagementPort = secondManagementPort
        if let pin {
            let list = try reading("--pin", pin, CoreList.init(parsing:))
            if let problem = list.problem(allowed: CoreAffinity.allowed()) { throw Misuse("--pin \(problem)") }
            configuration.pin = list
        }
        if let threads {
            guard Self.threadCounts.contains(threads) else { throw Misuse("--threads \(threads): expected 1 to 256") }
            configuration.threads = threads
        } else {
            configuration.threads = defaultThreads(configuration.pin)
        }
        configuration.maxConcurrentStreams = UInt32(
            try count("--max-concurrent-streams", maxConcurrentStreams, 0...0xFFFF_FFFF))
        configuration.allStreamsAtOnce = allStreamsAtOnce
        configuration.streamWindow = try size(streamWindow, "--stream-window", 0...2_147_483_647)
        configuration.connectionWindow = try size(connectionWindow, "--connection-window", 65_535...2_147_483_647)
        configuration.maxFrameSize = try size(maxFrameSize, "--max-frame-size", 16_384...16_777_215)
        configuration.headerTableSize = try size(headerTableSize, "--header-table-size", 0...65_536)
        configuration.maxConnections = try count("--max-connections", maxConnections, 1...1_000_000_000)
        configuration.handshakeTimeout = try reading("--handshake-timeout", handshakeTimeout, Units.duration)
        configuration.idleTimeout = try reading("--idle-timeout", idleTimeout, Units.duration)
        configuration.requestTimeout = try reading("--request-timeout", requestTimeout, Units.duration)
        configuration.writeTimeout = try reading("--write-timeout", writeTimeout, Units.duration)
        configuration.maxWaitingAnswers = Int(try reading("--max-waiting", maxWaiting, Units.count))
        guard ["on", "off"].contains(answerBatching) else {
            throw Misuse("--answer-batching \(answerBatching): expected on or off")
        }
        configuration.batchesAnswers = answerBatching == "on"
        configuration.shutdownGrace = try reading("--shutdown-grace", shutdownGrace, Units.duration)
    }

    private static let threadCounts = 1...256

    /// A host without an address is told when it is listened on.
    private func defaultThreads(_ pin: CoreList?) -> Int {
        guard let address = try? SocketAddress(host: host, port: port), !address.isLoopback else { return 1 }
        let cores = pin?.cores.count ?? CoreAffinity.allowed().count
        return min(max(cores, Self.threadCounts.lowerBound), Self.threadCounts.upperBound)
    }

    private func size(_ text: String, _ flag: String, _ range: ClosedRange<Int>) throws(Misuse) -> UInt32 {
        let value = try reading(flag, text, Units.bytes)
        guard range.contains(value) else {
            throw Misuse("\(flag) \(text): expected \(range.lowerBound) to \(range.upperBound) bytes")
        }
        return UInt32(value)
    }
}
