import Foundation
import Networking
import Results
import Testing

@Suite(.serialized, .waitsForPrograms) struct RunTests {
    @Test("A run against the bundled mock accepts every push, and the ledger agrees")
    func bundled() throws {
        let (result, status, error) = try Programs.load(["-n", "20k", "-c", "2", "-t", "2", "-m", "100"])
        #expect(status == 0, "\(error)")
        #expect(result.pushes.accepted == 20_000 && result.pushes.lost == 0 && result.pushes.duplicated == 0)
        #expect(result.statuses == ["200": 20_000] && result.connections.opened == 2)
        for latency in [
            result.latency[.queue], result.latency[.roundTrip], result.latency[.total],
        ] {
            #expect(latency.count == 20_000 && latency.min <= latency.p50 && latency.p50 <= latency.p99)
            #expect(latency.p99 <= latency.max)
        }
        // One in 16 is enough to time what only costs.
        #expect((1248...1250).contains(result.latency[.encode].count) && result.latency[.sign].count >= 1248)
        #expect(result.latency[.total].p50 >= result.latency[.roundTrip].p50)
        #expect(result.cost.mockCPU ?? 0 > 0 && result.cost.clientCPU > 0 && result.cost.mockMemory ?? 0 > 0)
        #expect(result.series.map(\.accepted).reduce(0, +) == 20_000)
        #expect(result.run.complete && result.run.tls?.hasPrefix("TLSv1.3") == true)
    }

