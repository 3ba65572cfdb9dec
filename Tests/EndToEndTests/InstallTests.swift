import Foundation
import Testing

/// What `make install` puts where; `make test-deb` installs the package of the same in a bare Debian.
@Suite(.serialized, .waitsForPrograms) struct InstallTests {
    private static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().path

    private func install(_ prefix: String, _ destination: String) throws -> Finished {
        try Programs.run(Self.root + "/packaging/install", [Programs.folder.path, prefix, destination])
    }

    private func text(_ path: String) throws -> String {
        let finished = try Programs.run("/bin/sh", ["-c", "case $1 in *.gz) zcat $1;; *) cat $1;; esac", "sh", path])
        try #require(finished.status == 0, "\(finished.error)")
        return finished.output
    }

    @Test(
        "A warning ends a build of CI, and no other",
        arguments: [".", "Benchmarks", "Benchmarks/peers/nio", "Tests/Fuzzing", "Tests/Simulation"])
    func warnings(_ package: String) throws {
        let scratch = try OutputFolder.made()
        func manifest(_ setting: String) throws -> String {
            let finished = try Programs.start(
                "/usr/bin/env",
                [
                    "swift", "package", "--scratch-path", scratch.path, "--package-path", "\(Self.root)/\(package)",
                    "dump-package",
                ],
                environment: ["WARNINGS_AS_ERRORS": setting]
            ).wait()
            try #require(finished.status == 0, "\(finished)")
            return finished.output
        }
        #expect(try !manifest("").contains("treatAllWarnings"))
        #expect(try manifest("1").contains("treatAllWarnings"))
        let ci = try String(contentsOfFile: Self.root + "/.ci/run", encoding: .utf8)
        #expect(ci.contains("\nexport WARNINGS_AS_ERRORS=1\n"))
    }

    @Test("Both programs run where they are installed, with pages, completions and the unit made for that place")
    func installed() throws {
        let folder = try OutputFolder.made()
        let finished = try install("/usr", folder.path)
        try #require(finished.status == 0 && finished.output.isEmpty, "\(finished)")
        let usr = folder.path + "/usr"
        let version = try Programs.run("pushload", ["--version"]).output
        for program in ["pushload", "mock-apns"] {
            #expect(try Programs.run("\(usr)/bin/\(program)", ["--version"]).output == version)
            let completion = "\(usr)/share/bash-completion/completions/\(program)"
            #expect(try Programs.run("/bin/bash", ["-n", completion]).status == 0)
            #expect(try text("\(usr)/share/zsh/vendor-completions/_\(program)").hasPrefix("#compdef \(program)\n"))
            #expect(
                try text("\(usr)/share/fish/vendor_completions.d/\(program).fish").contains("complete -c '\(program)'"))
        }
        #expect(try Programs.run("\(usr)/bin/pushload", ["scenario", "list"]).output.contains("sports-night"))
        let unit = try text("\(usr)/lib/systemd/system/mock-apns.service")
        #expect(
            unit.contains("\nExecStart=/usr/bin/mock-apns serve $MOCK_APNS_FLAGS\n")
                && unit.contains("\nEnvironmentFile=/etc/default/mock-apns\n") && !unit.contains("@BINDIR@"))
    }

    @Test("A manual page for each command has every flag that its --help-all lists, and none that is nobody's")
    func pages() throws {
        let folder = try OutputFolder.made()
        for program in ["pushload", "mock-apns"] {
            let made = try Programs.run(
                Self.root + "/packaging/manual.py", [Programs.path(program), folder.path])
            #expect(made.status == 0, "\(made)")
        }
        for words in [
            ["pushload", "run"], ["pushload", "audience", "make"], ["pushload", "gate"], ["mock-apns", "serve"],
        ] {
            let page = try text("\(folder.path)/\(words.joined(separator: "-")).1").replacing("\\-", with: "-")
            let help = try Programs.run(words[0], words.dropFirst() + ["--help-hidden"]).output
            for line in help.split(separator: "\n") where line.hasPrefix("  -") {
                let flags = line.split(whereSeparator: { " ,/".contains($0) }).filter { $0.hasPrefix("--") }
                for flag in flags.prefix(1) where !["--version", "--help"].contains(flag) {
                    #expect(page.contains("\\fB\(flag)\\fR"), "\(words) \(flag)")
                }
            }
            #expect(!page.contains("inject-cpu-ns"))
        }
        // Lines that groff would take for requests of its own.
        let pages = try FileManager.default.contentsOfDirectory(atPath: folder.path)
        #expect(pages.count > 25)
        let requests: Set<String> = ["TH", "SH", "SS", "TP", "PP", "nf", "fi"]
        for name in pages {
            for line in try text(folder.path + "/" + name).split(separator: "\n") where line.hasPrefix(".") {
                let word = line.dropFirst().prefix { !" \n".contains($0) }
                #expect(requests.contains(String(word)), "\(name): \(line)")
            }
        }
    }

    @Test("Settings that are there already stay; a prefix that is no absolute path is refused before anything is made")
    func again() throws {
        let folder = try OutputFolder.made()
        #expect(try install("/opt/pushload", folder.path).status == 0)
        let settings = folder.path + "/opt/pushload/etc/default/mock-apns"
        #expect(try text(settings).contains("\nMOCK_APNS_FLAGS="))
        try "MOCK_APNS_FLAGS=mine".write(toFile: settings, atomically: true, encoding: .utf8)
        #expect(try install("/opt/pushload", folder.path).status == 0)
        #expect(try text(settings) == "MOCK_APNS_FLAGS=mine")
        let other = try OutputFolder.made()
        let refused = try install("usr", other.path + "/x")
        #expect(
            refused.status == 64
                && refused.error == "install: PREFIX \"usr\": expected an absolute path, such as /usr/local\n",
            "\(refused)")
        #expect(try FileManager.default.contentsOfDirectory(atPath: other.path).isEmpty)
    }
}
