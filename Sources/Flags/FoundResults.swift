import Foundation
import Harness
import Results
import Settings

/// Results as people name them: by a file, a run's folder, or a folder of runs. Each run is there once, however often it was
/// named or copied.
package struct FoundResults {
    package private(set) var runs: [(path: String, result: ResultDocument)] = []
    /// What cannot be used, and why.
    package private(set) var leftOut: [LeftOutResult] = []
    /// Files that were named again.
    package private(set) var repeated: [String] = []
    /// Files that were looked at, without links and `..`.
    private var seen: Set<String> = []

    /// - Parameters:
    ///   - reason: leaves out a run for what it says of it, if anything.
    ///   - mayBeUnusable: whoever asks says what it means that none can be used.
    /// - Throws: one line when a path is not there or holds no result, or one for each result when none can be used.
    package init(
        _ paths: [String], mayBeUnusable: Bool = false, leavingOut reason: (ResultDocument) -> String? = { _ in nil }
    ) throws(HarnessError) {
        for path in paths {
            let files = try Self.files(path)
            guard !files.isEmpty else {
                throw HarnessError("\(path): no result found; expected a result.json there, or in a folder below")
            }
            for file in files { add(file, reason) }
        }
        guard mayBeUnusable || !runs.isEmpty else {
            throw HarnessError(leftOut.map { "\($0.path): \($0.reason)" }.joined(separator: "\n"))
        }
    }

    /// Says of runs that were interrupted or are incomplete that they are, and `why` it matters.
    package static func incomplete(_ result: ResultDocument, _ why: String) -> String? {
        guard result.run.interrupted || !result.run.complete else { return nil }
        return "the run \(result.run.interrupted ? "was interrupted" : "is incomplete"); \(why)"
    }

    private mutating func add(_ file: String, _ reason: (ResultDocument) -> String?) {
        guard seen.insert(Self.place(file)).inserted else {
            repeated.append(file)
            return
        }
        let result: ResultDocument
        do throws(ResultError) { result = try ResultFile.read(file) } catch {
            // The error names the file, which its list does too.
            let text = error.description
            let isNamed = text.hasPrefix(file + ": ")
            leftOut.append(.init(path: file, reason: isNamed ? String(text.dropFirst(file.count + 2)) : text))
            return
        }
        if let reason = reason(result) {
            leftOut.append(.init(path: file, reason: reason))
        } else if let index = runs.firstIndex(where: { $0.result.run.id == result.run.id }) {
            // What was written while it went on is less than what was at its end.
            let isMore = runs[index].result.isPartial && !result.isPartial
            let twin = isMore ? runs[index].path : file
            if isMore { runs[index] = (file, result) }
            leftOut.append(.init(path: twin, reason: "the same run as \(runs[index].path)"))
        } else {
            runs.append((file, result))
        }
    }

    /// The same for every name of a file.
    package static func place(_ file: String) -> String { URL(fileURLWithPath: file).resolvingSymlinksInPath().path }

    /// The file itself, the folder's own result.json, or every one below the folder, in order of their paths.
    package static func files(_ path: String) throws(HarnessError) -> [String] {
        var isFolder: ObjCBool = false
        guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) else {
            throw HarnessError("\(path): no such file or folder; expected a result.json or a folder of runs")
        }
        guard isFolder.boolValue else { return [path] }
        let folder = path.hasSuffix("/") ? path : path + "/"
        if FileManager.default.fileExists(atPath: folder + "result.json") { return [folder + "result.json"] }
        let below = FileManager.default.enumerator(atPath: path)?.compactMap { $0 as? String } ?? []
        return below.filter { $0.hasSuffix("/result.json") }.sorted().map { folder + $0 }
    }

    private static let mostNamed = 3

    /// Says on standard error what was left out: how many of how many, and of each kind of reason the first few by name.
    package func tell() {
        guard !leftOut.isEmpty else { return }
        Console.error("left out \(leftOut.count) of \(Units.counted(leftOut.count + runs.count, "result")):")
        var kinds: [String] = []
        let groups = Dictionary(grouping: leftOut) { result in
            let kind = Self.kind(result.reason)
            if !kinds.contains(kind) { kinds.append(kind) }
            return kind
        }
        for group in kinds.compactMap({ groups[$0] }) {
            for result in group.prefix(Self.mostNamed) { Console.error("  \(result.path): \(result.reason)") }
            if group.count > Self.mostNamed {
                Console.error("  and \(group.count - Self.mostNamed) more for reasons like the last one's")
            }
        }
    }

    /// A reason without its numbers and paths.
    private static func kind(_ reason: String) -> String {
        reason.split(separator: " ").filter { !$0.contains("/") }.joined(separator: " ").filter {
            !$0.isNumber && $0 != "," && $0 != "."
        }
    }
}
