import Glibc

/// What a reader must know of the machine to judge a result.
public struct MachineFacts: Sendable {
    public let host: String
    package let cpuModel: String
    public let cores: Int
    package let memoryBytes: UInt64
    public let kernel: String
    public let system: String

    package init() {
        var name = utsname()
        uname(&name)
        func text<T>(_ field: T) -> String {
            withUnsafeBytes(of: field) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
        }
        host = text(name.nodename)
        kernel = "\(text(name.sysname)) \(text(name.release)) \(text(name.machine))"
        cores = sysconf(Int32(_SC_NPROCESSORS_ONLN))
        memoryBytes = UInt64(sysconf(Int32(_SC_PHYS_PAGES))) * UInt64(sysconf(Int32(_SC_PAGESIZE)))
        cpuModel = Self.value(of: "model name", separator: ":", in: "/proc/cpuinfo") ?? "unknown"
        system = Self.value(of: "PRETTY_NAME", separator: "=", in: "/etc/os-release") ?? "unknown"
    }

    private static func value(of key: String, separator: Character, in path: String) -> String? {
        guard let file = fopen(path, "r") else { return nil }
        defer { fclose(file) }
        var line = [CChar](repeating: 0, count: 1024)
        while fgets(&line, Int32(line.count), file) != nil {
            let text = String(decoding: line.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
            guard text.hasPrefix(key), let place = text.firstIndex(of: separator) else { continue }
            var value = text[text.index(after: place)...]
            while let last = value.last, last == "\n" || last == "\"" || last == " " { value.removeLast() }
            while let first = value.first, first == " " || first == "\"" { value.removeFirst() }
            return String(value)
        }
        return nil
    }
}
