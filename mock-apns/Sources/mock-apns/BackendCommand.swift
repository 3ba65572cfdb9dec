import ArgumentParser
import Backend
import Faults
import Foundation
import MockAPNs
import Networking
import Settings
import Signing

struct BackendCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "backend",
        abstract: "Be an app's backend for rich push: notifications, their payloads, attachments and actions.",
        discussion: """
            Prints the address it listens on, then answers until it gets SIGTERM or SIGINT; then, and at each SIGUSR1, it \
            prints what it counted. What it answers is in docs/backend.md. Any user whose password is the user's name may ask.
            """)

    @Option(help: ArgumentHelp("Address to listen on.", valueName: "address"))
    var host = "127.0.0.1"

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("Port to listen on; 0 lets the system choose. Default: 8080.", valueName: "port"),
        transform: portNumber)
    var port: UInt16 = 8080

    @Option(
        help: ArgumentHelp(
            "A name with a dot that it may be asked by, such as backend.example.com. Repeatable.", valueName: "name"))
    var name: [String] = []

    @Option(
        help: ArgumentHelp(
            "Listen with TLS, as the server of this folder (the mock's: ca.pem, server.pem, server.key; what is missing is made). Default: plain HTTP.",
            valueName: "folder"))
    var credentials: String?

    @Option(
        help: ArgumentHelp(
            "SQLite file that keeps all and survives a kill. Default: in memory, gone at the end.", valueName: "file"))
    var store: String?

    @Option(
        help: ArgumentHelp(
            "Users who may ask, name:password a line. Default: anybody whose password is the user's name.",
            valueName: "file"))
    var users: String?

    @Option(
        help: ArgumentHelp(
            "Bytes of the payload of a notification that was given none, at most 10MiB.", valueName: "size"))
    var payloadSize = "10KiB"

    @Option(
        help: ArgumentHelp("Largest body of a request; a larger one is answered 413.", valueName: "size"))
    var maxBody = "1MiB"

    @Option(help: ArgumentHelp("Most connections; the next one is closed at once.", valueName: "count"))
    var maxConnections = "50k"

    @Option(help: ArgumentHelp("Time for a request to be complete, else 408.", valueName: "duration"))
    var requestTimeout = "10s"

    @Option(help: ArgumentHelp("A connection without a request for so long is closed.", valueName: "duration"))
    var idleTimeout = "2m"

    @Option(help: ArgumentHelp("Faults from a file (YAML; see docs/backend.md). Flags add to it.", valueName: "file"))
    var faults: String?

    @OptionGroup var answers: AnswerFaultOptions

    @Option(
        help: ArgumentHelp(
            "Reject this share of the requests, as in 503=2%; may be given several times.", valueName: "status=share"))
    var reject: [String] = []

    @Option(help: ArgumentHelp("Reset the connection (TCP RST) of this share of the requests.", valueName: "share"))
    var reset: String?

    @Option(
        help: ArgumentHelp("Answer this share of the requests for /api/content 204: nothing new.", valueName: "share"))
    var empty: String?

    @Flag(help: "Print what machines read: one JSON object a line.")
    var json = false

    @Flag(help: "End when standard input is closed: for a parent process that may die.")
    var untilStdinCloses = false

    func run() throws {
        EndSignals.holdReports()
        FileLimit.raise()
        let settings: BackendConfiguration
        do { settings = try readSettings() } catch {
            Output.error("mock-apns: \(error)")
            throw ExitCode(64)
        }
        // Before the first thread, and after what may be waited for.
        let signals = EndSignals()
        let server: BackendServer
        do { server = try BackendServer(settings) } catch {
            Output.error("mock-apns: \(error)")
            throw ExitCode((error as? NetworkError)?.kind == .configuration ? 64 : 1)
        }
        announce(server, settings)
        // Who starts a server and cannot be told where it listens has no server.
        if !StandardStreams.isOutputOpen {
            server.stop()
            return
        }
        if untilStdinCloses { signals.watchStandardInput() }
        signals.wait { report(server) }
        server.stop()
        report(server)
    }

    private func readSettings() throws -> BackendConfiguration {
        var settings = BackendConfiguration()
        settings.host = host
        settings.port = port
        for name in name where name.contains(where: { ":/ ".contains($0) }) || name.isEmpty {
            throw Misuse("--name \"\(name)\": expected a name without a port, such as backend.example.com")
        }
        settings.names = name
        if let store {
            try checkOutput("--store", store, orPipe: false)
            settings.store = store
        }
        if let users { settings.users = try BackendUsers(file: users) }
        settings.payloadSize = try size(payloadSize, "--payload-size", 0...10 << 20)
        settings.limits.body = try size(maxBody, "--max-body", 1024...64 << 20)
        settings.limits.connections = try count("--max-connections", maxConnections, 1...1_000_000_000)
        settings.limits.request = try reading("--request-timeout", requestTimeout, Units.duration)
        settings.limits.idle = try reading("--idle-timeout", idleTimeout, Units.duration)
        settings.limits.held = 256 << 20
        settings.faults = try readFaults()
        if let credentials {
            guard !credentials.isEmpty else { throw Misuse("--credentials: expected a folder, not an empty text") }
            let (loaded, _) = try Credentials.loadOrCreate(
                directory: credentials, hosts: TrustOptions.isAny(host) ? [] : [host])
            if let note = loaded.note { Output.error("mock-apns: \(note)") }
            guard let server = loaded.server else {
                throw Misuse("\(credentials): server.pem and server.key are missing")
            }
            var options = TLSOptions()
            options.releaseIdleBuffers = true
            options.identity = TLSIdentity(
                certificate: server.certificate, key: server.key, certificateOrigin: credentials + "/server.pem",
                keyOrigin: credentials + "/server.key")
            settings.tls = options
        }
        return settings
    }

    private func size(_ text: String, _ flag: String, _ range: ClosedRange<Int>) throws(Misuse) -> Int {
        let value = try reading(flag, text, Units.bytes)
        guard range.contains(value) else {
            throw Misuse("\(flag) \(text): expected \(range.lowerBound) to \(range.upperBound) bytes")
        }
        return value
    }

    private func readFaults() throws -> BackendFaults {
        var plan = try faults.map(BackendFaults.init(file:)) ?? BackendFaults()
        if let faultSeed = answers.faultSeed { plan.seed = faultSeed }
        var rule = BackendFaults.Rule()
        if let latency = try answers.readLatency() { rule.latency = latency }
        for text in reject {
            rule.rejections.append(try reading("--reject", text, BackendFaults.Rejection.init(parsing:)))
        }
        if let share = try answers.readSilent() { rule.silentShare = share }
        if let reset { rule.resetShare = try reading("--reset", reset, Units.share) }
        if let empty { rule.emptyShare = try reading("--empty", empty, Units.share) }
        try answers.check(totalShare: rule.totalShare, of: "--reject, --silent, --reset and --empty")
        if rule != BackendFaults.Rule() { plan.rules.append(rule) }
        return plan
    }

    // MARK: Output

    private struct Announcement: Encodable {
        let event = "listening"
        let port: UInt16
        let url: String
        let faultSeed: UInt64?

        enum CodingKeys: String, CodingKey {
            case event, port, url
            case faultSeed = "fault_seed"
        }
    }

    private func announce(_ server: BackendServer, _ settings: BackendConfiguration) {
        let seed = settings.faults.rules.isEmpty ? nil : settings.faults.seed
        if json {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
            let line = Announcement(port: server.port, url: server.url, faultSeed: seed)
            if let data = try? encoder.encode(line) { Output.line(String(decoding: data, as: UTF8.self)) }
            return
        }
        var lines = ["mock-apns backend listening on \(server.url)"]
        if store == nil { lines.append("no --store given: what it keeps is gone at the end") }
        if let seed { lines.append("faults on, seed \(seed)") }
        Output.line(lines.joined(separator: "\n"))
    }

    private func report(_ server: BackendServer) {
        let report = server.report
        Output.line(json ? report.json : report.text)
    }
}
