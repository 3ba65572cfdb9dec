import Foundation
import Testing

/// Hosts of their own on this machine: a network namespace each, joined by a bridge in one more. Nothing of it is reachable from
/// outside, nor reaches it. Needs root, and iproute2. Removed with this object; what a killed test left, by the next one.
final class HostNetwork {
    private static let ip = ["/usr/sbin/ip", "/sbin/ip", "/usr/bin/ip"].first {
        FileManager.default.isExecutableFile(atPath: $0)
    }
    private static let prefix = "pushload-test-"

    /// Why there can be none here; nil: there can.
    static let obstacle: String? = {
        guard geteuid() == 0 else { return "network namespaces need root" }
        guard ip != nil else { return "network namespaces need iproute2: run make test-deps first" }
        let name = "\(prefix)\(getpid())-try"
        do { try command(["netns", "add", name]) } catch { return "no network namespaces here: \(error)" }
        _ = try? command(["netns", "del", name])
        return nil
    }()

    let count: Int

    init(hosts: Int) throws {
        count = hosts
        try Self.removeLeftovers()
        let bridge = Self.name("bridge")
        do {
            try Self.command(["netns", "add", bridge])
            try Self.command(["-n", bridge, "link", "add", "br0", "type", "bridge"])
            try Self.command(["-n", bridge, "link", "set", "br0", "up"])
            for host in 1...hosts {
                let name = Self.name("\(host)")
                try Self.command(["netns", "add", name])
                try Self.command(["-n", bridge] + "link add port\(host) type veth peer name eth0 netns".words + [name])
                try Self.command(["-n", bridge, "link", "set", "port\(host)", "master", "br0", "up"])
                try Self.command(["-n", name, "addr", "add", address(host) + "/24", "dev", "eth0"])
                try Self.command(["-n", name, "link", "set", "eth0", "up"])
                try Self.command(["-n", name, "link", "set", "lo", "up"])
            }
        } catch {
            remove()
            throw error
        }
    }

    deinit { remove() }

    /// Of the hosts 1 ... `count`.
    func address(_ host: Int) -> String { "10.99.0.\(host)" }

    /// What starts a program on a host, under that host's name.
    func launcher(_ host: Int) -> [String] {
        let rename = "hostname host\(host) && exec \"$@\""
        return [Self.ip ?? "ip", "netns", "exec", Self.name("\(host)"), "unshare", "--uts", "sh", "-c", rename, "sh"]
    }

    private func remove() {
        for name in (1...count).map(String.init) + ["bridge"] {
            _ = try? Self.command(["netns", "del", Self.name(name)])
        }
    }

    private static func name(_ part: String) -> String { "\(prefix)\(getpid())-\(part)" }

    private static func removeLeftovers() throws {
        for line in try command(["netns", "list"]).split(separator: "\n") {
            let name = line.prefix { $0 != " " }
            guard name.hasPrefix(prefix), let owner = Int32(name.dropFirst(prefix.count).prefix { $0 != "-" }),
                kill(owner, 0) != 0
            else { continue }
            try command(["netns", "del", String(name)])
        }
    }

    /// - Returns: what it printed.
    @discardableResult
    private static func command(_ arguments: [String]) throws -> String {
        let finished = try Programs.run(ip ?? "", arguments)
        guard finished.status == 0 else {
            throw Running.Failure(description: "ip \(arguments.joined(separator: " ")): \(finished.error)")
        }
        return finished.output
    }
}

extension String {
    fileprivate var words: [String] { split(separator: " ").map(String.init) }
}
