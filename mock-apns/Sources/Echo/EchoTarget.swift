import Foundation
import Networking

/// The backend that devices ask: its URL, the addresses that it was found to have, and the credentials of its devices.
package struct EchoTarget: Sendable {
    package let isSecure: Bool
    /// In lower case; an IPv6 address without brackets.
    package let host: String
    package let port: UInt16
    /// Of every path, without `/` at its end.
    let prefix: String
    /// Of HTTP Basic: `name:password`.
    let credentials: String
    /// Those that may be connected to, at least one.
    let addresses: [SocketAddress]

    /// `http://127.0.0.1:8080`: scheme, host and port.
    var origin: String { "\(isSecure ? "https" : "http")://\(host.contains(":") ? "[\(host)]" : host):\(port)" }
    /// The same with the prefix; no credentials.
    package var url: String { origin + prefix }

    /// - Parameters:
    ///   - text: `http://[name:password@]host[:port][/prefix]`, or `https://…`; without credentials the devices' are `device:device`.
    ///   - allowed: hosts, besides this machine, that somebody has said may be loaded.
    /// - Throws: one line: no such URL, a host without an address, Apple's, or one that nobody has allowed.
    package init(_ text: String, allowed: [String] = []) throws(EchoError) {
        let wrong = EchoError(
            "--device-backend \"\(Self.shown(text))\": expected http://host:port or https://host:port, with name:password@ and a path as wanted"
        )
        let scheme = text.prefix { $0 != ":" }.lowercased()
        guard scheme == "http" || scheme == "https", text.dropFirst(scheme.count).hasPrefix("://"),
            text.utf8.allSatisfy({ (0x21...0x7E).contains($0) })
        else { throw wrong }
        isSecure = scheme == "https"
        let rest = text.dropFirst(scheme.count + 3)
        guard !rest.contains("?"), !rest.contains("#") else { throw wrong }
        let pathStart = rest.firstIndex(of: "/") ?? rest.endIndex
        var path = String(rest[pathStart...])
        while path.hasSuffix("/") { path.removeLast() }
        prefix = path
        var authority = rest[..<pathStart]
        var credentials = "device:device"
        if let at = authority.lastIndex(of: "@") {
            let parts = authority[..<at].split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
                .map { String($0).removingPercentEncoding }
            guard let name = parts[0], !name.isEmpty, !name.contains(":"), parts.count == 1 || parts[1] != nil else {
                throw wrong
            }
            credentials = name + ":" + (parts.count == 2 ? parts[1] ?? "" : "")
            authority = authority[authority.index(after: at)...]
        }
        self.credentials = credentials
        let end: Substring.Index
        if authority.hasPrefix("[") {
            guard let bracket = authority.firstIndex(of: "]") else { throw wrong }
            host = authority[authority.index(after: authority.startIndex)..<bracket].lowercased()
            end = authority.index(after: bracket)
        } else {
            end = authority.firstIndex(of: ":") ?? authority.endIndex
            host = authority[..<end].lowercased()
        }
        guard !host.isEmpty else { throw wrong }
        if end == authority.endIndex {
            port = isSecure ? 443 : 80
        } else {
            let digits = authority[end...].dropFirst()
            guard authority[end] == ":", digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }),
                let number = UInt16(digits), number > 0
            else { throw wrong }
            port = number
        }
        do throws(NetworkError) { addresses = try SocketAddress.all(host: host, port: port) } catch {
            throw EchoError("--device-backend: \(error.description)")
        }
        try check(allowed)
    }

    /// The mock sends real load there, as `pushload` does to its target.
    private func check(_ allowed: [String]) throws(EchoError) {
        let name = Self.plain(host)
        guard name != "apple.com", !name.hasSuffix(".apple.com"), !addresses.contains(where: \.isApple) else {
            throw EchoError("--device-backend \(url): that is Apple's, whose servers are not for load tests")
        }
        guard !addresses.allSatisfy(\.isThisMachine), !allowed.contains(where: { Self.plain($0) == name }) else {
            return
        }
        throw EchoError(
            "--device-backend \(url): \(name) is not this machine; if it is yours to load, say so: --allow-device-backend \(name)"
        )
    }

    private static func plain(_ host: String) -> String {
        let name = host.lowercased().trimmingCharacters(in: ["[", "]"])
        return name.hasSuffix(".") ? String(name.dropLast()) : name
    }

    /// Without what may be a password.
    private static func shown(_ text: String) -> String {
        text.lastIndex(of: "@").map { "…" + text[$0...].prefix(200) } ?? String(text.prefix(200))
    }
}
