import Foundation
import Networking
import Settings

/// Judges one push from a file, without a network: what APNs would answer, and why.
///
/// The file is the request as HTTP/1 would write it: `POST /3/device/<token>`, header lines, an empty line, the payload. A
/// file that begins as JSON does (`{`, `[` or `"`), or has nothing in it, is a payload alone; everything else about it is then
/// taken to be right.
public struct OfflineCheck {
    public struct Outcome: Sendable, Equatable {
        public let status: Int
        /// nil when the push would be accepted.
        public let reason: String?
        /// What the reason means, and the place in the file if one can be named.
        public let explanation: [String]
        /// What no server refuses, but no device does anything with.
        public var warnings: [String] = []
        public let payloadBytes: Int
        public let payloadLimit: Int
    }

    private let checks: RequestChecks
    private let environment: PushEnvironment
    private static let anyPath = "\(RequestChecks.devicePath)" + String(repeating: "0", count: 64)

    /// - Parameter accounts: keys the `authorization` header is checked against; none: all but who signed it is checked.
    public init(
        accounts: [ProviderAccount], topics: Set<String>?, environment: PushEnvironment,
        rules: RequestRules = RequestRules()
    ) {
        self.environment = environment
        checks = RequestChecks(
            topics: topics, directory: DeviceDirectory(.everybody, startedAt: 0, startTime: 0),
            tokens: TokenCache(accounts, updates: TokenUpdates(.off), takesAnyKey: accounts.isEmpty), rules: rules)
    }

    /// - Throws: `file:line: …` when the file is not of this form.
    public func judge(_ bytes: [UInt8], file: String) throws(SettingsError) -> Outcome {
        let state = RequestState()
        var lines: [String: Int] = [:]
        let payload: [UInt8]
        let text = bytes.starts(with: Self.byteOrderMark) ? bytes.dropFirst(Self.byteOrderMark.count) : bytes[...]
        let first = text.first { !Self.isBlank($0) }
        if first == nil || [0x7B, 0x5B, 0x22].contains(first) {
            set(.method, "POST", state)
            set(.path, Self.anyPath, state)
            set(.topic, checks.topics?.first ?? "com.example.app", state)
            payload = bytes
        } else {
            payload = try readHead(Array(text), file, state, &lines)
        }
        if !payload.isEmpty { payload.withUnsafeBufferPointer { _ = state.append($0.baseAddress!, $0.count) } }
        state.keepBorrowed()
        var client = RequestChecks.Client(environment: environment)
        let now = MonotonicClock.unixSeconds()
        let limit = { state.pushType.payloadLimit }
        switch checks.judge(state, client: &client, unixTime: now, now: 0) {
        case .accepted:
            return Outcome(
                status: 200, reason: nil, explanation: lines.isEmpty ? [] : openQuestions(state),
                warnings: Self.warnings(state), payloadBytes: payload.count, payloadLimit: limit())
        case .rejected(let answer):
            let reason = answer.reason ?? .internalServerError
            let problem = reason == .payloadEmpty ? Self.problem(payload) : nil
            var explanation = [problem ?? checks.cause(of: reason, state, unixTime: now) ?? reason.meaning]
            if let header = Self.header(of: reason), let line = lines[header] {
                explanation.append("\(file):\(line): \(header)")
            }
            return Outcome(
                status: reason.status, reason: reason.name, explanation: explanation, payloadBytes: payload.count,
                payloadLimit: limit())
        }
    }

    /// What an accepted request's file cannot tell of its sender.
    private func openQuestions(_ state: RequestState) -> [String] {
        guard checks.tokens.takesAnyKey else { return [] }
        return [
            state.has(.authorization)
                ? "the provider token's key, team and signature are not checked: give --credentials or --keys"
                : "no authorization header: on a connection without a client certificate it is 403 MissingProviderToken"
        ]
    }

    /// What an accepted push lacks to have its effect.
    private static func warnings(_ state: RequestState) -> [String] {
        guard state.pushType == .liveactivity, let start = LiveActivityStart(state.body), !start.missing.isEmpty else {
            return []
        }
        let names = start.missing.map { "\"\($0)\"" }.joined(separator: ", ")
        return ["no device starts a Live Activity for it: \"aps\" has no \(names)"]
    }

