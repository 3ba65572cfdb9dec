import Foundation
import Results
import Testing

/// Time without a connection: what result, summary, progress line and thresholds make of it.
@Suite(.serialized, .waitsForPrograms) struct OutageRunTests {
    @Test(
        "A server that is killed and started again: how long pushes were due without a connection, and why, is said everywhere"
    )
    func restarted() throws {
        let output = OutputFolder()
        let mock = try Mock()
        let running = try Programs.start(
            "pushload",
            [
                "run", "--output", output.path, "--rate", "500", "-D", "8s", "--target", mock.url, "--credentials",
                mock.folder, "--retry", "connection", "--threshold", "no_connection < 1s", "--threshold",
                "no_connection < 1h",
            ])
        try running.waitForError(" in flight ")
        kill(mock.running.process.processIdentifier, SIGKILL)
        _ = try mock.running.wait()
        try running.waitForError("no connection for ")
        try running.waitForError("  backlog ")
        Thread.sleep(forTimeInterval: 1.5)
        let second = try Programs.start("mock-apns", ["--port", mock.port, "--credentials", mock.folder])
        let finished = try running.wait()
        kill(second.process.processIdentifier, SIGTERM)
        _ = try second.wait()
        let run = try #require(FileManager.default.contentsOfDirectory(atPath: output.path).first)
        let result = try ResultFile.read("\(output.path)/\(run)/result.json")
        let outage = try #require(result.connections.noConnection)
        #expect(outage.seconds >= 1.5 && outage.longest <= outage.seconds, "\(outage)")
        #expect(outage.cause == "connection_refused" && outage.wait <= 0.05, "\(outage)")
        #expect(finished.output.contains("no connection for ") && finished.output.contains(": connection refused"))
        #expect(finished.output.contains(", while pushes were due"), "\(finished.output)")
        #expect(finished.output.contains("CROSSED: ") && finished.output.contains("held: "), "\(finished.output)")
        #expect(finished.status == 99 && result.pushes.planned == 4000)
        // Two at once, and from then on one each 50 ms at most.
        #expect(result.connections.connectFailures >= 20, "\(result.connections)")
        #expect(finished.output.contains("pushes were sent later than they were due: ") == (result.pushes.accepted > 0))
    }

    @Test(
        "Connections that are told to go away are replaced at once: their settings are in the result, and the time is told"
    )
    func goAway() throws {
        let (result, status, error) = try Programs.load([
            "--rate", "1k", "-D", "2s", "--mock-flags", "--goaway-after 200", "--reconnect-delay", "20ms",
            "--reconnect-delay-max", "40ms",
        ])
        #expect(status == 0 && result.pushes.accepted == 2000, "\(error)")
        #expect(result.connections.goAways >= 9 && result.connections.opened >= 10)
        #expect(result.scenario["reconnect_delay"] == .integer(20_000_000))
        #expect(result.scenario["reconnect_delay_max"] == .integer(40_000_000))
        #expect(!result.notes.contains { $0.hasPrefix("last connection problem") }, "\(result.notes)")
        let outage = try #require(result.connections.noConnection)
        #expect(outage.seconds > 0 && outage.cause == "goaway NO_ERROR Shutdown" && outage.wait == 0, "\(outage)")
    }

    @Test("Where no connection ever was, nothing is said of the time without one, and no threshold on it holds")
    func nobody() throws {
        let output = OutputFolder()
        let finished = try Programs.run(
            "pushload",
            [
                "run", "--output", output.path, "--rate", "100", "-D", "1s", "--target", "http://127.0.0.1:1",
                "--no-auth",
                "--threshold", "no_connection < 1h",
            ])
        #expect(finished.status == 1 && finished.output.contains("CROSSED: no_connection < 1h"), "\(finished)")
        #expect(!finished.output.contains("no connection for "), "\(finished.output)")
    }

    @Test("A wait that is longer than the longest is refused")
    func delays() throws {
        let finished = try Programs.run("pushload", ["run", "--reconnect-delay", "1m"])
        #expect(
            finished.status == 64
                && finished.error.contains("reconnect_delay: expected at most reconnect_delay_max, which is 5s"),
            "\(finished.error)")
    }
}
