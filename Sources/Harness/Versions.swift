import CNghttp2
import COpenSSL
import Foundation
import Settings

/// What a result was made with.
package enum Versions {
    package static let pushload = Version.number

    static var all: [String: String] {
        [
            "pushload": pushload,
            "openssl": String(cString: OpenSSL_version(OPENSSL_VERSION_STRING)),
            "nghttp2": nghttp2_version(0).map { String(cString: $0.pointee.version_str) } ?? "unknown",
            "swift": swift,
        ]
    }

    private static var swift: String {
        #if compiler(>=6.4)
            "6.4 or later"
        #elseif compiler(>=6.3)
            "6.3"
        #else
            "6.2"
        #endif
    }

    /// The commit checked out where the executable lies; nil outside a checkout.
    package static let commit: String? = {
        guard let own = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe") else { return nil }
        var folder = URL(fileURLWithPath: own).deletingLastPathComponent()
        while folder.path != "/" {
            let git = folder.appendingPathComponent(".git")
            if let head = text(git.appendingPathComponent("HEAD")) {
                guard head.hasPrefix("ref: ") else { return head }
                let name = String(head.dropFirst(5))
                if let hash = text(git.appendingPathComponent(name)) { return hash }
                let packed = text(git.appendingPathComponent("packed-refs")) ?? ""
                return packed.split(separator: "\n").first { $0.hasSuffix(" " + name) }.map { String($0.prefix(40)) }
            }
            folder.deleteLastPathComponent()
        }
        return nil
    }()

    private static func text(_ url: URL) -> String? {
        (try? String(contentsOf: url, encoding: .utf8))?.trimmingCharacters(in: .whitespacesAndNewlines)
    }
}
