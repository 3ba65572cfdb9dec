import Foundation
import Testing

/// What mock-apns/examples shows to writers of clients, run as they would; Go and Java where they are installed (`make test-clients`).
@Suite(.serialized, .waitsForPrograms) struct ExampleTests {
    private static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()
    private static let examples = root.appendingPathComponent("mock-apns/examples").path
    private static let python = root.appendingPathComponent(".build/python/bin/python3").path
    private static let search = Programs.folder.path + ":" + (ProcessInfo.processInfo.environment["PATH"] ?? "")

    private static func isThere(_ program: String) -> Bool {
        search.split(separator: ":").contains { FileManager.default.isExecutableFile(atPath: "\($0)/\(program)") }
    }

    /// The programs that a reader starts them with, as far as this machine has them.
    private static let pushes = [
        ["/bin/sh", "push.sh"], ["node", "push.js"], ["go", "run", "push.go"], ["java", "Push.java"],
        [python, "push.py"],
    ].filter { $0[0].hasPrefix("/") || isThere($0[0]) }

    /// Their tests, as a reader runs them.
    private static let tests = [
        ["node", "--test", "push.test.js"], ["go", "test", "push.go", "push_test.go"],
        [python, "-B", "-m", "unittest", "test_push.py"],
    ].filter { $0[0].hasPrefix("/") || isThere($0[0]) }

    /// Runs lines of bash (sh waits for ever for what it started when who started it blocks SIGCHLD) with the examples' folder in $examples, both programs on the path, and /dev/null as standard input.
    private func shell(_ lines: String) throws -> Finished {
        try Programs.start(
            "/bin/bash", ["-c", "exec < /dev/null; \(lines)"],
            environment: ["PATH": Self.search, "examples": Self.examples]
        ).wait()
    }

    private func command(_ example: [String]) -> String {
        (example.dropLast() + ["\"$examples/\(example.last ?? "")\""]).joined(separator: " ")
    }

    @Test("An example pushes, prints the answer, and says why a push was refused", arguments: pushes)
    func push(_ example: [String]) throws {
        let push = command(example) + #" "$MOCK_APNS_CREDENTIALS" "$MOCK_APNS_PORT""#
        let good = try shell(
            "\"$examples/with-mock-apns\" -- sh -c '\(push) $(mock-apns device-token 0) && curl -s \"$MOCK_APNS_ADMIN/pushes\"'"
        )
        #expect(good.status == 0 && good.output.hasPrefix("200"), "\(good)")
        #expect(good.output.contains(#""alert":"hello""#) || good.output.contains(#"\"alert\":\"hello\""#), "\(good)")
        let bad = try shell("\"$examples/with-mock-apns\" -- sh -c '\(push) xyz'")
        #expect(bad.status == 1 && bad.output.isEmpty && bad.error.hasPrefix("400 "), "\(bad)")
        #expect(bad.error.contains("BadDeviceToken"), "\(bad)")
    }

    @Test("An example whose server is not there says so, and fails", arguments: pushes)
    func noServer(_ example: [String]) throws {
        let folder = try OutputFolder.made()
        let gone = try shell(
            "mock-apns --port 0 --credentials \(folder.path)/c --until-stdin-closes > \(folder.path)/said; "
                + "TOKEN=x \(command(example)) \(folder.path)/c 1 $(mock-apns device-token 0)")
        #expect(gone.status != 0 && gone.output.isEmpty && !gone.error.isEmpty, "\(gone)")
    }

    @Test("The tests of the examples pass against a mock, and fail without what they look for", arguments: tests)
    func test(_ example: [String]) throws {
        let suite = "cd \"$examples\" && \"$examples/with-mock-apns\""
        let good = try shell("\(suite) -- \(example.joined(separator: " "))")
        #expect(good.status == 0, "\(good)")
        let bad = try shell("\(suite) --topic com.example.other -- \(example.joined(separator: " "))")
        #expect(bad.status != 0 && (bad.output + bad.error).contains("TopicDisallowed"), "\(bad)")
    }

    @Test("with-mock-apns ends with the command's status, ends the mock, and leaves nothing behind")
    func withMock() throws {
        let finished = try shell(
            "\"$examples/with-mock-apns\" --topic com.example.app -- sh -c 'echo \"$MOCK_APNS_CREDENTIALS $MOCK_APNS_PORT\"; exit 7'"
        )
        #expect(finished.status == 7 && finished.error.isEmpty, "\(finished)")
        let words = finished.output.split(whereSeparator: { " \n".contains($0) }).map(String.init)
        try #require(words.count == 2, "\(finished)")
        #expect(!FileManager.default.fileExists(atPath: words[0]))
        #expect(try shell("mock-apns health --admin-port \(words[1])").error.hasSuffix("Connection refused\n"))
    }

