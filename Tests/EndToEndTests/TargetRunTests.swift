import Foundation
import Results
import Testing

/// Runs to several targets.
@Suite(.serialized, .waitsForPrograms) struct TargetRunTests {
    /// Requests each connection had, as the mock's `/stats` says.
    private func stats(_ mock: Mock) throws -> [String: Any] {
        let text = try Programs.run(
            "/usr/bin/curl", ["-s", "http://127.0.0.1:\(try mock.port(of: "admin"))/stats"]
        ).output
        return try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any], "\(text)")
    }

    @Test("Two targets have half of the connections each and take all pushes", arguments: Programs.engines)
    func two(_ engine: String) throws {
        let (first, second) = try twins()
        let run = try Programs.load(
            [
                // Long enough for every connection to be made on a busy machine.
                "--rate", "500", "-D", "4s", "-c", "6", "--threads", "2", "--engine", engine, "--target", first.url,
                "--target",
                second.url,
            ]
                + ["--credentials", first.folder])
        #expect(run.status == 0, "\(run.error)")
        #expect(run.result.pushes.accepted == 2000 && run.result.run.target == "\(first.url), \(second.url)")
        #expect(run.result.scenario["target"]?.description.contains(second.url) == true)
        let targets = try #require(run.result.targets)
        #expect(targets.map(\.target) == [first.url, second.url] && targets.allSatisfy(\.reachedAtEnd))
        #expect(targets.allSatisfy { $0.connections.opened == 3 })
        #expect(targets.reduce(0) { $0 + $1.accepted } == 2000)
        for (mock, target) in zip([first, second], targets) {
            let stats = try stats(mock)
            #expect(stats["accepted"] as? Int == Int(target.accepted), "\(stats)")
            #expect((stats["connections"] as? [String: Any])?["accepted"] as? Int == 3, "\(stats)")
        }
    }

    /// Two mocks that take the same tokens: those of the first one's credentials.
    private func twins() throws -> (Mock, Mock) {
        let first = try Mock(["--admin-port", "0"], plaintext: true)
        let identity = try first.identity()
        let second = try Mock(
            [
                "--admin-port", "0", "--key", first.folder + "/AuthKey.p8", "--key-id", identity.keyID, "--team-id",
                identity.teamID,
            ], plaintext: true)
        return (first, second)
    }

    @Test("One of two targets that is down from the start: the other takes all pushes, and the run fails for it")
    func oneDown() throws {
        let mock = try Mock(plaintext: true)
        let run = try Programs.load(
            [
                "-n", "500", "-c", "4", "--target", mock.url, "--target", "http://127.0.0.1:1", "--credentials",
                mock.folder,
            ])
        #expect(run.status == 1 && run.result.pushes.accepted == 500, "\(run.error)")
        let problem = "target http://127.0.0.1:1: no connection could be made: connection_refused"
        #expect(run.error.contains("FAILED: \(problem)"), "\(run.error)")
        let down = try #require(run.result.targets?.last)
        #expect(!down.reachedAtEnd && down.connections.opened == 0 && down.connections.connectFailures >= 2)
        #expect(run.result.notes.contains("last connection problem: target http://127.0.0.1:1: connection refused"))
    }

    @Test("One of two targets that is killed in the middle is said, and what is sent after goes to the other")
    func killed() throws {
        let (first, second) = try twins()
        let output = OutputFolder()
        let run = try Programs.start(
            "pushload",
            [
                "run", "--rate", "500", "-D", "4s", "-c", "4", "--json", "--output", output.path, "--target", first.url,
                "--target", second.url, "--credentials", first.folder,
            ])
        for _ in 0..<1000 where run.process.isRunning {
            if (try stats(second)["accepted"] as? Int ?? 0) > 50 { break }
            usleep(10_000)
        }
        kill(second.running.process.processIdentifier, SIGKILL)
        _ = try second.running.wait()
        let finished = try run.wait()
        let result = try ResultFile.decode(Array(finished.output.utf8), origin: "stdout")
        #expect(finished.status == 1 && result.pushes.planned == result.pushes.ended, "\(finished.error)")
        let targets = try #require(result.targets)
        #expect(targets.map(\.reachedAtEnd) == [true, false], "\(targets)")
        #expect(targets[1].connections.lost == 2 && targets[1].connections.connectFailures > 0)
        #expect(targets[0].connections.lost == 0 && targets[0].accepted > targets[1].accepted)
        #expect(
            finished.error.contains(
                "target \(second.url): connections were lost and not made again before the end of the run"),
            "\(finished.error)")
        withExtendedLifetime(first) {}
    }

    @Test("What cannot be several targets is refused in one line each, before anything starts")
    func refused() throws {
        func refusal(_ arguments: [String]) throws -> String {
            let finished = try Programs.run("pushload", ["run", "-n", "10", "--no-auth"] + arguments)
            #expect(finished.status == 64 && finished.output.isEmpty, "\(finished)")
            return finished.error
        }
        let twice = ["-c", "2", "--target", "http://127.0.0.1:1", "--target", "http://127.0.0.1:1/"]
        #expect(try refusal(twice) == "pushload: target http://127.0.0.1:1/: given twice; expected each target once\n")
        let few = ["-c", "1", "--target", "http://127.0.0.1:1", "--target", "http://127.0.0.1:2"]
        #expect(try refusal(few) == "pushload: connections 1: each of the 2 targets needs at least one\n")
        let schemes = ["-c", "2", "--target", "http://127.0.0.1:1", "--target", "https://127.0.0.1:2"]
        #expect(
            try refusal(schemes)
                == "pushload: target https://127.0.0.1:2: the first target is http; expected one scheme for all\n")
        let apple = ["-c", "2", "--target", "https://127.0.0.1:1", "--target", "https://api.push.apple.com"]
        #expect(try refusal(apple).contains("target https://api.push.apple.com: that is Apple's"))
    }

    @Test("Targets of a file are those of a scenario and of a flag, and a mistake in it is said with its place")
    func file() throws {
        let mock = try Mock(plaintext: true)
        let folder = try OutputFolder.made()
        func write(_ name: String, _ text: String) throws -> String {
            try text.write(toFile: "\(folder.path)/\(name)", atomically: true, encoding: .utf8)
            return "\(folder.path)/\(name)"
        }
        let list = try write("targets", "# two names of one mock\n\(mock.url)\nhttp://localhost:\(mock.port) # again\n")
        let scenario = try write("s.yaml", "pushes: 100\nconnections: 2\ntarget: \"@targets\"\n")
        let arguments = [["-n", "100", "-c", "2", "--target", "@\(list)"], [scenario]]
        for arguments in arguments {
            let run = try Programs.load(arguments + ["--credentials", mock.folder])
            #expect(run.status == 0 && run.result.targets?.count == 2, "\(run.error)")
            #expect(run.result.targets?.map(\.connections.opened) == [1, 1])
        }
        _ = try write("targets", "\(mock.url)\nlocalhost\n")
        let wrong = try Programs.run("pushload", ["run", scenario])
        #expect(wrong.status == 64, "\(wrong)")
        #expect(
            wrong.error.hasPrefix(
                "pushload: \(scenario):3:9: target: \(folder.path)/targets:2: \"localhost\": expected a URL"),
            "\(wrong)")
    }
}
