import Foundation
import Testing

/// The manifests of deploy/kubernetes, by the schemas of Kubernetes (kubernetes-validate from PyPI).
@Suite(.serialized, .waitsForPrograms) struct ManifestTests {
    private static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().path
    private static let manifests = root + "/deploy/kubernetes"

    private func files(_ folder: String) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder).filter { $0.hasSuffix(".yaml") }.sorted()
            .map { folder + "/" + $0 }
    }

    private func check(_ arguments: [String]) throws -> Finished {
        let python = Self.root + "/.build/python/bin/python3"
        try #require(FileManager.default.isExecutableFile(atPath: python), "run make test-deps first")
        return try Programs.run(python, [Self.root + "/Tests/EndToEndTests/Python/manifests.py"] + arguments)
    }

    @Test("Kubernetes takes every manifest, their names and counts agree, and the scenario in them can be run")
    func manifests() throws {
        let folder = try OutputFolder.made()
        let scenario = folder.path + "/scenario.yaml"
        let finished = try check(["--scenario", scenario] + files(Self.manifests))
        #expect(finished.status == 0 && finished.output.hasSuffix(" 0 problems\n"), "\(finished)")
        let checked = try Programs.run("pushload", ["scenario", "check", scenario])
        #expect(checked.status == 0 && checked.output.contains("can be run"), "\(checked)")
    }

    @Test("The image that the Dockerfile makes has the user and the programs that the manifests name")
    func image() throws {
        let recipe = try String(contentsOfFile: Self.root + "/Dockerfile", encoding: .utf8)
        #expect(recipe.contains("\nUSER 10001:10001\n") && recipe.contains("useradd --uid 10001 --gid 10001 "))
        let mocks = try String(contentsOfFile: Self.manifests + "/mocks.yaml", encoding: .utf8)
        #expect(mocks.contains("command: [mock-apns, serve]") && recipe.contains("ENTRYPOINT [\"mock-apns\"]"))
    }

    @Test(
        "A manifest with a mistake is found out",
        arguments: [
            ("workers.yaml", "backoffLimitPerIndex:", "backoffLimitPerIndx:", "'backoffLimitPerIndx' was unexpected"),
            ("workers.yaml", "completions: 4", "completions: four", "spec.completions: 'four' is not of type"),
            ("workers.yaml", "parallelism: 4", "parallelism: 5", "completions, parallelism and WORKERS differ: 4, 5"),
            ("mocks.yaml", "port: admin", "port: adm", "is probed at adm, which is no port of it"),
            ("mocks.yaml", "claimName: runs", "claimName: run", "mounts PersistentVolumeClaim/run, which is not there"),
            (
                "reader.yaml", "pushload:latest", "mock-apns:latest",
                "containers of registry.example.com/mock-apns:latest as 10001, registry.example.com/pushload:latest as 10001"
            ),
            (
                "workers.yaml", "runAsUser: 10001", "runAsUser: 10002",
                "registry.example.com/pushload:latest as 10002: expected one image, as the user of the Dockerfile"
            ),
            ("network.yaml", "mock-apns", "mock", "selects no pod: {'app.kubernetes.io/name': 'mock'}"),
        ])
    func mistakes(_ file: String, _ right: String, _ wrong: String, _ problem: String) throws {
        let folder = try OutputFolder.made()
        for path in try files(Self.manifests) {
            var text = try String(contentsOfFile: path, encoding: .utf8)
            if path.hasSuffix("/" + file) {
                try #require(text.contains(right))
                text = text.replacingOccurrences(of: right, with: wrong)
            }
            try text.write(
                toFile: folder.path + "/" + URL(fileURLWithPath: path).lastPathComponent, atomically: true,
                encoding: .utf8)
        }
        let finished = try check(files(folder.path))
        #expect(finished.status == 1 && finished.output.contains(problem), "\(finished)")
    }
}
