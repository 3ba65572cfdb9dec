import Foundation
import Networking

/// The hosts that may be sent to: this machine, and those that somebody has said are theirs. Apple's never are.
package struct AllowedTargets: Sendable {
    private let hosts: Set<String>
    private let files: [String]

    /// - Parameters:
    ///   - hosts: of flags and scenarios.
    ///   - environment: says where the user's file lies.
    ///   - siteFile: the machine's.
    package init(_ hosts: [String], _ environment: [String: String], siteFile: String = "/etc/pushload/targets") {
        let own =
            environment["XDG_CONFIG_HOME"].flatMap { $0.isEmpty ? nil : $0 } ?? "\(environment["HOME"] ?? "")/.config"
        files = [siteFile, own + "/pushload/targets"]
        self.hosts = Set((hosts + files.flatMap(Self.listed)).map(Self.plain))
    }

    /// A host a line; what follows # is a comment.
    private static func listed(_ file: String) -> [String] {
        guard let data = FileManager.default.contents(atPath: file) else { return [] }
        return String(decoding: data, as: UTF8.self).split(whereSeparator: \.isNewline).compactMap { line in
            let host = (line.split(separator: "#", omittingEmptySubsequences: false).first ?? "")
                .trimmingCharacters(in: .whitespaces)
            return host.isEmpty ? nil : host
        }
    }

    private static func plain(_ host: String) -> String {
        let name = host.lowercased().trimmingCharacters(in: ["[", "]"])
        return name.hasSuffix(".") ? String(name.dropLast()) : name
    }

    /// What holds for a target's addresses whenever it is connected to.
    func rule(_ url: TargetURL) -> AddressRule {
        AddressRule(host: url.host, isAllowed: hosts.contains(Self.plain(url.host)))
    }

    /// - Parameter name: of the setting.
    /// - Throws: one line: not a target, Apple's, or nobody has said that it may be sent to.
    package func check(_ text: String, as name: String = "target") throws(HarnessError) {
        let url = try TargetURL(text, as: name)
        let host = Self.plain(url.host)
        let apple = HarnessError(
            "\(name) \(text): that is Apple's, whose servers are not for load tests; without a target the bundled mock is used"
        )
        guard host != "apple.com", !host.hasSuffix(".apple.com") else { throw apple }
        // A name without an address is found out when it is connected to.
        let addresses = (try? SocketAddress.all(host: url.host, port: url.port)) ?? []
        guard !addresses.contains(where: \.isApple) else { throw apple }
        if !addresses.isEmpty, addresses.allSatisfy(\.isThisMachine) { return }
        guard !hosts.contains(host) else { return }
        throw HarnessError(
            "\(name) \(text): \(host) is not this machine; if it is yours to load, say so: --allow-target \(host), or "
                + "allowed_targets: [\(host)] in the scenario, or a line \(host) in \(files.joined(separator: " or "))")
    }
}
