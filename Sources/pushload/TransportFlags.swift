import ArgumentParser
import Scenarios

/// How pushes travel.
struct TransportFlags: ParsableArguments {
    @Option(help: "Engine: wire (frames written by pushload) or nghttp2.")
    var engine = "wire"

    @Option(help: ArgumentHelp("Where to send to; without it, the bundled mock is started.", valueName: "url"))
    var target: String?

    @Flag(help: "Plaintext HTTP/2 with prior knowledge to the bundled mock.")
    var plaintext = false

    @Option(help: "Threads of the bundled mock.")
    var mockThreads = 1

    @Option(help: ArgumentHelp("Round-trip time of the link the bundled mock emulates.", valueName: "duration"))
    var rtt: String?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "More flags of the bundled mock, as mock-apns --help lists them: \"--faults faults.yaml --silent 1%\".",
            valueName: "flags"))
    var mockFlags: String?

    @Option(help: ArgumentHelp("Bytes gathered before they are written; 16384 fills a TLS record.", valueName: "size"))
    var sendBatch = Size(16_384)

    @Option(help: ArgumentHelp("Flow-control window of each stream towards us.", valueName: "size"))
    var streamWindow = Size(65_535)

    @Option(help: ArgumentHelp("Flow-control window of each connection towards us.", valueName: "size"))
    var connectionWindow = Size(1_048_576)

    @Option(help: ArgumentHelp("HPACK table we offer for answers.", valueName: "size"))
    var headerTable = Size(4096)

    @Option(help: ArgumentHelp("HPACK table we use for requests, as far as the peer allows.", valueName: "size"))
    var encoderTable = Size(4096)

    @Option(help: ArgumentHelp("Largest frame we take.", valueName: "size"))
    var maxFrame = Size(16_384)

    @Option(help: "Oldest TLS version, 1.2 or 1.3.")
    var tlsMin = "1.2"

    @Option(help: "Newest TLS version, 1.2 or 1.3.")
    var tlsMax = "1.3"

    @Option(help: "OpenSSL cipher list for TLS 1.2.")
    var ciphers: String?

    @Option(help: "OpenSSL cipher suites for TLS 1.3.")
    var ciphersuites: String?

    @Flag(name: .customLong("nodelay"), inversion: .prefixedNo, help: "TCP_NODELAY.")
    var noDelay = true

    @Option(help: ArgumentHelp("SO_SNDBUF; without it, the kernel's own tuning.", valueName: "size"))
    var socketSendBuffer: Size?

    @Option(help: ArgumentHelp("SO_RCVBUF; without it, the kernel's own tuning.", valueName: "size"))
    var socketReceiveBuffer: Size?

    @Option(help: "A push unanswered for so long has failed.")
    var timeout = Span(seconds: 30)

    @Option(help: "TCP, TLS and SETTINGS must be there after so long.")
    var connectTimeout = Span(seconds: 10)

    @Option(help: "Ask a silent connection with PING after so long.")
    var pingInterval = Span(seconds: 10)

    @Option(help: "No byte for so long after a PING: the peer has vanished.")
    var pingTimeout = Span(seconds: 10)

    @Option(help: "With no connection for so long, all that is left has failed.")
    var giveUpAfter = Span(seconds: 10)

    @Option(help: "How often a push that was refused unprocessed is sent again.")
    var retryLimit = 10

    func apply(to scenario: inout Scenario) {
        scenario.engine = engine
        scenario.target = target
        scenario.plaintext = plaintext
        scenario.mockThreads = mockThreads
        scenario.mockFlags = (rtt.map { ["--rtt", $0] } ?? []) + (mockFlags.map(Self.words) ?? [])
        scenario.sendBatch = sendBatch.bytes
        scenario.streamWindow = streamWindow.bytes
        scenario.connectionWindow = connectionWindow.bytes
        scenario.headerTableSize = headerTable.bytes
        scenario.encoderTableSize = encoderTable.bytes
        scenario.maxFrameSize = maxFrame.bytes
        scenario.tlsMinimum = tlsMin
        scenario.tlsMaximum = tlsMax
        scenario.ciphers = ciphers
        scenario.ciphersuites = ciphersuites
        scenario.noDelay = noDelay
        scenario.socketSendBuffer = socketSendBuffer?.bytes
        scenario.socketReceiveBuffer = socketReceiveBuffer?.bytes
        scenario.pushTimeout = timeout.nanoseconds
        scenario.connectTimeout = connectTimeout.nanoseconds
        scenario.pingInterval = pingInterval.nanoseconds
        scenario.pingTimeout = pingTimeout.nanoseconds
        scenario.giveUpAfter = giveUpAfter.nanoseconds
        scenario.retryLimit = retryLimit
    }

    /// Splits at spaces, except within quotes.
    private static func words(_ text: String) -> [String] {
        var words: [String] = []
        var word: String?
        var quote: Character?
        for character in text {
            if character == quote {
                quote = nil
            } else if quote == nil, character == "\"" || character == "'" {
                quote = character
                word = word ?? ""
            } else if quote == nil, character == " " {
                if let finished = word { words.append(finished) }
                word = nil
            } else {
                word = (word ?? "") + String(character)
            }
        }
        return word.map { words + [$0] } ?? words
    }
}
