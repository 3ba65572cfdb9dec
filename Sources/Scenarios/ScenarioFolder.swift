import Foundation
import Settings

/// Bundled scenarios that need other files: those of the folder `scenarios` that belongs to the program.
enum ScenarioFolder {
    /// By name; none where the program was copied without them.
    static let entries: [BundledScenarios.Entry] = {
        guard let folder = candidates.first(where: isOurs) else { return [] }
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        return names.filter { $0.hasSuffix(".yaml") }.sorted().compactMap { entry($0, folder) }
    }()

    /// `share/pushload/scenarios` beside the `bin` that the program is in, or that of the checkout it was built in.
    private static var candidates: [String] {
        guard let program = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe") else {
            return []
        }
        var folder = URL(fileURLWithPath: program).deletingLastPathComponent()
        var candidates = [folder.deletingLastPathComponent().appendingPathComponent("share/pushload/scenarios").path]
        // .build/x86_64-unknown-linux-gnu/release
        for _ in 0..<3 {
            folder.deleteLastPathComponent()
            candidates.append(folder.appendingPathComponent("scenarios").path)
        }
        return candidates
    }

    /// Not somebody else's folder of that name.
    private static func isOurs(_ folder: String) -> Bool {
        FileManager.default.fileExists(atPath: folder + "/" + ScenarioTemplate.schemaName)
    }

    /// The first line of a file names the schema, the second is the summary.
    private static func entry(_ name: String, _ folder: String) -> BundledScenarios.Entry? {
        guard let text = try? FileContents.text(folder + "/" + name, "scenario") else { return nil }
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        guard lines.count > 2, lines[0].hasPrefix("#"), lines[1].hasPrefix("# ") else { return nil }
        return BundledScenarios.Entry(
            name: String(name.dropLast(5)), summary: String(lines[1].dropFirst(2)),
            text: lines[2...].joined(separator: "\n").trimmingCharacters(in: .newlines), folder: folder)
    }
}
