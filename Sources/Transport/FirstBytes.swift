import HTTP2

/// The first bytes of a server, until they are known to be HTTP/2: its SETTINGS must come first (RFC 9113 section 3.4), and whatever
/// else speaks there says who it is. Kept: `most` bytes.
struct FirstBytes {
    enum Verdict: Equatable {
        /// HTTP/2 so far, or wrong in a way that the session judges.
        case http2
        /// More must come first. The session must not see the bytes.
        case undecided
        /// Something else speaks there: what, and what to do, one line.
        case other(String)
        /// The server refuses the connection: GOAWAY is its first frame.
        case refused(GoAway, String)
    }

    private var bytes: [UInt8] = []
    private var isOver = false
    private static let most = 1024
    private static let longestLine = 80
    /// The largest payload of a frame that the session takes, bytes.
    private let maxFrame: Int
    /// The connection is without TLS.
    private let isPlain: Bool

    init(maxFrame: Int, isPlain: Bool) {
        self.maxFrame = maxFrame
        self.isPlain = isPlain
    }

    /// Judges by these bytes and those before.
    mutating func judge(_ more: UnsafeBufferPointer<UInt8>) -> Verdict {
        if isOver { return .http2 }
        bytes += more.prefix(Self.most - bytes.count)
        let verdict = verdict(isEnd: false)
        // A session waits by itself for the rest of a frame's header.
        if verdict == .http2, bytes.count >= Frame.headerLength { end() }
        return verdict
    }

    /// Judges when nothing more comes.
    mutating func judgeEnd() -> Verdict { isOver || bytes.isEmpty ? .http2 : verdict(isEnd: true) }

    /// They are of no more use.
    mutating func end() {
        isOver = true
        bytes = []
    }

    private func verdict(isEnd: Bool) -> Verdict {
        if isPlain, bytes.starts(with: [0x15, 0x03]) { return .other(Self.speaksTLS) }
        guard bytes.count >= Frame.headerLength || isEnd || bytes.contains(0x0A) else { return .http2 }
        if bytes.prefix(Frame.headerLength).allSatisfy(Self.isText) { return .other(text) }
        guard bytes.count >= Frame.headerLength else { return .http2 }
        let length = Int(bytes[0]) << 16 | Int(bytes[1]) << 8 | Int(bytes[2])
        if bytes[3] == Frame.goAway, bytes[5...8].allSatisfy({ $0 == 0 }), (8...maxFrame).contains(length) {
            return goAway(length, isEnd)
        }
        return length <= maxFrame ? .http2 : .other(Self.noHTTP2(Self.hexadecimal(bytes)))
    }

    private func goAway(_ length: Int, _ isEnd: Bool) -> Verdict {
        let start = Frame.headerLength + 8
        let needed = Frame.headerLength + min(length, 8 + GoAway.longestDebugData)
        guard bytes.count >= needed || isEnd && bytes.count >= start else { return isEnd ? .http2 : .undecided }
        let code = bytes[(start - 4)..<start].reduce(0) { $0 << 8 | UInt32($1) }
        let debugData = bytes[start..<min(bytes.count, needed)]
        let goAway = GoAway(code: ErrorCode(rawValue: code), debugData: debugData)
        return .refused(goAway, Self.refusal(goAway, debugData))
    }

    // MARK: Words

    static let speaksTLS = "the target speaks TLS: use https://"

    /// A GOAWAY before anything was sent, one line.
    static func refusal(_ goAway: GoAway, _ debugData: some Sequence<UInt8>) -> String {
        let said = GoAway.text(of: debugData, longest: longestLine)
        return "the server refused the connection: GOAWAY \(goAway.code)" + (said.isEmpty ? "" : " \"\(said)\"")
    }

    private static func isText(_ byte: UInt8) -> Bool {
        ReasonText.isPrintable(byte) || (0x09...0x0D).contains(byte)
    }

    /// What web servers say at their TLS port to who comes without: nginx, Go and what is made of it, Apache.
    private static let wantsTLS = ["HTTPS port", "HTTPS server", "SSL-enabled"]

    private var text: String {
        let said = String(decoding: bytes, as: UTF8.self)
        let line = said.split(whereSeparator: \.isNewline).first { !$0.allSatisfy(\.isWhitespace) } ?? ""
        let shown = String(
            decoding: line.utf8.prefix(Self.longestLine).map { ReasonText.isPrintable($0) ? $0 : 0x3F }, as: UTF8.self)
        if isPlain, Self.wantsTLS.contains(where: said.contains) {
            return "\(Self.speaksTLS) (it answered \"\(shown)\")"
        }
        return shown.hasPrefix("HTTP/1.") || shown.lowercased().hasPrefix("<!doctype html")
            || shown.lowercased().hasPrefix("<html")
            ? "the server speaks HTTP/1, not HTTP/2: it answered \"\(shown)\"; \(howToTurnOnHTTP2)"
            : Self.noHTTP2("\"\(shown)\"")
    }

    private static func noHTTP2(_ said: String) -> String {
        "the server speaks no HTTP/2: it answered \(said); check the target's port"
    }

    private var howToTurnOnHTTP2: String {
        isPlain ? "turn h2c on there, or use its https:// port" : "turn HTTP/2 on there"
    }

    private static func hexadecimal(_ bytes: [UInt8]) -> String {
        bytes.prefix(16).map {
            let digits = String($0, radix: 16, uppercase: true)
            return digits.count < 2 ? "0" + digits : digits
        }.joined(separator: " ")
    }
}