    @Test("with-mock-apns takes a folder of credentials, which stays, and says how it is used")
    func withCredentials() throws {
        let folder = try OutputFolder.made()
        for flag in ["--credentials \(folder.path)/cr", "--credentials=\(folder.path)/cr"] {
            let finished = try shell(
                "\"$examples/with-mock-apns\" \(flag) -- sh -c 'echo \"$MOCK_APNS_CREDENTIALS $TOKEN\"'")
            #expect(finished.status == 0 && finished.output.hasPrefix("\(folder.path)/cr bearer "), "\(finished)")
        }
        #expect(FileManager.default.fileExists(atPath: folder.path + "/cr/ca.pem"))
        let help = try shell("\"$examples/with-mock-apns\" --help")
        #expect(help.status == 0 && help.error.isEmpty && help.output.contains("-- COMMAND"), "\(help)")
    }

    @Test("A folder of credentials is handed on as an absolute path, and standard input to the command")
    func relativeCredentials() throws {
        let folder = try OutputFolder.made()
        let finished = try shell(
            "cd \(folder.path) && echo hello | \"$examples/with-mock-apns\" --credentials cr -- "
                + "sh -c 'cat; cd /; test -f \"$MOCK_APNS_CREDENTIALS/ca.pem\"'")
        #expect(finished.status == 0 && finished.output == "hello\n", "\(finished)")
    }

    @Test(
        "A signal to with-mock-apns ends the command, the mock and the folder, and SIGKILL the mock at least",
        arguments: ["TERM", "KILL"])
    func signals(_ signal: String) throws {
        let folder = try OutputFolder.made()
        let command =
            #"trap "exit 9" TERM; echo "$MOCK_APNS_CREDENTIALS $MOCK_APNS_PORT $$" > "$0.new"; mv "$0.new" "$0"; "#
            + "while :; do sleep 0.1; done"
        let lines = """
            "$examples/with-mock-apns" --admin-port 0 -- sh -c '\(command)' \(folder.path)/said & wrapper=$!
            until [ -e \(folder.path)/said ]; do sleep 0.05; done
            kill -\(signal) $wrapper; wait $wrapper; echo status $?
            read -r credentials port command < \(folder.path)/said
            if [ \(signal) = KILL ]; then kill $command; rm -r "${credentials%/*}"; fi
            for n in $(seq 600); do (: < /dev/tcp/127.0.0.1/$port) 2> /dev/null || break; sleep 0.05; done
            [ $n -lt 600 ] && echo gone; [ -e "$credentials" ] || echo removed
            """
        // The tests' threads block signals, and what they start would too.
        let unblocked =
            "import os, signal, sys; signal.pthread_sigmask(signal.SIG_SETMASK, []); os.execv('/bin/bash', ['bash'] + sys.argv[1:])"
        let script = try folder.script("lines", lines)
        let finished = try shell("\(Self.python) -c \"\(unblocked)\" -m \(script)")
        let status = signal == "KILL" ? 137 : 9
        #expect(finished.output == "status \(status)\ngone\nremoved\n", "\(finished)")
    }

    @Test("Several with-mock-apns run at once, each with a mock of its own")
    func several() throws {
        let push = #"sh "$examples/push.sh" "$MOCK_APNS_CREDENTIALS" "$MOCK_APNS_PORT" $(mock-apns device-token 0)"#
        let one = "\"$examples/with-mock-apns\" -- sh -c '\(push) && curl -s \"$MOCK_APNS_ADMIN/stats\"'"
        let folder = try OutputFolder.made()
        let finished = try shell(
            "for n in 1 2 3; do \(one) > \(folder.path)/$n & done; wait; grep -l '\"accepted\" *: *1[,}]' \(folder.path)/*"
        )
        #expect(finished.status == 0 && finished.output.split(separator: "\n").count == 3, "\(finished)")
    }

    @Test("A mock that does not start, and a missing command, are said and fail")
    func refused() throws {
        let flag = try shell("\"$examples/with-mock-apns\" --no-such-flag -- true")
        #expect(flag.status == 1 && flag.error.contains("--no-such-flag"), "\(flag)")
        #expect(flag.error.hasSuffix("with-mock-apns: mock-apns did not start\n"), "\(flag)")
        for arguments in ["", "--port 0", "--"] {
            let finished = try shell("\"$examples/with-mock-apns\" \(arguments)")
            #expect(
                finished.status == 64
                    && finished.error == "with-mock-apns: expected a command, as in: with-mock-apns -- go test ./...\n",
                "\(finished)")
        }
    }
}
