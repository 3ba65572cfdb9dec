import Foundation
import Testing

/// pushload on a terminal, as a terminal emulator (pyte) shows it.
@Suite(.waitsForPrograms) struct TerminalTests {
    private struct Session: Decodable {
        let status: Int32
        let raw: String
        /// The screen at the end.
        let main: [String]
        /// The other screen, as it was last; `left`: as it was when it went.
        let other: [String]
        let left: [String]
        let isOther: Bool
        let isCursorHidden: Bool
        /// All that was to be typed was.
        let isDone: Bool
    }

    private static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().path

    private func session(
        _ arguments: [String], columns: Int = 80, rows: Int = 24, actions: [String] = [],
        environment: [String: String] = [:]
    ) throws -> Session {
        let python = Self.root + "/.build/python/bin/python3"
        try #require(FileManager.default.isExecutableFile(atPath: python), "run make test-deps first")
        let folder = OutputFolder()
        let own = ["TERM": "xterm-256color", "LC_ALL": "C.UTF-8", "NO_COLOR": "", "COLUMNS": ""]
        let finished = try Programs.start(
            python,
            [Self.root + "/Tests/EndToEndTests/Python/terminal.py", "\(columns)", "\(rows)"] + actions
                + ["--", Programs.path("pushload")] + arguments + ["--output", folder.path],
            environment: own.merging(environment) { $1 }
        ).wait()
        try #require(finished.status == 0, "\(finished)")
        let session = try finished.read(Session.self)
        #expect(session.isDone && !session.isOther && !session.isCursorHidden, "\(session)")
        return session
    }

    // A second and a half, and longer where the machine is busy.
    private let run = [
        "run", "-n", "300", "-m", "20", "--mock-flags", "--reject ServiceUnavailable=10% --latency 100ms",
    ]

    @Test(
        "The progress line leaves nothing behind, the summary fits, and verdicts have colours", arguments: [80, 60, 40])
    func summary(columns: Int) throws {
        let session = try session(run + ["--threshold", "p99 < 1m"], columns: columns, rows: 300)
        #expect(session.status == 1)
        let screen = session.main.joined(separator: "\n")
        // The line was there, and is gone; the first line of the summary is the screen's second.
        #expect(session.raw.contains("\r\u{1B}[Kp99 ") && !screen.contains("ETA"), "\(screen)")
        #expect(session.main[0].isEmpty && session.main[1].hasPrefix("300 pushes planned"), "\(screen)")
        #expect(session.raw.contains("\u{1B}[31mFAILED\u{1B}[0m: pushes were rejected"))
        #expect(session.raw.contains("\u{1B}[32mheld\u{1B}[0m: p99 "))
        #expect(screen.contains("\nFAILED: pushes were rejected") && screen.contains("\nheld: p99 "), "\(screen)")
        // Of each line everything that was ever in it.
        let lines = session.raw.replacing("\r\n", with: "\n").split { $0 == "\n" || $0 == "\r" }
            .map { $0.replacing(/\u{1B}\[[0-9]*[mK]/, with: "") }
        let wide = lines.filter { $0.count > columns && $0.dropFirst(2).contains(" ") }
        #expect(wide.isEmpty)
    }

    @Test("NO_COLOR and TERM=dumb have no colours, and a dumb terminal gets whole lines")
    func plain() throws {
        let without = try session(run, environment: ["NO_COLOR": "1"])
        #expect(!without.raw.contains(/\u{1B}\[[0-9;]*m/) && without.raw.contains("\u{1B}[K"))
        let dumb = try session(run + ["--live"], environment: ["TERM": "dumb"])
        #expect(!dumb.raw.contains("\u{1B}") && dumb.raw.contains("\nFAILED: "), "\(dumb.raw)")
    }

    @Test(
        "--live draws charts in place and gives the terminal back as it was", arguments: [(80, 24), (60, 20), (40, 16)])
    func live(columns: Int, rows: Int) throws {
        // Long enough to be drawn several times, each over the one before, however busy the machine is.
        var session: Session!
        for seconds in [1.5, 6, 24] {
            session = try self.session(
                [
                    "run", "--rate", "200", "-D", "\(seconds)s", "--mock-flags", "--reject ServiceUnavailable=10%",
                    "--live",
                ],
                columns: columns, rows: rows)
            if session.raw.components(separatedBy: "\u{1B}[H").count > 3 { break }
        }
        let view = session.left.joined(separator: "\n")
        for part in ["throughput ", "latency, log scale", "in flight ", "errors a second", "0 s"] {
            #expect(view.contains(part), "\(part) is not in\n\(view)")
        }
        #expect(view.contains(/run {2}[1-9]\d*\.\d s/), "\(view)")
        #expect(session.raw.components(separatedBy: "\u{1B}[H").count > 3)
        #expect(session.left.count { $0.contains("throughput ") } == 1, "\(view)")
        #expect(!session.raw.contains("\u{1B}[K\r\n\u{1B}[J"))
        #expect(session.raw.components(separatedBy: "\u{1B}[?1049h").count == 2)
        let last = session.main.joined(separator: "\n")
        #expect(session.status == 1 && last.contains("FAILED: pushes were rejected"), "\(last)")
        #expect(!last.contains("throughput "), "\(last)")
    }

    @Test("Ctrl-C in the live view is said there and after it, and the terminal is as it was")
    func interrupted() throws {
        let session = try session(
            ["run", "--rate", "200", "-D", "600s", "--live"], actions: ["--key", "in flight =\\x03"])
        let screen = session.main.joined(separator: "\n")
        #expect(session.status == 1 && screen.contains("FAILED: the run was interrupted"), "\(screen)")
        #expect(session.raw.contains("\u{1B}[?1049lpushload: stopping: open pushes"), "\(screen)")
    }

    @Test("Ctrl-Z gives the terminal back, and the charts come again when the program goes on")
    func stopped() throws {
        let session = try session(
            ["run", "--rate", "200", "-D", "600s", "--live"],
            actions: [
                "--key", "in flight =\\x1a", "--continue", "\u{1B}[?25h\u{1B}[?1049l=", "--key",
                "\u{1B}[?1049h=\\x03",
            ])
        #expect(session.raw.components(separatedBy: "\u{1B}[?1049h").count == 3)
        #expect(session.main.contains { $0.contains("FAILED: the run was interrupted") }, "\(session.main)")
    }

    @Test("A terminal that becomes too small gets the progress line, and the charts again when there is room")
    func resized() throws {
        let session = try session(
            ["run", "--rate", "200", "-D", "600s", "--live"],
            actions: ["--size", "in flight =30x10", "--size", "\r\u{1B}[Kp99 =80x24", "--key", "\u{1B}[?1049h=\\x03"])
        #expect(session.raw.components(separatedBy: "\u{1B}[?1049h").count == 3)
        #expect(session.raw.contains("\r\u{1B}[Kp99 ") && session.main.contains { $0.contains("FAILED: ") })
    }

    @Test("Ctrl-C beside the progress line has a line of its own")
    func interruptedLine() throws {
        let session = try session(
            ["run", "--rate", "200", "-D", "600s"], rows: 60, actions: ["--key", "\r\u{1B}[Kp99 =\\x03"])
        #expect(session.main.contains { $0.hasPrefix("pushload: stopping: open pushes") }, "\(session.main)")
        #expect(!session.main.contains { $0.contains("ETA") }, "\(session.main)")
    }
}