    @Test("What handshakes take is told apart from what pushes take")
    func handshakes() throws {
        let (result, status, error) = try Programs.load(["-n", "200", "-c", "100", "-m", "2"])
        #expect(status == 0 && result.connections.opened == 100, "\(error)")
        for (handshakes, perPush) in [
            (result.cost.clientHandshakes, result.cost.clientCPU),
            (result.cost.mockHandshakes, result.cost.mockCPU ?? 0),
        ] {
            // A signature, or its check, for each connection: more than what two pushes take, and a part of the whole.
            let (part, whole) = (Double(try #require(handshakes)), perPush * 200)
            #expect(part > 0.3 * whole && part < whole, "\(part) of \(whole)")
        }
        // Nothing but two handshakes.
        let (few, _, _) = try Programs.load(["-n", "200", "-c", "2", "-m", "100"])
        #expect(try #require(few.cost.clientHandshakes) < #require(result.cost.clientHandshakes) / 5)
    }

    #if Jemalloc
        @Test("A push in steady state allocates nothing: what a run takes does not grow with its pushes")
        func allocations() throws {
            func allocated(_ arguments: [String]) throws -> (count: Double, seconds: Double) {
                let (result, status, error) = try Programs.load(arguments)
                #expect(status == 0, "\(error)")
                let perPush = try #require(result.cost.clientAllocations)
                return (perPush * Double(result.pushes.accepted), result.run.durationSeconds)
            }
            // The ticks of a worker allocate a little: that goes with the time, not with the pushes.
            let (short, long) = (
                try allocated(["-D", "1s", "--rate", "100"]), try allocated(["-D", "4s", "--rate", "100"])
            )
            let perSecond = (long.count - short.count) / (long.seconds - short.seconds)
            let (few, many) = (try allocated(["-n", "50000"]), try allocated(["-n", "250000"]))
            let growth = many.count - few.count - perSecond * (many.seconds - few.seconds)
            // Three a TLS record would be 18,000 more.
            #expect(growth < 10_000, "\(growth) allocations for 200,000 pushes more, \(perSecond) a second")
        }
    #endif

    @Test(
        "Every profile, policy and transport setting gets through",
        arguments: [
            ["--engine", "nghttp2"], ["--engine", "nghttp2", "--apns-id", "--profile", "rich", "-c", "2"],
            ["--profile", "alert:80,silent:15,rich:5"], ["--profile", "live-activity"], ["--profile", "voip"],
            ["--plaintext"], ["--tls-max", "1.2"], ["--sign-policy", "per-push", "-n", "300"],
            ["--sign-policy", "every:100"], ["--sign-policy", "per-connection", "-c", "3"], ["--apns-id"],
            ["--send-batch", "1B"], ["--send-batch", "64KiB"], ["--stream-window", "0", "--encoder-table", "0"],
            ["--huffman"], ["--huffman", "--apns-id", "--encoder-table", "0", "--sign-policy", "every:100"],
            ["--header-table", "0"], ["--rate", "5k"], ["--expiration", "0", "--collapse-id", "x", "--priority", "5"],
            ["--mock-threads", "2", "-c", "4"], ["-D", "300ms", "--rate", "10k"], ["--no-nodelay"],
            ["--read-batch", "200us", "--mock-flags", "--answer-batching off"],
            ["--read-batch", "1ms", "--rate", "5k", "--engine", "nghttp2"],
        ])
    func settings(_ arguments: [String]) throws {
        let isTimed = arguments.contains("-D")
        let count = arguments.contains("-n") || isTimed ? [] : ["-n", "3000"]
        let (result, status, error) = try Programs.load(count + arguments)
        #expect(status == 0, "\(error)")
        #expect(result.pushes.accepted == (isTimed ? 3000 : arguments.contains("-n") ? 300 : 3000))
        #expect(result.pushes.lost == 0 && result.pushes.duplicated == 0)
        if arguments.contains("per-push") { #expect(result.cost.tokensSigned == 300) }
        if arguments.contains("every:100") { #expect(result.cost.tokensSigned == 30) }
        if arguments.contains("per-connection") { #expect(result.cost.tokensSigned == 3) }
    }

    @Test("Where answers gather, the result says how much longer latencies may be; more than 10 ms is one clear line")
    func readBatch() throws {
        let (result, status, _) = try Programs.load(["-n", "3000", "--read-batch", "200us"])
        #expect(status == 0 && result.notes.contains { $0.contains("up to 200 us") && $0.contains("read_batch") })
        #expect(try Programs.load(["-n", "3000"]).result.notes.allSatisfy { !$0.contains("read_batch") })
        let refused = try Programs.run("pushload", ["run", "--read-batch", "11ms"])
        #expect(refused.status == 64 && refused.error.contains("expected 0 to 10ms"), "\(refused.error)")
    }

    @Test("A closed loop for a duration plans what it took")
    func duration() throws {
        let (result, status, _) = try Programs.load(["-D", "300ms"])
        #expect(status == 0 && result.pushes.planned == result.pushes.accepted && result.pushes.accepted > 0)
    }

    @Test("A template and a device file are sent, and rejections are as expected or not")
    func template() throws {
        let folder = try OutputFolder.made()
        try "{\"aps\":{\"alert\":\"{{text(5,50)}}\"},\"n\":{{sequence}}}"
            .write(toFile: folder.path + "/t.json", atomically: true, encoding: .utf8)
        try (String(repeating: "ab", count: 32) + "\n" + String(repeating: "cd", count: 20) + "\n")
            .write(toFile: folder.path + "/devices", atomically: true, encoding: .utf8)
        let arguments = [
            "-n", "1000", "--template", folder.path + "/t.json", "--device-file", folder.path + "/devices",
        ]
        let (result, status, _) = try Programs.load(arguments)
        #expect(status == 1 && result.pushes.accepted == 500 && result.pushes.rejected == 500)
        #expect(result.reasons == ["BadDeviceToken": 500] && result.statuses == ["200": 500, "400": 500])
        #expect(try Programs.load(arguments + ["--expect-reasons", "BadDeviceToken"]).status == 0)
    }

    @Test("Certificate authentication takes the place of tokens", arguments: Programs.engines)
    func certificate(_ engine: String) throws {
        let folder = try OutputFolder.withClientCertificate()
        let certificate = [
            "--cert", folder.path + "/c.pem", "--cert-key", folder.path + "/k.pem", "-n", "200", "--engine", engine,
        ]
        let (result, status, error) = try Programs.load(certificate + ["--topic", "com.example.app"])
        #expect(status == 0 && result.pushes.accepted == 200 && result.cost.tokensSigned == 0, "\(error)")
        #expect(try Programs.load(certificate + ["--topic", "com.other"]).result.reasons == ["TopicDisallowed": 200])
    }

    @Test(
        "A wrong request gets one line on standard error and exit status 64, and leaves nothing behind",
        arguments: [
            (["-n", "0"], "pushload: pushes 0: expected at least 1\n"),
            ([], "pushload: nothing says when to stop: give pushes (-n), a duration (-D), or both\n"),
            (
                ["-n", "1", "--profile", "x"],
                "pushload: --profile: unknown profile \"x\"; known: alert, silent, rich, rich-push, live-activity, voip\n"
            ),
            (
                ["-n", "1", "--template", "/nonexistent"],
                "pushload: cannot read the template /nonexistent: No such file or directory\n"
            ),
            (["-n", "1", "--target", "ftp://x"], nil),
            (["-n", "1", "--target", "https://127.0.0.1:1"], nil),
            (["-n", "1", "--name", "a/b"], "pushload: name \"a/b\": expected letters, digits, '-', '_' and '.'\n"),
            (
                ["-n", "1", "--sign-policy", "x"],
                "pushload: sign policy \"x\": expected cached, cached:50m, per-connection, every:1000 or per-push\n"
            ),
            (
                ["-n", "1", "--key", "/nonexistent", "--key-id", "ABC123DEFG", "--team-id", "ABC123DEFG"],
                "pushload: cannot read /nonexistent: No such file or directory\n"
            ),
            (["-n", "x"], nil),
        ] as [([String], String?)])
    func usage(_ arguments: [String], _ message: String?) throws {
        let output = OutputFolder()
        let finished = try Programs.run("pushload", ["run", "--output", output.path] + arguments)
        #expect(finished.status == 64 && finished.output.isEmpty)
        if let message { #expect(finished.error == message) }
        let left = (try? FileManager.default.contentsOfDirectory(atPath: output.path)) ?? []
        #expect(left.isEmpty)
    }

    @Test("An unreachable target fails every push and says why", arguments: Programs.engines)
    func unreachable(_ engine: String) throws {
        let mock = try Mock()
        _ = try mock.stop()
        let (result, status, error) = try Programs.load([
            "-n", "10", "--target", mock.url, "--credentials", mock.folder, "--give-up-after", "300ms",
            "--engine", engine,
        ])
        #expect(status == 1 && result.notSent == ["connection_refused": 10], "\(error)")
        #expect(error.contains("connection refused"))
    }

    @Test(
        "As many descriptors as a refusal asks for are enough, also while one above the limit is open",
        arguments: [1, 60])
    func descriptors(_ connections: Int) throws {
        func run(_ limit: Int) throws -> Finished {
            let output = OutputFolder()
            return try Programs.run(
                "/bin/bash",
                [
                    "-c", #"exec 250>/dev/null; ulimit -n "$1"; exec "$0" run -n 100 -c "$2" --output "$3""#,
                    Programs.path("pushload"), "\(limit)", "\(connections)", output.path,
                ])
        }
        let refused = try run(20)
        #expect(refused.status == 64, "\(refused)")
        let advice = try #require(refused.error.firstMatch(of: /\(ulimit -n (\d+)\)/), "\(refused)")
        let needed = try #require(Int(advice.1))
        #expect(needed < 200, "\(refused)")
        for limit in [needed, 200] {
            let finished = try run(limit)
            #expect(
                finished.status == 0 && finished.output.contains("100 accepted"), "\(limit): \(finished)")
        }
    }

    @Test("A target whose certificate is not trusted is not talked to", arguments: Programs.engines)
    func untrusted(_ engine: String) throws {
        let mock = try Mock()
        let other = try Mock()
        let (result, status, _) = try Programs.load([
            "-n", "10", "--target", mock.url, "--credentials", mock.folder, "--cacert", other.folder + "/ca.pem",
            "--give-up-after", "300ms", "--engine", engine,
        ])
        #expect(status == 1 && result.notSent == ["certificate_untrusted": 10])
        _ = try mock.stop()
        _ = try other.stop()
    }

    @Test("A run whose device file is cut short ends with one line that says so")
    func cutShort() throws {
        let output = OutputFolder()
        try FileManager.default.createDirectory(atPath: output.path, withIntermediateDirectories: true)
        let path = output.path + "/devices.txt"
        let line = String(repeating: "0123456789abcdef", count: 4) + "\n"
        try String(repeating: line, count: 3000).write(toFile: path, atomically: true, encoding: .utf8)
        let running = try Programs.start(
            "pushload",
            ["run", "--output", output.path + "/runs", "--device-file", path, "--rate", "500", "-D", "600s"])
        try running.waitForError(" in flight ")
        #expect(truncate(path, 0) == 0)
        let finished = try running.wait()
        #expect(
            finished.status == 1
                && finished.error.hasSuffix(
                    "pushload: \(path): cut short while it was read; put another file in its place instead of writing into it\n"
                ),
            "\(finished)")
        // What the run had written by then, or nothing.
        for folder in try FileManager.default.contentsOfDirectory(atPath: output.path + "/runs") {
            #expect(try !FileManager.default.contentsOfDirectory(atPath: "\(output.path)/runs/\(folder)").isEmpty)
        }
    }

    @Test("A run whose device file is written into is stopped as by Ctrl-C and says so; one that is replaced is not")
    func deviceFileWritten() throws {
        let output = OutputFolder()
        try FileManager.default.createDirectory(atPath: output.path, withIntermediateDirectories: true)
        let path = output.path + "/devices.txt"
        let url = URL(fileURLWithPath: path)
        let lines = String(repeating: String(repeating: "0123456789abcdef", count: 4) + "\n", count: 3000)
        try lines.write(to: url, atomically: true, encoding: .utf8)
        let running = try Programs.start(
            "pushload",
            ["run", "--output", output.path + "/run", "--device-file", path, "--rate", "500", "-D", "600s"])
        try running.waitForError(" in flight ")
        // The run has the one before it open, wherever that goes.
        #expect(chmod(path, 0o600) == 0 && rename(path, path + ".old") == 0)
        try lines.write(to: url, atomically: true, encoding: .utf8)
        let old = try FileHandle(forWritingTo: url)
        try old.write(contentsOf: Data("fedcba".utf8))
        usleep(500_000)
        #expect(running.process.isRunning)
        #expect(kill(running.process.processIdentifier, SIGINT) == 0)
        #expect(try running.wait().status == 1)

        let written = try Programs.start(
            "pushload",
            ["run", "--output", output.path + "/run2", "--device-file", path, "--rate", "500", "-D", "600s"])
        try written.waitForError(" in flight ")
        try old.write(contentsOf: Data("fedcba".utf8))
        let finished = try written.wait()
        let folder = try #require(FileManager.default.contentsOfDirectory(atPath: output.path + "/run2").first)
        let result = try ResultFile.read("\(output.path)/run2/\(folder)/result.json")
        #expect(finished.status == 1 && result.run.interrupted && result.pushes.planned == result.pushes.ended)
        #expect(
            result.notes.contains { $0.hasPrefix("ended early: \(path) was written to while it was read") },
            "\(finished) \(result.notes)")
    }

    @Test("A run that was over before it was seen that its device file is written into has a note of it")
    func deviceFileWrittenLate() throws {
        let output = OutputFolder()
        try FileManager.default.createDirectory(atPath: output.path, withIntermediateDirectories: true)
        let path = output.path + "/devices.txt"
        let lines = String(repeating: String(repeating: "0123456789abcdef", count: 4) + "\n", count: 3000)
        try lines.write(toFile: path, atomically: true, encoding: .utf8)
        // Its time is over, and it waits for answers only. Where it is not yet, it is stopped, and says that.
        let running = try Programs.start(
            "pushload",
            [
                "run", "--output", output.path + "/run", "--device-file", path, "--rate", "100", "-D", "1s", "--drain",
                "20s",
                "--mock-flags", "--latency 4s",
            ])
        try running.waitForError(" in flight ")
        usleep(2_000_000)
        let file = try FileHandle(forWritingTo: URL(fileURLWithPath: path))
        try file.write(contentsOf: Data("fedcba".utf8))
        let finished = try running.wait()
        let folder = try #require(FileManager.default.contentsOfDirectory(atPath: output.path + "/run").first)
        let notes = try ResultFile.read("\(output.path)/run/\(folder)/result.json").notes
        #expect(notes.contains { $0.contains("\(path) was written to while ") }, "\(finished) \(notes)")
    }

    @Test("Worker threads and the mock's stay on the cores they are pinned to, and only they")
    func pinned() throws {
        let allowed = CoreAffinity.allowed()
        let core = try #require(allowed.last)
        let output = OutputFolder()
        let running = try Programs.start(
            "pushload",
            [
                "run", "--json", "--output", output.path, "-n", "1G", "-D", "60s", "-m", "10", "-c", "3", "-t", "3",
                "--pin",
                "\(core)", "--mock-threads", "2", "--mock-flags", "--pin \(core)",
            ])
        try running.waitForError(" in flight ")
        let process = Int(running.process.processIdentifier)
        let cores = Self.coresOfThreads(process)
        let mocks = Self.tasks(process).flatMap { task in
            ((try? String(contentsOfFile: "\(task)/children", encoding: .utf8)) ?? "").split(separator: " ")
        }
        let coresOfMock = mocks.compactMap { Int($0) }.map(Self.coresOfThreads)
        kill(running.process.processIdentifier, SIGINT)
        let finished = try running.wait()
        #expect(finished.error.contains("interrupted"), "\(finished)")
        #expect(coresOfMock.count == 1)
        for (cores, pinned) in [(cores, 3), (coresOfMock.first ?? [], 2)] where allowed.count > 1 {
            #expect(cores.count { $0 == "\(core)" } == pinned, "\(cores)")
            #expect(cores.count { $0 != "\(core)" } > 0, "\(cores)")
        }
        let none = (0...1023).first { !allowed.contains($0) }!
        let refused = try Programs.run(
            "pushload", ["run", "-n", "1", "-t", "2", "-c", "2", "--pin", "\(core),\(none)"])
        #expect(
            refused.status == 64 && refused.error.contains("pin core \(none): this process may use "), "\(refused)")
        let mock = try Programs.run("mock-apns", ["--port", "0", "--pin", "\(core)-"])
        #expect(
            mock.status != 0 && mock.error.contains("--pin: \"\(core)-\": expected cores from 0 to 1023"), "\(mock)")
    }

    private static func tasks(_ process: Int) -> [String] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/\(process)/task")) ?? []
        return names.map { "/proc/\(process)/task/\($0)" }
    }

