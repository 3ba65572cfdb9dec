import Foundation
import Testing

@testable import Harness

@Suite struct ChildRunTests {
    /// A program of these lines, in a folder of its own.
    private func program(_ lines: String) throws -> (path: String, folder: URL) {
        let folder = FileManager.default.temporaryDirectory.appending(path: "pushload-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let path = folder.appending(path: "program").path
        try "#!/bin/sh\n\(lines)\n".write(toFile: path, atomically: true, encoding: .utf8)
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: path)
        return (path, folder)
    }

    @Test("A program that says no version in time is refused then, though what it started still holds its output")
    func silent() async throws {
        let (path, folder) = try program("sleep 600 & echo $! > \"$0.pid\"; wait")
        defer { try? FileManager.default.removeItem(at: folder) }
        var message = ""
        do { _ = try await ChildRun(path, origin: "--base-binary", patience: 10) } catch { message = error.description }
        #expect(
            message
                == "--base-binary \(path): no answer to --version within 10 s; expected a pushload executable")
        // Nothing of how long it took: a busy machine takes long. What it started goes on, so that it was not waited for.
        let text = try String(contentsOfFile: path + ".pid", encoding: .utf8)
        let started = try #require(pid_t(text.trimmingCharacters(in: .whitespacesAndNewlines)))
        #expect(kill(started, SIGKILL) == 0)
    }

    @Test("A version is taken, another answer refused with its first line")
    func answers() async throws {
        let (good, folder) = try program("echo 1.2.3")
        defer { try? FileManager.default.removeItem(at: folder) }
        #expect(try await ChildRun(good, origin: "--base-binary").version == "1.2.3")
        let (other, otherFolder) = try program("echo hello; echo world")
        defer { try? FileManager.default.removeItem(at: otherFolder) }
        var message = ""
        do { _ = try await ChildRun(other, origin: "--base-binary") } catch { message = error.description }
        #expect(message == "--base-binary \(other): not a pushload: --version says \"hello\"")
    }
}
