import Foundation
import Glibc
import Results

/// Runs of a pushload executable as child processes, so that versions can be held against each other, each with a peak of
/// memory of its own.
package struct ChildRun: Sendable {
    /// With symbolic links followed.
    package let executable: String
    /// What `--version` says.
    package let version: String
    /// The bundled mock it uses when it is given no target: the one beside it.
    package let mock: String

    /// - Parameters:
    ///   - path: nil: the program that is running.
    ///   - origin: how the path was given, for messages.
    ///   - patience: how long it may take to say its version, seconds.
    /// - Throws: one line when it is no pushload.
    package init(_ path: String?, origin: String, patience: Int = 20) async throws(HarnessError) {
        let given = path ?? "/proc/self/exe"
        executable = URL(fileURLWithPath: given).resolvingSymlinksInPath().path
        var isFolder: ObjCBool = false
        func refusal(_ what: String) -> HarnessError {
            HarnessError("\(origin) \(given): \(what); expected a pushload executable")
        }
        guard FileManager.default.fileExists(atPath: executable, isDirectory: &isFolder) else {
            throw refusal("no such program")
        }
        guard !isFolder.boolValue else { throw refusal("a folder") }
        guard FileManager.default.isExecutableFile(atPath: executable) else { throw refusal("not executable") }
        mock = URL(fileURLWithPath: executable).deletingLastPathComponent().appendingPathComponent("mock-apns").path
        let said: String?
        do { said = try await Self.version(of: executable, within: patience) } catch {
            throw HarnessError("\(origin) \(given): cannot be run: \(error)")
        }
        guard let answer = said else { throw refusal("no answer to --version within \(patience) s") }
        version = answer.trimmingCharacters(in: .whitespacesAndNewlines)
        guard version.wholeMatch(of: /\d+\.\d+\.\d+\S*/) != nil else {
            throw HarnessError("\(origin) \(given): not a pushload: --version says \"\(Self.line(answer))\"")
        }
    }

    /// Makes one run; the exit status may say that pushes failed, as long as there is a result.
    ///
    /// - Parameters:
    ///   - arguments: of `run`, without where results go.
    ///   - series: may stop it.
    /// - Returns: nil when it was stopped.
    package func execute(
        _ arguments: [String], in series: RunSeries
    ) async throws(HarnessError) -> ResultDocument? {
        let scratch = try ScratchFolder()
        defer { withExtendedLifetime(scratch) {} }
        let folder = scratch.path + "/runs"
        let ended: (end: ChildProcess.End, output: String, error: String)
        do {
            ended = try await Self.run(
                executable, ["run"] + arguments + ["--quiet", "--output", folder], in: series)
        } catch { throw HarnessError("\(executable): cannot be run: \(error)") }
        if series.isStopped { return nil }
        let runs = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        let path = runs.count == 1 ? "\(folder)/\(runs[0])/result.json" : ""
        guard FileManager.default.fileExists(atPath: path) else {
            throw HarnessError(
                "\(executable): wrote no result (\(Self.described(ended.end))): \(Self.line(ended.error))",
                ended.end.kind)
        }
        do throws(ResultError) {
            return try ResultFile.decode(
                Array(FileManager.default.contents(atPath: path) ?? Data()), origin: "result of \(executable)")
        } catch { throw HarnessError(error.description) }
    }

    /// Has one of its hidden commands answer an order.
    ///
    /// - Parameters:
    ///   - order: what it reads on its standard input.
    ///   - series: may stop it.
    /// - Returns: why it did not go well, nil when it did; what it printed, and what it printed on standard error, up to a megabyte each.
    ///   nil when it was stopped.
    /// - Throws: one line when it cannot be started.
    package func answer(
        _ command: String, to order: Data, in series: RunSeries
    ) async throws(HarnessError) -> (problem: HarnessError.Kind?, output: String, error: String)? {
        let ended: (end: ChildProcess.End, output: String, error: String)
        do { ended = try await Self.run(executable, [command], sent: order, in: series) } catch {
            throw HarnessError("\(executable): cannot be run: \(error)", .failed)
        }
        if series.isStopped { return nil }
        var problem = HarnessError.Kind.failed
        if case .exited(let code) = ended.end {
            if code == 0 { return (nil, ended.output, ended.error) }
            problem = HarnessError.Kind(rawValue: code) ?? .failed
        }
        return (problem, ended.output, ended.error.isEmpty ? Self.described(ended.end) + "\n" : ended.error)
    }

    /// nil when it takes longer. What it has started itself may still hold its output then, and is not waited for.
    private static func version(of path: String, within seconds: Int) async throws -> String? {
        let child = try ChildProcess(path, ["--version"], keepsErrors: true)
        return await withTaskGroup(of: String?.self) { group in
            group.addTask { await child.output().output }
            group.addTask {
                try? await Task.sleep(for: .seconds(seconds))
                return nil
            }
            let first = await group.next() ?? nil
            if first == nil { child.send(SIGKILL) }
            group.cancelAll()
            return first
        }
    }

    private static func run(
        _ path: String, _ arguments: [String], sent: Data? = nil, in series: RunSeries? = nil
    ) async throws -> (end: ChildProcess.End, output: String, error: String) {
        defer { series?.end() }
        let child = try ChildProcess(path, arguments, sent: sent, keepsErrors: true)
        if let series, !series.begin(stopping: { child.send(SIGINT) }) { child.send(SIGINT) }
        return await child.output()
    }

    private static func described(_ end: ChildProcess.End) -> String {
        switch end {
        case .exited(let code): "exit status \(code)"
        case .signaled(let signal): "signal \(signal)"
        }
    }

    /// The first line of an output, cut where it is long.
    package static func line(_ text: String) -> String {
        let line = text.split(whereSeparator: \.isNewline).first.map(String.init) ?? "no word why"
        return String(line.prefix(200))
    }
}
