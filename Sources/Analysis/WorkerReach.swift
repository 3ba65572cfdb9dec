import Foundation
import Settings

/// How far the numbers of a worker's pushes may reach where the run has no number of pushes: its threads go on as fast as they can, and
/// one that was taken up again begins beyond what it may have sent before. By what it wrote down before it sent anything.
struct WorkerReach {
    private struct Begun: Decodable {
        let positions: [UInt64]
        let planned: UInt64?
    }

    private struct Journal: Decodable {
        let positions: [UInt64]
    }

    /// Larger ones are not believed, bytes.
    private static let mostBytes = 1 << 24

    private let threads: Int
    /// The first push of each thread, by its own count, that cannot have been sent.
    private let position: UInt64

    /// - Parameters:
    ///   - folder: the worker's.
    ///   - sent: how many pushes its last attempt began, where there is no journal.
    /// - Returns: nil where the run has a number of pushes, or the worker never began.
    init?(folder: String, sent: UInt64) {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        let begun = names.filter { $0.hasPrefix("begun-") && $0.hasSuffix(".json") }.compactMap {
            Self.read(folder + "/" + $0, as: Begun.self)
        }
        guard begun.contains(where: { $0.planned == nil }) else { return nil }
        let journal = Self.read(folder + "/journal.json", as: Journal.self)
        threads = max(begun.map(\.positions.count).max() ?? 0, journal?.positions.count ?? 0, 1)
        let first = begun.flatMap(\.positions).max() ?? 0
        position = max(first &+ min(sent, .max - first), journal?.positions.max() ?? 0)
    }

    /// Numbers of its pushes in the run are below it.
    ///
    /// - Parameter workers: how many the run has.
    func limit(workers: Int) -> UInt64 {
        let (step, isLarge) = UInt64(threads).multipliedReportingOverflow(by: UInt64(workers))
        let (limit, isTooLarge) = position.multipliedReportingOverflow(by: step)
        return isLarge || isTooLarge ? .max : limit
    }

    private static func read<Value: Decodable>(_ path: String, as type: Value.Type) -> Value? {
        guard let text = try? FileContents.text(path, "file of a worker", limit: mostBytes) else { return nil }
        return try? JSONDecoder().decode(type, from: Data(text.utf8))
    }
}
