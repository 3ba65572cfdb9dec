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
                == "nobody has opened the pipe \(path) for writing in 5 s")
    }

    /// Writes into a pipe, late and in pieces.
    private func write(_ text: String, into pipe: String) {
        Thread.detachNewThread {
            usleep(50_000)
            let descriptor = open(pipe, O_WRONLY)
            usleep(50_000)
            var rest = Array(text.utf8)[...]
            while !rest.isEmpty {
                let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, min($0.count, 50_001)) }
                guard count > 0 else { break }
                rest = rest.dropFirst(count)
            }
            close(descriptor)
        }
    }

    @Test("What comes through a pipe is read whole, of a writer that comes late and writes in pieces, or nothing")
    func pipeWithWriter() throws {
        for text in ["", "x", String(repeating: "0123456789abcdef", count: 20_000)] {
            try #require(mkfifo(path, 0o600) == 0)
            defer { unlink(path) }
            write(text, into: path)
            #expect(try FileContents.bytes(path, "fault file", limit: 1 << 20) == Data(text.utf8))
        }
    }

    @Test("A pipe of a user's is read once: who looks again has what came, or hears again that nothing did")
    func pipeReadAgain() throws {
        try #require(mkfifo(path, 0o600) == 0)
        defer { unlink(path) }
        write("a: 1\n", into: path)
        for _ in 0..<2 { #expect(try FileContents.text(path, "scenario") == "a: 1\n") }
        let silent = path + "s"
        try #require(mkfifo(silent, 0o600) == 0)
        defer { unlink(silent) }
        let begun = ContinuousClock.now
        for _ in 0..<20 {
            #expect(
                message { _ = try FileContents.text(silent, "scenario") }
                    == "nobody has opened the pipe \(silent) for writing in 5 s")
        }
        // 100 s, if each waited.
        #expect(ContinuousClock.now - begun < .seconds(95))
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