    /// The cores that each thread may use, as the kernel writes them.
    private static func coresOfThreads(_ process: Int) -> [String] {
        tasks(process).compactMap { task in
            (try? String(contentsOfFile: "\(task)/status", encoding: .utf8))?.split(separator: "\n")
                .first { $0.hasPrefix("Cpus_allowed_list:") }
                .map { String($0.dropFirst("Cpus_allowed_list:".count).filter { $0 != "\t" }) }
        }
    }

    @Test("The mock takes the first of its cipher suites that a client offers; without any, the client's first")
    func ciphersuites() throws {
        for (flags, suite) in [
            ([], "TLS_AES_256_GCM_SHA384"),
            (
                ["--mock-flags", "--ciphersuites TLS_AES_128_GCM_SHA256:TLS_AES_256_GCM_SHA384"],
                "TLS_AES_128_GCM_SHA256"
            ),
            (
                [
                    "--ciphersuites", "TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256",
                    "--mock-flags", "--ciphersuites TLS_CHACHA20_POLY1305_SHA256:TLS_AES_256_GCM_SHA384",
                ], "TLS_CHACHA20_POLY1305_SHA256"
            ),
        ] {
            let (result, status, error) = try Programs.load(["-n", "2000"] + flags)
            #expect(status == 0 && result.pushes.accepted == 2000, "\(error)")
            #expect(result.run.tls == "TLSv1.3 \(suite)")
        }
    }

    @Test("kTLS is used where the kernel has it, and refused in words where not")
    func kernelTLS() throws {
        let list = (try? String(contentsOfFile: "/proc/sys/net/ipv4/tcp_available_ulp", encoding: .utf8)) ?? ""
        guard list.split(whereSeparator: \.isWhitespace).contains("tls") else {
            let refused = try Programs.run("pushload", ["run", "-n", "100", "--ktls"])
            #expect(
                refused.status == 64 && refused.error.contains("kTLS: this kernel offers no TLS"), "\(refused.error)")
            return
        }
        let (result, status, error) = try Programs.load([
            "-n", "5000", "--ktls", "--ciphersuites", "TLS_AES_128_GCM_SHA256",
        ])
        #expect(status == 0 && result.pushes.accepted == 5000, "\(error)")
    }
}
