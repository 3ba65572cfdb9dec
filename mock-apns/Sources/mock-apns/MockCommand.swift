import ArgumentParser
import Foundation
import Glibc
import Logging
import Measurement
import MockAPNs
import Networking
import Payloads
import Scenarios
import Signing

@main
struct MockCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "mock-apns",
        abstract: "A mock of Apple's push notification service (APNs) for tests and load tests.",
        discussion: """
            Prints the address it listens on, then answers pushes as APNs would until it gets SIGTERM or SIGINT; then, and \
            at each SIGUSR1, it prints what it counted.
            """,
        version: "0.1.0")

    @Option(help: ArgumentHelp("Address to listen on.", valueName: "address"))
    var host = "127.0.0.1"

    @Option(help: ArgumentHelp("Port to listen on; 0 lets the system choose.", valueName: "port"))
    var port: UInt16 = 2197

    @Flag(help: "HTTP/2 without TLS, with prior knowledge.")
    var plaintext = false

    @Option(
        help: ArgumentHelp(
            "Folder with ca.pem, server.pem, server.key, AuthKey.p8 and credentials.json; what is missing is made.",
            valueName: "folder"))
    var credentials: String?

    @Option(help: ArgumentHelp("The server's certificate chain, PEM, instead of the folder's.", valueName: "file"))
    var cert: String?

    @Option(help: ArgumentHelp("The key of --cert, PEM.", valueName: "file"))
    var certKey: String?

    @Option(
        help: ArgumentHelp(
            "Provider key whose tokens are valid (.p8, or a PEM public key), instead of the folder's.",
            valueName: "file"))
    var key: String?

    @Option(help: ArgumentHelp("Key id of --key, 10 characters.", valueName: "id"))
    var keyID: String?

    @Option(help: ArgumentHelp("Team id of --key, 10 characters.", valueName: "id"))
    var teamID: String?

    @Option(help: ArgumentHelp("Accept client certificates signed by these CAs, PEM.", valueName: "file"))
    var clientCA: String?

    @Option(
        name: .customLong("topic"),
        help: ArgumentHelp("Bundle id a push may be for; may be given several times. Default: any.", valueName: "id"))
    var topics: [String] = []

    @Option(
        help: ArgumentHelp(
            "Only the first so many devices of --device-seed are registered. Default: every well-formed token.",
            valueName: "count"))
    var devices: String?

    @Option(help: ArgumentHelp("Seed of the device population.", valueName: "seed"))
    var deviceSeed: UInt64 = 1

    @Option(name: [.customShort("t"), .long], help: ArgumentHelp("Threads.", valueName: "count"))
    var threads = 1

    @Option(help: ArgumentHelp("Most streams a client may have open on a connection.", valueName: "count"))
    var maxConcurrentStreams: UInt32 = 1000

    @Option(help: ArgumentHelp("Flow-control window of each stream, bytes.", valueName: "size"))
    var streamWindow = "65535"

    @Option(help: ArgumentHelp("Flow-control window of each connection, bytes.", valueName: "size"))
    var connectionWindow = "1MiB"

    @Option(help: ArgumentHelp("Oldest TLS version, 1.2 or 1.3.", valueName: "version"))
    var tlsMin = "1.2"

    @Option(help: ArgumentHelp("Newest TLS version, 1.2 or 1.3.", valueName: "version"))
    var tlsMax = "1.3"

    @Flag(help: "Print what machines read: one JSON object a line.")
    var json = false

    @Option(help: ArgumentHelp("Write which pushes arrived, one bit each, to this file at the end.", valueName: "file"))
    var ledgerOut: String?

    @Flag(help: "End when standard input is closed: for a parent process that may die.")
    var untilStdinCloses = false

    @Flag(name: .shortAndLong, help: "Log what happens to connections.")
    var verbose = false

    func run() throws {
        signal(SIGPIPE, SIG_IGN)
        // Before the first thread, so that every thread inherits it: signals are taken by `sigwait` below.
        var signals = sigset_t()
        sigemptyset(&signals)
        for number in [SIGTERM, SIGINT, SIGUSR1] { sigaddset(&signals, number) }
        pthread_sigmask(SIG_BLOCK, &signals, nil)

        let isVerbose = verbose
        LoggingSystem.bootstrap { label in
            var handler = StreamLogHandler.standardError(label: label)
            handler.logLevel = isVerbose ? .debug : .notice
            return handler
        }
        let configuration: MockConfiguration
        let created: [String]
        do {
            (configuration, created) = try makeConfiguration()
        } catch {
            Output.error("mock-apns: \(error)")
            throw ExitCode(64)
        }
        let server: MockServer
        do throws(NetworkError) {
            server = try MockServer(configuration, logger: Logger(label: "mock-apns"))
        } catch {
            Output.error("mock-apns: \(error)")
            throw ExitCode(error.kind == .configuration ? 64 : 1)
        }
        announce(server, configuration, created)
        if untilStdinCloses { watchStandardInput() }
        while true {
            var number: Int32 = 0
            guard sigwait(&signals, &number) == 0 else { continue }
            if number == SIGUSR1 {
                report(server)
                continue
            }
            break
        }
        server.stop()
        report(server)
        if let ledgerOut {
            do throws(LedgerFile.Failure) {
                try LedgerFile.write(server.book, to: ledgerOut)
            } catch {
                Output.error("mock-apns: \(error)")
                throw ExitCode(1)
            }
        }
    }

    private func watchStandardInput() {
        Thread.detachNewThread {
            var byte: UInt8 = 0
            while true {
                let count = read(STDIN_FILENO, &byte, 1)
                if count > 0 || (count < 0 && errno == EINTR) { continue }
                kill(getpid(), SIGTERM)
                return
            }
        }
    }

    private func makeConfiguration() throws -> (MockConfiguration, created: [String]) {
        var configuration = MockConfiguration()
        configuration.host = host
        configuration.port = port
        guard (1...256).contains(threads) else { throw Misuse(description: "--threads \(threads): expected 1 to 256") }
        configuration.threads = threads
        configuration.maxConcurrentStreams = maxConcurrentStreams
        configuration.streamWindow = try window(streamWindow, "--stream-window", from: 0)
        configuration.connectionWindow = try window(connectionWindow, "--connection-window", from: 65_535)
        if !topics.isEmpty { configuration.topics = Set(topics) }
        if let devices {
            let count: UInt64
            do throws(Units.ParseError) { count = try Units.count(devices) } catch {
                throw Misuse(description: "--devices: \(error)")
            }
            configuration.devices = SyntheticDevices(seed: deviceSeed, count: count)
        }
        var created: [String] = []
        var loaded: Credentials?
        if let credentials {
            (loaded, created) = try Credentials.loadOrCreate(
                directory: credentials, hosts: host == "127.0.0.1" ? [] : [host])
        }
        if let key {
            guard let keyID, let teamID else { throw Misuse(description: "--key needs --key-id and --team-id") }
            let pem = try Credentials.read(key)
            let isPublic = String(decoding: pem, as: UTF8.self).contains("BEGIN PUBLIC KEY")
            let provider =
                isPublic ? try ProviderKey.publicKey(pem: pem, origin: key) : try ProviderKey(pem: pem, origin: key)
            configuration.identities = [try ProviderIdentity(key: provider, keyID: keyID, teamID: teamID)]
        } else if let loaded {
            configuration.identities = [loaded.identity]
        }
        if !plaintext { configuration.tls = try makeTLS(loaded) }
        return (configuration, created)
    }

    private func window(_ text: String, _ flag: String, from least: Int) throws -> UInt32 {
        let value: Int
        do throws(Units.ParseError) { value = try Units.bytes(text) } catch {
            throw Misuse(description: "\(flag): \(error)")
        }
        guard (least...2_147_483_647).contains(value) else {
            throw Misuse(description: "\(flag) \(text): expected \(least) to 2147483647 bytes")
        }
        return UInt32(value)
    }

    private func makeTLS(_ loaded: Credentials?) throws -> TLSOptions {
        var options = TLSOptions()
        guard let oldest = TLSVersion(rawValue: tlsMin), let newest = TLSVersion(rawValue: tlsMax), tlsMin <= tlsMax
        else {
            throw Misuse(description: "--tls-min \(tlsMin) --tls-max \(tlsMax): expected 1.2 or 1.3, the oldest first")
        }
        options.minimumVersion = oldest
        options.maximumVersion = newest
        options.releaseIdleBuffers = true
        if let cert {
            guard let certKey else { throw Misuse(description: "--cert needs --cert-key") }
            options.identity = TLSIdentity(
                certificate: try Credentials.read(cert), key: try Credentials.read(certKey), certificateOrigin: cert,
                keyOrigin: certKey)
        } else {
            let source = try loaded ?? Credentials.ephemeral()
            guard let server = source.server else {
                throw Misuse(description: "\(credentials ?? ""): server.pem and server.key are missing")
            }
            let folder = credentials ?? "(made for this run)"
            options.identity = TLSIdentity(
                certificate: server.certificate, key: server.key, certificateOrigin: folder + "/server.pem",
                keyOrigin: folder + "/server.key")
        }
        if let clientCA {
            options.trustedCertificates = try Credentials.read(clientCA)
            options.trustedOrigin = clientCA
        }
        return options
    }

    // MARK: Output

    private func announce(_ server: MockServer, _ configuration: MockConfiguration, _ created: [String]) {
        if json {
            Output.line("{\"event\":\"listening\",\"port\":\(server.port),\"url\":\"\(server.url)\"}")
            return
        }
        Output.line("mock-apns listening on \(server.url)")
        for name in created { Output.line("made \(credentials ?? "")/\(name)") }
        if configuration.identities.isEmpty {
            Output.line("no provider key given: provider tokens are not checked (give --credentials or --key)")
        }
    }

    private func report(_ server: MockServer) {
        let report = MockReport(server)
        Output.line(json ? report.json : report.text)
    }
}

/// A flag or file that cannot be used: one line.
private struct Misuse: Error, CustomStringConvertible {
    let description: String
}

/// Whole lines, at once.
enum Output {
    static func line(_ text: String) {
        FileHandle.standardOutput.write(Data((text + "\n").utf8))
    }

    static func error(_ text: String) {
        FileHandle.standardError.write(Data((text + "\n").utf8))
    }
}
