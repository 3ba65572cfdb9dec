import Foundation
import HTTP2
import Logging
import Networking
import Payloads
import PlainHTTP

@testable import Devices
@testable import MockAPNs
@testable import Scenarios
@testable import Signing

/// What is fuzzed, each with its corpus folder of the same name.
enum FuzzTarget: String, CaseIterable {
    /// Header values and a payload through the checks.
    case checks
    /// A payload through the JSON walk, held against Foundation where both must agree.
    case json
    /// A provider token; and the claims of one that is signed, through the checks of its age.
    case token
    /// A fault file.
    case faults
    /// A scenario file, and the schedule it asks for.
    case scenario
    /// Raw bytes of a client's connection, after the preface.
    case connection
    /// Records of TLS 1.3, after the handshake.
    case records
    /// What a server says to engine wire.
    case client
    /// A request to the admin listener, read; and answered.
    case admin, pages
    /// The body of a request that makes a broadcast channel, and of a broadcast.
    case channels
    /// A file of devices, of a device model, of a provider key, and of several.
    case devices, model, keys, keyfile

    nonisolated(unsafe) static var chosen = FuzzTarget.checks

    func run(_ bytes: UnsafeBufferPointer<UInt8>) {
        switch self {
        case .checks: Self.checks(bytes)
        case .json: Self.json(bytes)
        case .token: Self.token(bytes)
        case .faults: _ = try? FaultFile.parse(String(decoding: bytes, as: UTF8.self), file: "f")
        case .scenario: Self.scenario(String(decoding: bytes, as: UTF8.self))
        case .connection: Self.connection(bytes)
        case .records: RecordsFuzz.run(bytes)
        case .client: ClientFuzz.run(bytes)
        case .admin: _ = PlainRequest.parse(Array(bytes))
        case .pages: PageFuzz.run(bytes)
        case .channels: ChannelFuzz.run(bytes)
        case .devices: _ = try? DeviceRegister(parsing: Data(bytes), file: "d")
        case .model: _ = try? DeviceModelFile.parse(String(decoding: bytes, as: UTF8.self), file: "m")
        case .keys: Self.keys(Array(bytes))
        case .keyfile: Self.keyFile(Data(bytes))
        }
    }

    private static let identity = try! ProviderIdentity(
        key: .ephemeral(), keyID: "ABC123DEFG", teamID: "TEAM567890")
    nonisolated(unsafe) private static let writer = try! TokenWriter(identity)
    nonisolated(unsafe) private static let rules = RequestChecks(
        topics: nil, directory: DeviceDirectory(.everybody, startedAt: 0, startTime: 0),
        tokens: TokenCache([ProviderAccount(identity)], updates: TokenUpdates(.connection)))
    nonisolated(unsafe) private static let open = RequestChecks(
        topics: ["com.example.app"], directory: DeviceDirectory(.everybody, startedAt: 0, startTime: 0),
        tokens: TokenCache([], updates: TokenUpdates(.off)))

    /// Lines are header values in the order of `KnownHeader`, what follows is the payload.
    private static func checks(_ bytes: UnsafeBufferPointer<UInt8>) {
        for checks in [rules, open] {
            let state = RequestState()
            var rest = bytes[...]
            for number in 0..<KnownHeader.count {
                guard let end = rest.firstIndex(of: 0x0A) else { break }
                let value = Array(rest[rest.startIndex..<end])
                rest = rest[(end + 1)...]
                if let header = KnownHeader(rawValue: number), !value.isEmpty {
                    value.withUnsafeBufferPointer { state.set(header, $0.baseAddress!, $0.count) }
                }
            }
            // In two pieces, as DATA frames come.
            let middle = rest.startIndex + rest.count / 2
            let pieces = [Array(rest[rest.startIndex..<middle]), Array(rest[middle...])]
            for piece in pieces where !piece.isEmpty {
                piece.withUnsafeBufferPointer { _ = state.append($0.baseAddress!, $0.count) }
                state.keepBorrowed()
            }
            var client = RequestChecks.Client()
            _ = checks.judge(state, client: &client, unixTime: 1_700_000_000, now: 0)
            let channels = ChannelRequests(checks: checks, channels: ChannelDirectory(limit: 2, enabled: nil))
            _ = channels.manage(state, client: &client, unixTime: 1_700_000_000)
            _ = channels.broadcast(state, client: &client, unixTime: 1_700_000_000, milliseconds: 0) { _ in }
        }
    }

    nonisolated(unsafe) private static let scratch = JSONScratch(capacity: 8192)

    private static func json(_ bytes: UnsafeBufferPointer<UInt8>) {
        let raw = UnsafeRawBufferPointer(bytes)
        let walk = JSONWalk.over(raw)
        precondition((walk == nil) == (bytes.isEmpty || JSONWalk.failure(raw) != nil))
        if let trace = walk?.trace { _ = TraceTag.parse(trace) }
        // Like those before it, or like itself: the same is found.
        for _ in 0..<2 {
            let again = JSONWalk.over(raw, in: scratch)
            precondition((again == nil) == (walk == nil))
            guard let walk, let again else { continue }
            precondition(again.hasAPS == walk.hasAPS && again.hasMDM == walk.hasMDM)
            precondition(again.trace?.baseAddress == walk.trace?.baseAddress && again.trace?.count == walk.trace?.count)
        }
        // What the walk takes for JSON, Foundation must be able to read; it refuses lone surrogates, and numbers that are too
        // large for it.
        let hasLargeNumber = bytes.contains { $0 | 0x20 == 0x65 } || bytes.count { (48...57).contains($0) } > 15
        if walk != nil, !hasLargeNumber, !bytes.contains(0x5C), !bytes.contains(0) {
            precondition((try? JSONSerialization.jsonObject(with: Data(bytes))) is [String: Any])
        }
    }

