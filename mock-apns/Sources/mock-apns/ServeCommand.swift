import ArgumentParser
import Foundation
import Glibc
import Logging
import Measurement
import MockAPNs
import Networking
import Settings

struct ServeCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "serve",
        abstract: "Listen and answer pushes as APNs would (what mock-apns does without a subcommand).",
        discussion: """
            Prints the addresses it listens on, then answers until it gets SIGTERM or SIGINT; then, and at each SIGUSR1, it \
            prints what it counted.
            """)

    @OptionGroup(title: "Listening and connections") var listen: ListenOptions
    @OptionGroup(title: "Trust") var trust: TrustOptions
    @OptionGroup(title: "Rules") var rules: RuleOptions
    @OptionGroup(title: "Devices and delivery") var delivery: DeliveryOptions
    @OptionGroup(title: "The backend of devices") var echo: EchoOptions
    @OptionGroup(title: "Faults and link") var faults: FaultOptions
    @OptionGroup(title: "Namespaces") var namespaces: NamespaceOptions
    @OptionGroup(title: "Recording") var recording: RecordOptions

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "Port of the admin listener (plain HTTP: /stats, /metrics, /pushes, /events, /faults, …). Default: none.",
            valueName: "port"), transform: portNumber)
    var adminPort: UInt16?

    @Option(help: ArgumentHelp("Address of the admin listener (default: 127.0.0.1).", valueName: "address"))
    var adminHost: String?

    @Option(
        help: ArgumentHelp(
            "A name with a dot that the admin listener may be asked by, such as mock.example.com. Repeatable.",
            valueName: "name"))
    var adminName: [String] = []

    @Option(help: ArgumentHelp("Requests each thread keeps for GET /pushes (default: 1000).", valueName: "count"))
    var keepPushes: String?

    @Flag(help: "Print what machines read: one JSON object a line.")
    var json = false

    @Option(help: ArgumentHelp("Write which pushes arrived, one bit each, to this file at the end.", valueName: "file"))
    var ledgerOut: String?

    @Option(help: ArgumentHelp("Pushes of a run that are tracked one by one, at most 1024G.", valueName: "count"))
    var ledgerCapacity = "4294967296"

    @Option(
        help: ArgumentHelp(
            "Write when pushes of the first run came and were answered to this file at the end.", valueName: "file"))
    var timesOut: String?

    @Option(help: ArgumentHelp("One push in so many has its times written.", valueName: "count"))
    var timesEvery = PushTimes.sharedInterval

    @Flag(help: "End when standard input is closed: for a parent process that may die.")
    var untilStdinCloses = false

    @Flag(name: .shortAndLong, help: "Log what happens to connections, and every push; twice (-vv): every frame too.")
    var verbose: Int

    func run() throws {
        EndSignals.holdReports()
        FileLimit.raise()
        let level: Logger.Level = verbose == 0 ? .notice : verbose == 1 ? .debug : .trace
        LoggingSystem.bootstrap { label in
            var handler = StreamLogHandler.standardError(label: label)
            handler.logLevel = level
            return handler
        }
        var configuration = MockConfiguration()
        let created: [String]
        do {
            try listen.apply(to: &configuration)
            created = try trust.apply(to: &configuration, host: listen.host, plaintext: listen.plaintext)
            configuration.rules = try rules.rules()
            try delivery.apply(to: &configuration)
            try echo.apply(to: &configuration, credentials: trust.credentials)
            configuration.faults = try faults.plan()
            configuration.scriptedTokens = faults.scriptedTokens
            try namespaces.apply(to: &configuration)
            let capacity = try reading("--ledger-capacity", ledgerCapacity, Units.count)
            guard (1...1 << 40).contains(capacity) else {
                throw Misuse("--ledger-capacity \(ledgerCapacity): expected 1 to 1099511627776")
            }
            configuration.ledgerCapacity = capacity
            if let ledgerOut { try checkOutput("--ledger-out", ledgerOut) }
            if let timesOut { try checkOutput("--times-out", timesOut) }
            try recording.apply(to: &configuration)
            try checkDifferent([
                ("--device-log", delivery.deviceLog), ("--ledger-out", ledgerOut), ("--times-out", timesOut),
                ("--record", recording.record),
            ])
            configuration.adminPort = adminPort
            if let adminHost { configuration.adminHost = adminHost }
            for name in adminName where name.contains(where: { ":/ ".contains($0) }) || name.isEmpty {
                throw Misuse("--admin-name \"\(name)\": expected a name without a port, such as mock.example.com")
            }
            configuration.adminNames = adminName
            if let keepPushes {
                configuration.keptPushes = try count("--keep-pushes", keepPushes, 1...1_000_000_000)
            }
            let asked = [("--admin-host", adminHost), ("--admin-name", adminName.first), ("--keep-pushes", keepPushes)]
            if adminPort == nil, let flag = asked.first(where: { $0.1 != nil })?.0 {
                throw Misuse("\(flag) goes with --admin-port, the pages it is about")
            }
            if timesOut != nil {
                guard timesEvery >= 2, timesEvery <= 1 << 32, timesEvery.nonzeroBitCount == 1 else {
                    throw Misuse("--times-every \(timesEvery): expected a power of two from 2 to 4294967296")
                }
                configuration.timesInterval = timesEvery
            }
        } catch {
            Output.error("mock-apns: \(error)")
            throw ExitCode(64)
        }
        // Before the first thread; what is read before may be waited for, and SIGTERM ends that as it is.
        let signals = EndSignals()
        let server: MockServer
        do throws(NetworkError) {
            server = try MockServer(configuration, logger: Logger(label: "mock-apns"))
        } catch {
            Output.error("mock-apns: \(error)")
            throw ExitCode(error.kind == .configuration ? 64 : 1)
        }
        do throws(BinaryFileFailure) { try configuration.recording?.begin() } catch {
            Output.error("mock-apns: \(error)")
            server.stop()
            throw ExitCode(74)
        }
        configuration.deviceLog?.begin()
        announce(server, configuration, created)
        // Who starts a server and cannot be told where it listens has no server.
        if !StandardStreams.isOutputOpen {
            server.stop()
            return
        }
        if untilStdinCloses { signals.watchStandardInput() }
        signals.wait { report(server) }
        server.stop()
        report(server)
        // One that cannot be written leaves the others as they are.
        var isComplete = true
        func write(_ file: () throws -> Void) {
            do { try file() } catch {
                Output.error("mock-apns: \(error)")
                isComplete = false
            }
        }
        write { try server.endDeviceLog() }
        endOutput(delivery.deviceLog)
        write { try recording.end(configuration, json: json) }
        if let timesOut {
            if let entry = server.book.runs.first {
                if let times = entry.times {
                    write { try PushTimesFile.write(times, run: entry.run, of: .mock, to: timesOut) }
                }
            } else {
                write { try PushTimesFile.writeNone(interval: timesEvery, to: timesOut) }
            }
            endOutput(timesOut)
        }
        if let ledgerOut { write { try LedgerFile.write(server.book, to: ledgerOut) } }
        if !isComplete { throw ExitCode(74) }
    }

    // MARK: Output

    private struct Announcement: Encodable {
        let event = "listening"
        let port: UInt16
        let url: String
        let endpoints: [String: String]
        let threads: Int
        let faultSeed: UInt64?

        enum CodingKeys: String, CodingKey {
            case event, port, url, endpoints, threads
            case faultSeed = "fault_seed"
        }
    }

    private func announce(_ server: MockServer, _ configuration: MockConfiguration, _ created: [String]) {
        let seed = configuration.faults.isEmpty ? nil : configuration.faults.seed
        if json {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
            let line = Announcement(
                port: server.port, url: server.url,
                endpoints: Dictionary(uniqueKeysWithValues: server.endpoints.map { ($0.name, $0.url) }),
                threads: configuration.threads, faultSeed: seed)
            if let data = try? encoder.encode(line) { Output.line(String(decoding: data, as: UTF8.self)) }
            return
        }
        // In one piece: whoever waits for the first line may look for the others too.
        var lines = ["mock-apns listening on \(server.url)"]
        lines += server.endpoints.dropFirst().map { "\($0.name) on \($0.url)" }
        if configuration.threads > 1 {
            let why = listen.threads == nil ? ", as many as there are cores for it (--threads)" : ""
            lines.append("\(configuration.threads) threads\(why)")
        }
        lines += created.map { "made \(trust.credentials ?? "")/\($0)" }
        if configuration.accounts.isEmpty {
            lines.append("no provider key given: provider tokens are not checked (give --credentials or --key)")
        }
        if configuration.tls != nil, trust.credentials == nil, trust.cert == nil {
            lines.append(
                "certificate made for this run: no client can trust it (--credentials FOLDER makes one with its ca.pem)"
            )
        }
        if let seed { lines.append("faults on, seed \(seed)") }
        Output.line(lines.joined(separator: "\n"))
    }

    private func report(_ server: MockServer) {
        let report = MockReport(server)
        Output.line(json ? report.json : report.text)
    }
}
