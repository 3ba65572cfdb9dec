/// `https://host[:port]` or `http://host[:port]` (plaintext HTTP/2 with prior knowledge), whatever the case (RFC 3986 section
/// 6.2.2.1).
package struct TargetURL: Sendable, Equatable {
    let isSecure: Bool
    package let host: String
    package let port: UInt16

    /// - Parameter name: of the setting, for messages.
    init(_ text: String, as name: String = "target") throws(HarnessError) {
        let wrong = HarnessError(
            "\(name) \"\(text)\": expected https://host:port, or http://host:port for plaintext HTTP/2")
        let lower = text.lowercased()
        var rest: Substring
        if lower.hasPrefix("https://") {
            isSecure = true
            rest = lower.dropFirst(8)
        } else if lower.hasPrefix("http://") {
            isSecure = false
            rest = lower.dropFirst(7)
        } else {
            throw wrong
        }
        if rest.hasSuffix("/") { rest.removeLast() }
        guard !rest.isEmpty, !rest.contains("/"), !rest.contains("@") else { throw wrong }
        if rest.hasPrefix("[") {
            guard let end = rest.firstIndex(of: "]") else { throw wrong }
            host = String(rest[rest.index(after: rest.startIndex)..<end])
            rest = rest[rest.index(after: end)...]
        } else {
            let end = rest.firstIndex(of: ":") ?? rest.endIndex
            host = String(rest[..<end])
            rest = rest[end...]
        }
        guard !host.isEmpty else { throw wrong }
        if rest.isEmpty {
            port = isSecure ? 443 : 80
        } else {
            guard rest.hasPrefix(":"), rest.count > 1, rest.dropFirst().allSatisfy(\.isNumber) else { throw wrong }
            guard let number = UInt16(rest.dropFirst()), number > 0 else {
                throw HarnessError("\(name) \"\(text)\": port \(rest.dropFirst()): expected 1 to 65535")
            }
            port = number
        }
    }

    /// `:authority`: the port only when it is not the scheme's own.
    var authority: String {
        let name = host.contains(":") ? "[\(host)]" : host
        return port == (isSecure ? 443 : 80) ? name : "\(name):\(port)"
    }
}
