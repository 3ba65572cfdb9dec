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
        return String(decoding: data, as: UTF8.self).split(separator: "\n").compactMap { line in
            let host = (line.split(separator: "#", omittingEmptySubsequences: false).first ?? "")
                .trimmingCharacters(in: .whitespaces)
            return host.isEmpty ? nil : host
        }
    }

    private static func plain(_ host: String) -> String {
        let name = host.lowercased().trimmingCharacters(in: ["[", "]"])
        return name.hasSuffix(".") ? String(name.dropLast()) : name
    }

    /// - Parameter name: of the setting.
    /// - Throws: one line: not a target, Apple's, or nobody has said that it may be sent to.
    package func check(_ text: String, as name: String = "target") throws(HarnessError) {
        let url = try TargetURL(text)
        let host = Self.plain(url.host)
        let apple = HarnessError(
            "\(name) \(text): that is Apple's, whose servers are not for load tests; without a target the bundled mock is used"
        )
        guard host != "apple.com", !host.hasSuffix(".apple.com") else { throw apple }
        // A name without an address is found out when it is connected to.
        let address = try? SocketAddress(host: url.host, port: url.port)
        if let address, Self.isApple(address.bytes) { throw apple }
        if let address, Self.isThisMachine(address.bytes) { return }
        guard !hosts.contains(host) else { return }
        throw HarnessError(
            "\(name) \(text): \(host) is not this machine; if it is yours to load, say so: --allow-target \(host), or "
                + "allowed_targets: [\(host)] in the scenario, or a line \(host) in \(files.joined(separator: " or "))")
    }

    /// 127.0.0.0/8, ::1, and the address that stands for any of the machine's.
    private static func isThisMachine(_ address: [UInt8]) -> Bool {
        address.count == 4
            ? address[0] == 127 || address == [0, 0, 0, 0]
            : address.dropLast().allSatisfy { $0 == 0 } && address[15] <= 1
    }

    /// The networks registered to Apple: 17.0.0.0/8 and 2620:149::/36 (ARIN), 2403:300::/32 (APNIC), 2a01:b740::/32 (RIPE). In
    /// each of them APNs answers ("If your Apple devices aren't getting push notifications", support.apple.com).
    private static func isApple(_ address: [UInt8]) -> Bool {
        if address.count == 4 { return address[0] == 17 }
        switch Array(address.prefix(4)) {
        case [0x26, 0x20, 0x01, 0x49]: return address[4] < 0x10
        case [0x24, 0x03, 0x03, 0x00], [0x2a, 0x01, 0xb7, 0x40]: return true
        default: return false
        }
    }
}