    /// U+FEFF in UTF-8.
    private static let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]

    private static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 }

    /// Why a payload is no JSON object; nil: it is one, or empty. Bytes, lines and columns (in bytes) count from 1.
    private static func problem(_ payload: [UInt8]) -> String? {
        guard let start = payload.firstIndex(where: { !isBlank($0) }) else {
            return payload.isEmpty ? nil : "the payload is nothing but white space"
        }
        if payload.starts(with: byteOrderMark) {
            return
                "the payload begins with a byte order mark (bytes EF BB BF), which no JSON text may have (RFC 8259 section 8.1)"
        }
        guard let place = payload.withUnsafeBytes(JSONWalk.failure) else { return nil }
        if place == start {
            let byte = payload[start]
            let character =
                (0x21...0x7E).contains(byte) ? String(UnicodeScalar(byte)) : "byte \(String(byte, radix: 16))"
            return "the payload is no JSON object, which begins with {: it begins with \(character)"
        }
        guard place < payload.count else {
            return "the JSON ends with byte \(payload.count) of the payload, before its object does"
        }
        let before = payload[..<place]
        let line = before.count { $0 == 0x0A } + 1
        let column = place - (before.lastIndex(of: 0x0A) ?? -1)
        return "the JSON is wrong at byte \(place + 1) of the payload (its line \(line), column \(column))"
    }

    private func set(_ header: KnownHeader, _ value: String, _ state: RequestState) {
        let bytes = Array(value.utf8)
        bytes.withUnsafeBufferPointer {
            state.set(header, $0.baseAddress ?? UnsafePointer(bitPattern: 1)!, bytes.count)
        }
    }

    /// - Returns: the payload.
    private func readHead(
        _ bytes: [UInt8], _ file: String, _ state: RequestState, _ lines: inout [String: Int]
    ) throws(SettingsError) -> [UInt8] {
        var position = 0
        var number = 0
        while position < bytes.count {
            let end = bytes[position...].firstIndex(of: 0x0A) ?? bytes.count
            var content = bytes[position..<end]
            if content.last == 0x0D { content = content.dropLast() }
            let line = String(decoding: content, as: UTF8.self)
            position = min(end + 1, bytes.count)
            number += 1
            if line.isEmpty { break }
            if number == 1, !line.contains(":") || line.contains(" /") {
                let words = line.split(separator: " ")
                guard words.count >= 2 else {
                    throw SettingsError("\(file):1: expected a request line such as POST /3/device/<token>")
                }
                set(.method, String(words[0]), state)
                set(.path, String(words[1]), state)
                lines[":method"] = 1
                lines[":path"] = 1
                continue
            }
            guard let colon = line.dropFirst().firstIndex(of: ":") else {
                throw SettingsError(
                    "\(file):\(number): expected a header such as apns-topic: com.example.app" + Self.payloadHint(line))
            }
            let name = line[..<colon].lowercased()
            // RFC 9110 section 5.1; those of HTTP/2's own begin with a colon.
            guard name.drop(while: { $0 == ":" }).utf8.allSatisfy(FaultFile.isNameByte) else {
                throw SettingsError("\(file):\(number): not a header's name" + Self.payloadHint(line))
            }
            let value = line[line.index(after: colon)...].trimmingCharacters(in: .whitespaces)
            guard value.utf8.count + 1024 < RequestState.headerCapacity else {
                throw SettingsError("\(file):\(number): the header is longer than the server takes")
            }
            let found = Array(name.utf8).withUnsafeBufferPointer {
                $0.isEmpty ? nil : KnownHeader.named($0.baseAddress!, $0.count)
            }
            if let found { set(found, value, state) }
            lines[name] = number
        }
        if !state.has(.method) { set(.method, "POST", state) }
        if !state.has(.path) { set(.path, Self.anyPath, state) }
        return Array(bytes[position...])
    }

    /// What is said of a line that is no header and begins as a payload does.
    private static func payloadHint(_ line: String) -> String {
        let first = line.utf8.first { !isBlank($0) }
        return [0x7B, 0x5B, 0x22].contains(first) ? "; is the empty line before the payload missing?" : ""
    }

    /// The header a reason is about.
    private static func header(of reason: Reason) -> String? {
        switch reason {
        case .badCollapseId: "apns-collapse-id"
        case .badDeviceToken, .badPath, .missingDeviceToken: ":path"
        case .badExpirationDate: "apns-expiration"
        case .badMessageId: "apns-id"
        case .badPriority: "apns-priority"
        case .badTopic, .topicDisallowed: "apns-topic"
        case .methodNotAllowed: ":method"
        case .invalidPushType: "apns-push-type"
        case .expiredProviderToken, .invalidProviderToken, .badEnvironmentKeyIdInToken, .badEnvironmentKeyInToken:
            "authorization"
        default: nil
        }
    }
}
