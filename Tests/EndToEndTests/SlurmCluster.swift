import Foundation
import Testing

/// A Slurm cluster on this machine, as deploy/slurm/one-host makes it, until this object goes away. Needs root and Slurm's packages.
final class SlurmCluster {
    static let jobs =
        URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().path + "/deploy/slurm"

    private let running: Running
    /// The cluster's, for programs that are to find it; the tested ones first on the path.
    let environment: [String: String]
    private var folder: String { (environment["SLURM_CONF"]! as NSString).deletingLastPathComponent }

    /// - Parameter variables: for what runs in the cluster, too.
    init(nodes: Int, _ variables: [String: String] = [:]) throws {
        running = try Running(
            Self.jobs + "/one-host", ["--nodes", String(nodes), "sh", "-c", "echo $SLURM_CONF && exec cat"])
        try wait(for: "a cluster") { [running] in running.text.hasSuffix("\n") || !running.process.isRunning }
        try #require(running.process.isRunning, "\(running.errorText)")
        let path = "\(Programs.folder.path):\(ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin")"
        environment = ["SLURM_CONF": String(running.text.dropLast()), "PATH": path].merging(variables) { $1 }
    }

    deinit {
        // Threads of tests may have SIGTERM blocked, and so have the scripts that they start.
        running.closeInput()
        _ = try? running.wait()
    }

    func start(_ arguments: [String]) throws -> Running {
        try Running("/usr/bin/env", arguments, environment: environment)
    }

    func run(_ arguments: [String]) throws -> Finished { try start(arguments).wait() }

    /// Submits a job; returns its id.
    func submit(_ arguments: [String]) throws -> String {
        let finished = try run(["sbatch", "--parsable"] + arguments)
        try #require(finished.status == 0, "\(finished)")
        return finished.output.trimmingCharacters(in: .newlines)
    }

    func state(of job: String) throws -> String {
        try run(["squeue", "--noheader", "--states", "all", "--format", "%T", "--jobs", job]).output
            .trimmingCharacters(in: .newlines)
    }

    /// A node that loses its power: its daemon, the steps on it and their tasks end at once, and tell nobody.
    ///
    /// - Parameter tasks: of these processes, those that run there.
    func lose(_ node: String, tasks: [Int32]) throws {
        let daemon = try String(contentsOfFile: "\(folder)/\(node).pid", encoding: .utf8)
        let here = tasks.filter { environment(of: $0).contains("SLURMD_NODENAME=\(node)") }
        try #require(!here.isEmpty, "no task on \(node)")
        let steps = Set(here.compactMap(parent(of:)))
        let all = [try #require(Int32(daemon.trimmingCharacters(in: .newlines)))] + steps + here
        for process in all { kill(process, SIGKILL) }
        try wait(for: "the end of \(node)") { here.allSatisfy { kill($0, 0) != 0 } }
    }

    private func environment(of process: Int32) -> [String] {
        let bytes = FileManager.default.contents(atPath: "/proc/\(process)/environ") ?? Data()
        return bytes.split(separator: 0).map { String(decoding: $0, as: UTF8.self) }
    }

    private func parent(of process: Int32) -> Int32? {
        let status = FileManager.default.contents(atPath: "/proc/\(process)/status") ?? Data()
        let line = String(decoding: status, as: UTF8.self).split(separator: "\n").first { $0.hasPrefix("PPid:") }
        return line.flatMap { Int32($0.split(separator: "\t")[1]) }
    }
}
