import Foundation
import Testing

/// What `mock-apns` alone gives to who writes a client: tokens, certificates for more names, and whether it is well.
@Suite(.serialized, .waitsForPrograms) struct MockToolTests {
    private let device = String(repeating: "0a", count: 32)

    @Test("The provider token of mock-apns token is taken by the mock, an old one refused, as that of pushload")
    func token() throws {
        let mock = try Mock()
        func status(_ program: String, _ more: [String]) throws -> String {
            let token = try Programs.run(program, ["token", "--credentials", mock.folder] + more)
            #expect(token.status == 0 && token.output.hasPrefix("bearer ") && token.output.hasSuffix("\n"), "\(token)")
            return try Programs.run(
                "/usr/bin/curl",
                [
                    "-s", "--http2", "--cacert", mock.folder + "/ca.pem", "-w", " %{http_code}",
                    "\(mock.url)/3/device/\(device)", "-H", "authorization: " + token.output.dropLast(), "-H",
                    "apns-topic: com.example.app", "-d", #"{"aps":{"alert":"hi"}}"#,
                ]
            ).output
        }
        for program in ["mock-apns", "pushload"] {
            #expect(try status(program, []) == " 200")
            #expect(
                try status(program, ["--issued-at", "1700000000"]) == #"{"reason":"ExpiredProviderToken"} 403"#)
        }
        _ = try mock.stop()
    }

    @Test("A token may be of another key id or team than the folder's, which the mock then refuses")
    func foreignToken() throws {
        let mock = try Mock()
        let token = try Programs.run(
            "mock-apns",
            ["token", "--credentials", mock.folder, "--key-id", "ABCDEFGHIJ", "--team-id", "TEAM567890"])
        _ = try mock.stop()
        let parts = token.output.dropFirst(7).split(separator: ".").map { part in
            let text = part.replacingOccurrences(of: "-", with: "+").replacingOccurrences(of: "_", with: "/")
            let padded = text + String(repeating: "=", count: (4 - text.count % 4) % 4)
            return String(decoding: Data(base64Encoded: padded) ?? Data(), as: UTF8.self)
        }
        #expect(parts[0].contains("ABCDEFGHIJ") && parts[1].contains("TEAM567890"), "\(token)")
    }

