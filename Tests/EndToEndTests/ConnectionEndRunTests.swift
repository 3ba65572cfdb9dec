import Foundation
import Results
import Testing

/// Why connections ended, from the mock's GOAWAY to what a user reads.
@Suite(.serialized, .waitsForPrograms) struct ConnectionEndRunTests {
    /// `sum of ends = lost + goaways + connect_failures`; nobody here uses up 2^30 stream ids.
    private func isBalanced(_ connections: ResultDocument.Connections) -> Bool {
        connections.ends.values.reduce(0, +)
            == connections.lost + connections.goAways + connections.connectFailures
    }

    @Test(
        "GOAWAY's code and reason are in summary, result and report, once for each connection that was told",
        arguments: Programs.engines)
    func goAway(_ engine: String) throws {
        let output = OutputFolder()
        let finished = try Programs.run(
            "pushload",
            [
                "run", "--output", output.path, "-n", "10k", "--engine", engine, "--mock-flags", "--goaway-after 2k",
                "--report", "page.html",
            ])
        #expect(finished.status == 0, "\(finished.error)")
        let name = try #require(FileManager.default.contentsOfDirectory(atPath: output.path).first)
        let folder = output.path + "/" + name
        let connections = try ResultFile.read(folder + "/result.json").connections
        // The last connection's GOAWAY may come after the last answer.
        #expect([4, 5].contains(connections.goAways), "\(connections)")
        #expect(connections.ends == ["goaway NO_ERROR Shutdown": connections.goAways], "\(connections)")
        #expect(
            finished.output.contains("\nconnections ended: goaway NO_ERROR Shutdown \(connections.goAways)\n"),
            "\(finished.output)")
        let page = try String(contentsOfFile: folder + "/page.html", encoding: .utf8)
        #expect(page.contains("connections ended") && page.contains("goaway NO_ERROR Shutdown"))
    }

    @Test("With several faults at once every end has its reason, and they add up", arguments: Programs.engines)
    func faults(_ engine: String) throws {
        let (result, _, error) = try Programs.load([
            "-n", "20k", "-c", "4", "-m", "200", "--engine", engine, "--timeout", "2s", "--mock-flags",
            "--fault-seed 5 --goaway-after 200 --tcp-reset-every 2s --handshake-failures 30% "
                + "--latency 'uniform 1ms 20ms'",
        ])
        let connections = result.connections
        #expect(isBalanced(connections), "\(connections)")
        #expect(connections.ends["goaway NO_ERROR Shutdown"] == connections.goAways, "\(connections)")
        #expect(connections.goAways > 0 && connections.connectFailures > 0, "\(connections) \(error)")
    }

    @Test("Where nobody listens every attempt has ended; nothing has where all went well")
    func extremes() throws {
        let mock = try Mock()
        _ = try mock.stop()
        let (none, status, error) = try Programs.load([
            "-n", "10", "--target", mock.url, "--credentials", mock.folder, "--give-up-after", "200ms",
        ])
        #expect(status == 1 && isBalanced(none.connections), "\(error)")
        #expect(none.connections.ends == ["connection_refused": none.connections.connectFailures], "\(error)")
        let (well, _, _) = try Programs.load(["-n", "1000", "-c", "3"])
        #expect(well.connections.ends.isEmpty && well.connections.opened == 3)
    }
}
