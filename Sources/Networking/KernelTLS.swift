import Foundation

/// TLS records sealed by the kernel (kTLS), which Linux offers as an "upper layer protocol" of TCP where its module is there.
enum KernelTLS {
    private static let list = "/proc/sys/net/ipv4/tcp_available_ulp"

    /// nil when the kernel has it, or a sentence that says that it has not.
    static var problem: String? {
        let names = ((try? String(contentsOfFile: list, encoding: .utf8)) ?? "")
            .split(whereSeparator: \.isWhitespace)
        if names.contains("tls") { return nil }
        return
            "kTLS: this kernel offers no TLS (\(list) lists \(names.isEmpty ? "nothing" : names.joined(separator: ", "))); "
            + "load its module (modprobe tls), or leave kTLS out"
    }
}