    @Test(
        "Flags that change nothing, or say what cannot be, are refused in one line",
        arguments: [
            ("--plaintext --key-id ABCDEFGHIJ", "--key-id needs --key"),
            (
                "--plaintext --client-ca ca.pem",
                "--client-ca is of TLS, which --plaintext leaves out; expected one of them"
            ),
            ("--plaintext --tls-min 1.3", "--tls-min is of TLS, which --plaintext leaves out; expected one of them"),
            (
                "--plaintext --ciphersuites TLS_AES_128_GCM_SHA256",
                "--ciphersuites is of TLS, which --plaintext leaves out; expected one of them"
            ),
            (
                "--tls-max 1.2 --ciphersuites TLS_AES_128_GCM_SHA256",
                "--ciphersuites are of TLS 1.3, which --tls-max 1.2 leaves out; expected one of them"
            ),
            (
                "--ciphersuites AES128",
                "no TLS 1.3 cipher suite \"AES128\"; expected for example TLS_AES_128_GCM_SHA256, several with : between them"
            ),
            ("--plaintext --san a.b", "--san is of TLS, which --plaintext leaves out; expected one of them"),
            ("--refuse-bad-certificates", "--refuse-bad-certificates needs --client-ca"),
            ("--cert-key k.pem", "--cert-key needs --cert"),
            ("--topic a/b", "--topic \"a/b\": expected a bundle id, as in com.example.app"),
            ("--san 10.1.2.300", "--san 10.1.2.300: expected a host name, such as mock.example.com, or an address"),
            ("--san https://a.b", "--san https://a.b: expected a host name, such as mock.example.com, or an address"),
            ("--keep-pushes -1", "--keep-pushes -1: cannot be negative"),
            ("--keep-pushes 10", "--keep-pushes goes with --admin-port, the pages it is about"),
            ("--admin-host ::1", "--admin-host goes with --admin-port, the pages it is about"),
            ("--reset-code CANCEL", "--reset-code goes with --reset, the share of pushes it is for"),
            ("--goaway-age 0s", "--goaway-age 0s: expected above 0"),
            ("--silent -1%", "--silent -1%: cannot be negative"),
            ("--write-timeout -1s", "--write-timeout -1s: cannot be negative"),
            ("--keep-pushes 0", "--keep-pushes 0: expected 1 to 1000000000"),
            ("--threads two", "--threads two: expected a number"),
            ("--silent true", "--silent: \"true\" is not a share; expected 100% for all, or for example 2% or 0.02"),
            (
                "--reject 502=2%",
                "--reject: \"502\" is no status that APNs answers; expected 400, 403, 404, 405, 410, 413, 429, 500, 503, a reason, or in a fault file answer: 502"
            ),
        ])
    func misuse(_ flags: String, _ line: String) throws {
        let words = flags.split(separator: " ").map(String.init)
        let finished = try Programs.run("mock-apns", ["--port", "0"] + words)
        #expect(
            finished.status == 64 && finished.output.isEmpty && finished.error == "mock-apns: \(line)\n", "\(finished)")
    }

    @Test(
        "A misspelt command, or a number that is none, is refused in one line",
        arguments: [
            ("exma", "no command \"exma\"; did you mean \"exam\"?"),
            ("help helth", "no command \"helth\"; did you mean \"health\"?"),
            ("device-token -1", "-1: cannot be negative"),
            (
                "exam --pushes 1e9",
                "--pushes: \"1e9\" is not a count; expected a whole number such as 5000, 10k or 1.5M"
            ),
        ])
    func misspelt(_ words: String, _ line: String) throws {
        let finished = try Programs.run("mock-apns", words.split(separator: " ").map(String.init))
        #expect(
            finished.status == 64 && finished.output.isEmpty && finished.error == "mock-apns: \(line)\n", "\(finished)")
        #expect(try Programs.run("mock-apns", ["help", "health"]).output.contains("Default: 2199"))
        #expect(
            try Programs.run("mock-apns", ["token", "--issued-at", "yesterday"]).error.contains("expected UNIX seconds")
        )
    }

    @Test("Counts have units, and a mock without a folder says that its certificate is not trusted")
    func counts() throws {
        let running = try Programs.start(
            "mock-apns",
            [
                "--port", "0", "--admin-port", "0", "--keep-pushes", "10k", "--max-concurrent-streams", "1k", "--topic",
                "a.b.voip",
            ])
        try running.waitFor("--credentials FOLDER makes one with its ca.pem")
        kill(running.process.processIdentifier, SIGTERM)
        let error = try running.wait().error
        #expect(
            error
                == "mock-apns: --topic a.b.voip: taken for a bundle id that ends so; for .voip pushes to a.b give a.b\n"
        )
    }

    @Test("A file of no keys is refused where nobody else gives one, and nothing but a recording is recorded over")
    func files() throws {
        let folder = try OutputFolder.made()
        let keys = folder.path + "/keys.yaml"
        try "keys: []\n".write(toFile: keys, atomically: true, encoding: .utf8)
        for (arguments, line) in [
            (["--keys", keys], "\(keys): keys: expected at least one, or one of --key or --credentials beside it"),
            (
                ["--record", keys],
                "--record \(keys): is there and no recording; expected a new file, or a recording to replace"
            ),
        ] {
            let finished = try Programs.run("mock-apns", ["--port", "0", "--plaintext"] + arguments)
            #expect(finished.status == 64 && finished.error == "mock-apns: \(line)\n", "\(finished)")
        }
        #expect(try String(contentsOfFile: keys, encoding: .utf8) == "keys: []\n")
    }

    @Test(
        "What is no regular file or pipe is not read without end",
        arguments: [
            ("--keys", "key file"), ("--faults", "fault file"), ("--device-file", "device file"),
            ("--device-model", "device model"),
        ])
    func devices(_ flag: String, _ what: String) throws {
        let finished = try Programs.run("mock-apns", ["--port", "0", "--plaintext", flag, "/dev/zero"])
        #expect(
            finished.status == 64 && finished.error == "mock-apns: the \(what) /dev/zero is no regular file or pipe\n",
            "\(finished)")
    }

    @Test("A file of keys or rules has at most 16 MiB, and may come through a pipe")
    func pipes() throws {
        let mock = "exec \(Programs.path("mock-apns")) --port 0 --plaintext --until-stdin-closes < /dev/null"
        for (flag, what) in [("--keys", "key file"), ("--faults", "fault file")] {
            let large = try Programs.run("/bin/bash", ["-c", "\(mock) \(flag) <(yes 2>/dev/null)"])
            #expect(
                large.status == 64 && large.error.hasPrefix("mock-apns: the \(what) /dev/fd/")
                    && large.error.hasSuffix(" is larger than 16 MiB\n"), "\(large)")
        }
        let piped = try Programs.run("/bin/bash", ["-c", "\(mock) --faults <(echo '{rules: []}')"])
        #expect(piped.status == 0 && piped.error.isEmpty, "\(piped)")
    }

    @Test(
        "A token for nobody is refused in one line",
        arguments: [
            (["token"], "give --credentials, or --key with --key-id and --team-id"),
            (["token", "--key", "k.p8"], "--key needs --key-id and --team-id"),
            (
                ["token", "--credentials", "/nonexistent"],
                "cannot read /nonexistent/AuthKey.p8: No such file or directory"
            ),
            (["device-token", "x"], "device: \"x\" is not a count; expected a whole number such as 5000, 10k or 1.5M"),
            (["device-token", "0", "--count", "0"], "--count 0: expected at least 1, and no device beyond 2^64"),
        ])
    func refused(_ arguments: [String], _ line: String) throws {
        let finished = try Programs.run("mock-apns", arguments)
        #expect(
            finished.status == 64 && finished.output.isEmpty && finished.error == "mock-apns: \(line)\n", "\(finished)")
    }

    @Test("Both programs print the same device tokens")
    func deviceTokens() throws {
        for (arguments, count) in [
            (["0"], 1), (["10k", "--count", "3"], 3), (["7", "--seed", "5", "--count", "99"], 99),
        ] {
            let ours = try Programs.run("mock-apns", ["device-token"] + arguments)
            #expect(ours.status == 0 && ours.output.count { $0 == "\n" } == count, "\(ours)")
            #expect(try Programs.run("pushload", ["device-token"] + arguments).output == ours.output)
        }
    }

    @Test("--san adds names and addresses to a certificate that is there, which clients find by them")
    func names() throws {
        let first = try Mock()
        _ = try first.stop()
        let again = try Programs.start(
            "mock-apns",
            ["--port", "0", "--credentials", first.folder, "--san", "mock.test", "--server-name", "10.1.2.3"])
        try again.waitFor("made \(first.folder)/server.pem")
        let port = String(again.text.split(separator: "\n")[0].split(separator: ":").last!)
        // Wherever these are, they are this machine to curl.
        for host in ["mock.test", "10.1.2.3", "localhost"] {
            let found = try Programs.run(
                "/usr/bin/curl",
                [
                    "-sS", "--http2", "--cacert", first.folder + "/ca.pem", "--connect-to",
                    "\(host):\(port):127.0.0.1:\(port)",
                    "https://\(host):\(port)/",
                ])
            #expect(found.status == 0 && found.output.contains("MethodNotAllowed"), "\(host): \(found)")
        }
        let other = try Programs.run(
            "/usr/bin/curl",
            [
                "-sS", "--cacert", first.folder + "/ca.pem", "--connect-to", "other.test:\(port):127.0.0.1:\(port)",
                "https://other.test:\(port)/",
            ])
        #expect(other.status == 60, "\(other)")
        kill(again.process.processIdentifier, SIGTERM)
        #expect(try again.wait().error.isEmpty)
        // Without the authority's key no other can be made.
        try FileManager.default.removeItem(atPath: first.folder + "/ca.key")
        let refused = try Programs.run(
            "mock-apns", ["--port", "0", "--credentials", first.folder, "--san", "other.test"])
        #expect(
            refused.status == 64 && refused.output.isEmpty
                && refused.error
                    == "mock-apns: --san other.test: \(first.folder)/server.pem is not for other.test, and was not made "
                    + "anew: there is no ca.key to sign another with; remove ca.pem, server.pem and server.key to have new ones made\n",
            "\(refused)")
    }

    @Test("A certificate that ends soon is made anew as the mock starts; without the authority's key that is said")
    func ending() throws {
        let first = try Mock()
        _ = try first.stop()
        let (folder, kept) = (first.folder, try OutputFolder.made())
        let made = try Programs.run(
            "/usr/bin/openssl",
            [
                "req", "-x509", "-key", folder + "/server.key", "-out", folder + "/server.pem", "-days", "10", "-subj",
                "/CN=mock", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1,DNS:mock.test",
            ])
        try #require(made.status == 0, "\(made)")
        try FileManager.default.moveItem(atPath: folder + "/ca.key", toPath: kept.path + "/ca.key")
        func run(_ said: String) throws -> (finished: Finished, curl: Finished) {
            let running = try Programs.start("mock-apns", ["--port", "0", "--credentials", folder])
            try running.waitFor(said)
            let port = String(running.text.split(separator: "\n")[0].split(separator: ":").last!)
            let curl = try Programs.run(
                "/usr/bin/curl", ["-sS", "--http2", "--cacert", folder + "/ca.pem", "https://localhost:\(port)/"])
            kill(running.process.processIdentifier, SIGTERM)
            return (try running.wait(), curl)
        }
        let without = try run("listening on ")
        #expect(
            without.finished.status == 0 && without.finished.error.split(separator: "\n").count == 1
                && without.finished.error.hasPrefix("mock-apns: \(folder)/server.pem ends on ")
                && without.finished.error.contains("there is no ca.key to sign another with"), "\(without)")
        #expect(without.curl.error.contains("certificate"), "\(without)")
        try FileManager.default.moveItem(atPath: kept.path + "/ca.key", toPath: folder + "/ca.key")
        let renewed = try run("made \(folder)/server.pem")
        #expect(renewed.finished.error.isEmpty && renewed.curl.output.contains("MethodNotAllowed"), "\(renewed)")
        let names = try Programs.run(
            "/usr/bin/openssl",
            ["verify", "-CAfile", folder + "/ca.pem", "-verify_hostname", "mock.test", folder + "/server.pem"])
        #expect(names.status == 0, "\(names)")
    }

    @Test("health says whether a mock answers at its admin port")
    func health() throws {
        let mock = try Mock(["--admin-port", "0"])
        let port = try mock.port(of: "admin")
        let well = try Programs.run("mock-apns", ["health", "--admin-port", port])
        #expect(well.status == 0 && well.output == "ok\n" && well.error.isEmpty, "\(well)")
        let other = try Programs.run("mock-apns", ["health", "--admin-port", mock.port])
        #expect(
            other.status == 1 && other.output.isEmpty && other.error.contains("127.0.0.1:\(mock.port): "), "\(other)")
        _ = try mock.stop()
        let gone = try Programs.run("mock-apns", ["health", "--admin-port", port])
        #expect(
            gone.status == 1 && gone.error == "mock-apns: 127.0.0.1:\(port): Connection refused\n", "\(gone)")
    }
}
