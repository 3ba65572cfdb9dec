import Foundation
import Networking
import Testing

/// What documents tell their readers to run is run, by `Tests/documents.py`.
@Suite(.waitsForPrograms) struct DocumentTests {
    private static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().path

    /// Of the whole project but its tests and benchmarks, with a block in it or, for CI, a call of pushload.
    private static let documents: [String] = {
        let places = ["README.md", "CONTRIBUTING.md", "docs", "mock-apns", "results", "deploy", "scenarios"]
        let files = places.flatMap { place -> [String] in
            let below = FileManager.default.enumerator(atPath: root + "/" + place)?.compactMap { $0 as? String } ?? []
            return below.isEmpty ? [place] : below.map { "\(place)/\($0)" }
        }
        return files.filter { file in
            guard !file.hasPrefix("results/runs/"), !file.contains("/.build/"),
                file.hasSuffix(".md") || file.hasSuffix(".yml"),
                let text = try? String(contentsOfFile: root + "/" + file, encoding: .utf8)
            else { return false }
            return text.contains("\n```") || (file.hasSuffix(".yml") && text.contains(".build/release/pushload"))
        }.sorted()
    }()

    @Test("Every command of the documents runs, and prints what is shown beside it")
    func documents() throws {
        let python = Self.root + "/.build/python/bin/python3"
        try #require(FileManager.default.isExecutableFile(atPath: python), "run make test-deps first")
        let finished = try Programs.run(
            python, [Self.root + "/Tests/documents.py", Programs.folder.path] + Self.documents)
        #expect(finished.status == 0, "\(finished.output)\n\(finished.error)")
    }

    @Test("A document that misleads its reader is found out: by status, by output, by what nobody reads")
    func misleading() throws {
        let folder = try OutputFolder.made()
        let path = folder.path + "/page.md"
        try """
        ```sh
        pushload run -n 20 --no-such-flag
        true # pushload run -n 20
        ```

        <!-- first: echo "3 of 4 in 12.5 ms" > said -->
        ```console
        $ cat said
        3 of 4 in 5 us
        $ cat said
        3 of 4 within 12.5 ms
        ```

        ```yaml
        rate: 20k
        ```

        <!-- read by: pushload check FILE -->
        ```yaml
        rte: 20k
        ```

        <!-- run: -c 9 => -c 1 -->
        ```sh
        true
        ```

        ```
        pushload run
        ```

        <!-- part of: Package.swift -->
        ```swift
        let package = Package(name: "another")
        ```

        # A heading: `with` code

        [that](#a-heading-with-code), [none](#a-heading), [no file](none.md)
        """.write(toFile: path, atomically: true, encoding: .utf8)
        let finished = try Programs.run(
            Self.root + "/.build/python/bin/python3", [Self.root + "/Tests/documents.py", Programs.folder.path, path])
        let problems = finished.error.split(separator: "\n").filter { $0.hasPrefix(path) }
        let expected = [
            ":1: status 64: pushload run -n 20 --no-such-flag", ":7: cat said: prints something else:",
            ":14: yaml: expected ", ":19: status 64: pushload check ", ":24: run: -c 9 => -c 1: nothing to change",
            ":28: ```: expected one of ", ":33: not in Package.swift", ": #a-heading: no such heading",
            ": none.md: no such file",
        ]
        #expect(finished.status == 1 && problems.count == expected.count, "\(finished)")
        for (problem, start) in zip(problems, expected) {
            #expect(problem.dropFirst(path.count).hasPrefix(start), "\(problem)")
        }
        #expect(finished.error.contains("shown, not printed: # of # within #"), "\(finished.error)")
    }

    @Test("A server that a document starts without a port listens on a free one: the default may be in use")
    func defaultPorts() throws {
        // Held here, or by somebody else already.
        let held = [2197, 2199, 8080].map { try? Listener(host: "127.0.0.1", port: $0, shared: false) }
        defer { withExtendedLifetime(held) {} }
        let folder = try OutputFolder.made()
        let path = folder.path + "/page.md"
        try """
        ```sh
        mock-apns --credentials creds --admin-port 2199
        mock-apns health
        mock-apns backend
        ```
        """.write(toFile: path, atomically: true, encoding: .utf8)
        let finished = try Programs.run(
            Self.root + "/.build/python/bin/python3", [Self.root + "/Tests/documents.py", Programs.folder.path, path])
        #expect(finished.status == 0 && finished.output.contains("3 commands, 0 problems"), "\(finished)")
    }

    @Test("README, the mock's pages and every page of docs with commands in it are among them")
    func found() {
        let expected = ["README.md", "docs/planning.md", "docs/ci/gitlab-ci.yml", "mock-apns/examples/README.md"]
        #expect(expected.allSatisfy(Self.documents.contains), "\(Self.documents)")
    }
}