    private static func token(_ bytes: UnsafeBufferPointer<UInt8>) {
        let verifier = TokenVerifier([identity])
        let verdict = verifier.verify(UnsafeRawBufferPointer(bytes))
        // Nobody can sign with a key that was made when this process began.
        if case .valid = verdict { preconditionFailure("forged") }
        // Whatever time of issue it says, one that is accepted was issued within an hour of now.
        let number = String(decoding: bytes.prefix(200), as: UTF8.self)
        let claims = "{\"iss\":\"TEAM567890\",\"iat\":\(number)}"
        guard let jwt = try? writer.write(header: "{\"alg\":\"ES256\",\"kid\":\"ABC123DEFG\"}", claims: claims) else {
            return
        }
        let state = RequestState()
        for (header, value) in [
            (KnownHeader.method, Array("POST".utf8)),
            (.path, Array("/3/device/\(String(repeating: "ab", count: 32))".utf8)),
            (.authorization, Array("bearer ".utf8) + jwt), (.topic, Array("com.example.app".utf8)),
        ] { value.withUnsafeBufferPointer { state.set(header, $0.baseAddress!, $0.count) } }
        var client = RequestChecks.Client()
        let now: Int64 = 1_700_000_000
        let answer = rules.judge(state, client: &client, unixTime: now, now: 0)
        if case .rejected(let answer) = answer, answer.reason == .payloadEmpty {
            precondition((now - 3600...now + 3600).contains(client.tokenIssuedAt), "issued at \(client.tokenIssuedAt)")
        }
    }

    /// A key that can be read can sign, or check what is signed.
    private static func keys(_ bytes: [UInt8]) {
        if let key = try? ProviderKey(pem: bytes, origin: "k") {
            let identity = try! ProviderIdentity(key: key, keyID: "ABC123DEFG", teamID: "TEAM567890")
            precondition((try? TokenSigner.bearer(identity, unixTime: 1_700_000_000)) != nil)
        }
        _ = try? ProviderKey.publicKey(pem: bytes, origin: "k")
    }

    private static let keyFilePath = NSTemporaryDirectory() + "fuzz-keys-\(getpid()).yaml"

    private static func keyFile(_ bytes: Data) {
        guard (try? bytes.write(to: URL(fileURLWithPath: keyFilePath))) != nil else { return }
        _ = try? KeyFile(keyFilePath)
        unlink(keyFilePath)
    }

    private static func scenario(_ text: String) {
        var scenario = Scenario()
        guard (try? ScenarioFile.apply(text, file: "s", folder: "/nonexistent", depth: 0, to: &scenario)) != nil,
            scenario.validate().isEmpty, let schedule = try? scenario.makeSchedule()
        else { return }
        // What can be run has due times that never fall, within its length.
        var cursor = schedule.cursor()
        var last: UInt64 = 0
        for index in 0..<min(schedule.count, 1000) {
            let due = cursor.due(index)
            precondition(due >= last && due <= schedule.duration + 1000)
            last = due
        }
    }

    // MARK: A connection

    private static let server: MockServer = {
        var configuration = MockConfiguration()
        configuration.maxConcurrentStreams = 50
        configuration.adminPort = 0
        return try! MockServer(configuration, logger: Logger(label: "fuzz") { _ in SwiftLogNoOpLogHandler() })
    }()

    /// Sends the bytes, ends its side, and waits for the server to end the connection: if it never does, that is a failure.
    private static func connection(_ bytes: UnsafeBufferPointer<UInt8>) {
        // A socket pair, because TCP would run out of ports.
        var ends: [Int32] = [0, 0]
        precondition(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends) == 0)
        let descriptor = ends[0]
        defer { close(descriptor) }
        _ = fcntl(ends[1], F_SETFL, O_NONBLOCK)
        server.adopt(ends[1])
        var patience = timeval(tv_sec: 20, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
        let all = Frame.preface + [0, 0, 0, 4, 0, 0, 0, 0, 0] + Array(bytes)
        var offset = 0
        while offset < all.count {
            let count = all.withUnsafeBytes {
                send(descriptor, $0.baseAddress! + offset, $0.count - offset, Int32(MSG_NOSIGNAL))
            }
            if count <= 0 { break }
            offset += count
        }
        shutdown(descriptor, Int32(SHUT_WR))
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = recv(descriptor, &buffer, buffer.count, 0)
            // libFuzzer's own alarm interrupts.
            if count > 0 || (count < 0 && errno == EINTR) { continue }
            precondition(count == 0 || errno == ECONNRESET, "the server does not end the connection")
            break
        }
    }
}
