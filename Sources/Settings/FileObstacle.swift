import Foundation

/// Why a file or folder cannot be made: what stands in the way, where Foundation's own words only say that something does.
public enum FileObstacle {
    /// - Parameter isFolder: a folder, with all above it.
    /// - Returns: `there is no folder /nowhere`, `/a/b is a file`, `/full: No space left on device`, `nothing can be made in /proc`.
    public static func text(_ path: String, isFolder: Bool = false) -> String {
        var place = URL(fileURLWithPath: path)
        if !isFolder || !exists(place) { place.deleteLastPathComponent() }
        if !isFolder, !exists(place) { return "there is no folder \(place.path)" }
        while !exists(place) { place.deleteLastPathComponent() }
        guard FileManager.default.fileExists(atPath: place.path + "/.") else { return "\(place.path) is a file" }
        guard access(place.path, W_OK) == 0 else { return "\(place.path): \(String(cString: strerror(errno)))" }
        return disk(place.path) ?? "nothing can be made in \(place.path)"
    }

    /// Why nothing more fits; nil where something does, or where there is no disk, as below /proc.
    private static func disk(_ folder: String) -> String? {
        var status = statvfs()
        guard statvfs(folder, &status) == 0 else { return nil }
        let isFull = status.f_blocks > 0 && status.f_bavail == 0 || status.f_files > 0 && status.f_favail == 0
        guard isFull else { return nil }
        return "\(folder): \(String(cString: strerror(ENOSPC)))"
    }

    private static func exists(_ place: URL) -> Bool { FileManager.default.fileExists(atPath: place.path) }
}
