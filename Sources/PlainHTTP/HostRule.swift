import Glibc

/// By which names a listener for people and programs nearby may be asked.
///
/// A web page that somebody looks at can send requests to 127.0.0.1: by a form or a script of its own, which `Origin` tells, or
/// by a public name whose address its owner has changed to 127.0.0.1 (DNS rebinding), which only `Host` tells. No such name is
/// among those that are taken: public names have a dot and another end.
public struct HostRule: Sendable {
    private let names: Set<String>
    private let hint: String
    /// Ends of names that are never public (RFC 6761, RFC 6762, ICANN's `internal`; `svc` is Kubernetes').
    private static let privateEnds = [".localhost", ".localdomain", ".local", ".internal", ".svc"]

    /// - Parameters:
    ///   - names: taken too, without a port.
    ///   - flag: what to say so with, for the message.
    public init(names: [String] = [], flag: String? = nil) {
        self.names = Set(names.map { $0.lowercased() })
        hint = flag.map { ", or one said with \($0)" } ?? ""
    }

    /// What is wrong with where a request comes from; nil when nothing is. Only a browser is sure to say either.
    func refusal(_ request: PlainRequest) -> PlainResponse? {
        if let host = request.host, !takes(host) {
            return .text(
                "Host \"\(host.prefix(80))\": expected an IP address, localhost, a name without a dot, one that ends in "
                    + Self.privateEnds.joined(separator: ", ") + hint,
                status: 403)
        }
        if let origin = request.origin {
            let host = (request.host ?? "").lowercased()
            guard ["http://" + host, "https://" + host].contains(origin.lowercased()) else {
                return .text("Origin \"\(origin.prefix(80))\": not for web pages of other servers", status: 403)
            }
        }
        return nil
    }

    /// Nothing, or a colon and digits.
    private static func isPort(_ text: Substring) -> Bool {
        text.isEmpty || text.first == ":" && text.dropFirst().utf8.allSatisfy { (0x30...0x39).contains($0) }
    }

    private func takes(_ host: String) -> Bool {
        var name = host.lowercased()
        if name.hasPrefix("[") {
            guard let end = name.firstIndex(of: "]") else { return false }
            var address = in6_addr()
            guard Self.isPort(name[name.index(after: end)...]) else { return false }
            return inet_pton(AF_INET6, String(name[name.index(after: name.startIndex)..<end]), &address) == 1
        }
        if let colon = name.firstIndex(of: ":") {
            guard Self.isPort(name[colon...]) else { return false }
            name = String(name[..<colon])
        }
        if name.hasSuffix(".") { name.removeLast() }
        guard !name.isEmpty else { return false }
        var address = in_addr()
        return !name.contains(".") || names.contains(name) || Self.privateEnds.contains { name.hasSuffix($0) }
            || inet_pton(AF_INET, name, &address) == 1
    }
}
