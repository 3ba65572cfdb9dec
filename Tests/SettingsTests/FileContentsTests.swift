import Foundation
import Glibc
import Settings
import Testing

@Suite struct FileContentsTests {
    private let path = FileManager.default.temporaryDirectory.appendingPathComponent("contents-\(UUID())").path

    private func message(_ body: () throws -> Void) -> String {
        do { try body() } catch { return "\(error)" }
        return "nothing was thrown"
    }

    @Test("A pipe that nobody writes into is refused after a while, instead of waited for")
    func pipeWithoutWriter() throws {
        try #require(mkfifo(path, 0o600) == 0)
        defer { unlink(path) }
        #expect(
            message { _ = try FileContents.bytes(path, "fault file", limit: 1 << 20) }
                == "nobody has written into the pipe \(path) for 5 s")
    }

    @Test("What comes through a pipe is read whole, of a writer that comes late and writes in pieces, or nothing")
    func pipeWithWriter() throws {
        for text in ["", "x", String(repeating: "0123456789abcdef", count: 20_000)] {
            try #require(mkfifo(path, 0o600) == 0)
            defer { unlink(path) }
            let pipe = path
            Thread.detachNewThread {
                usleep(50_000)
                let descriptor = open(pipe, O_WRONLY)
                usleep(50_000)
                var rest = Array(text.utf8)[...]
                while !rest.isEmpty {
                    let count = rest.withUnsafeBytes { write(descriptor, $0.baseAddress, min($0.count, 50_001)) }
                    guard count > 0 else { break }
                    rest = rest.dropFirst(count)
                }
                close(descriptor)
            }
            #expect(try FileContents.text(path, "trace") == text)
        }
    }

    @Test(
        "What cannot be read, is no file or is too large is said in one line, with and without what it should have been"
    )
    func refusals() throws {
        #expect(
            message { _ = try FileContents.bytes("/nowhere", limit: 1) }
                == "cannot read /nowhere: No such file or directory")
        #expect(
            message { _ = try FileContents.bytes("/tmp", "key file", limit: 1) }
                == "cannot read the key file /tmp: Is a directory")
        #expect(
            message { _ = try FileContents.bytes("/dev/zero", limit: 1) } == "/dev/zero is no regular file or pipe")
        try Data(count: (1 << 20) + 1).write(to: URL(fileURLWithPath: path))
        defer { unlink(path) }
        #expect(message { _ = try FileContents.bytes(path, limit: 1 << 20) } == "\(path) is larger than 1 MiB")
    }
}
