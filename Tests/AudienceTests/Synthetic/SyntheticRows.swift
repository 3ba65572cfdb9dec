import Glibc

@testable import Audience

/// What a line of a made-up CSV file says.
struct SyntheticRow: Equatable {
    var fields: [String: String] = [:]
    var tags: [String] = []

    /// - Parameters:
    ///   - line: without quoted fields.
    ///   - header: the column names.
    init(_ line: Substring, _ header: [Substring]) {
        for (name, field) in zip(header, line.split(separator: ",", omittingEmptySubsequences: false)) {
            fields[String(name)] = String(field)
        }
        tags = (fields["tags"] ?? "").split(separator: ";").map(String.init)
    }
}

extension SyntheticRegistrations {
    /// The whole file in memory, as the writer makes it.
    func file(threads: Int) throws -> String {
        let path = try TestFolder.path("rows")
        defer { unlink(path) }
        try SyntheticWriter.write(self, to: path, threads: threads)
        return try TestFolder.text(path)
    }

    /// The rows of a CSV file in which nothing is quoted.
    func rows() throws -> [SyntheticRow] {
        let lines = try file(threads: 2).split(separator: "\n")
        let header = lines[0].split(separator: ",")
        return lines.dropFirst().map { SyntheticRow($0, header) }
    }
}

/// Names of files that tests make and remove.
enum TestFolder {
    static func path(_ name: String) throws -> String {
        "/tmp/audience-\(getpid())-\(UInt32.random(in: 0 ... .max))-\(name)"
    }

    static func text(_ path: String) throws -> String {
        let descriptor = open(path, O_RDONLY)
        guard descriptor >= 0 else { throw AudienceError("cannot read \(path)") }
        defer { close(descriptor) }
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 1 << 16)
        while case let count = read(descriptor, &chunk, chunk.count), count > 0 { bytes += chunk[..<count] }
        return String(decoding: bytes, as: UTF8.self)
    }
}
