import Foundation
import Settings

/// How far the numbers of a worker's pushes may reach, by what it wrote down before it sent anything. Where the run has no number of
/// pushes, its threads go on as fast as they can, and one that was taken up again begins beyond what it may have sent before.
struct WorkerReach {
    private struct Begun: Decodable {
        /// Of each thread the first push that is the attempt's, by the thread's own count.
        let positions: [UInt64]
        let planned: UInt64?

        /// Pushes of the worker's part, those of attempts before among them; nil where that is not known.
        var all: UInt64? { planned.map { positions.reduce($0, WorkerReach.sum) } }
    }

    private struct Journal: Decodable {
        /// Of each thread the first push that cannot have been sent.
        let positions: [UInt64]
    }

    /// Larger ones are not believed, bytes.
    private static let mostBytes = 1 << 24

    /// The worker's pushes, by its own count, are below it.
    private let end: UInt64

    /// - Parameters:
    ///   - folder: the worker's.
    ///   - sent: how many pushes its last attempt began, where there is no journal.
    /// - Returns: nil where the worker never began.
    init?(folder: String, sent: UInt64) {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        let begun = names.filter { $0.hasPrefix("begun-") && $0.hasSuffix(".json") }.compactMap {
            Self.read(folder + "/" + $0, as: Begun.self)
        }
        guard !begun.isEmpty else { return nil }
        let known = begun.compactMap(\.all)
        if known.count == begun.count {
            end = known.max() ?? 0
            return
        }
        let journal = Self.read(folder + "/journal.json", as: Journal.self)
        let threads = max(begun.map(\.positions.count).max() ?? 0, journal?.positions.count ?? 0, 1)
        let first = Self.sum(begun.flatMap(\.positions).max() ?? 0, sent)
        end = Self.product(max(first, journal?.positions.max() ?? 0), UInt64(threads))
    }

    /// Numbers of its pushes in the run are below it.
    ///
    /// - Parameter workers: how many the run has.
    func limit(workers: Int) -> UInt64 { Self.product(end, UInt64(workers)) }

    /// The largest number where it would be larger, as below.
    fileprivate static func sum(_ one: UInt64, _ other: UInt64) -> UInt64 { one &+ min(other, .max - one) }

    private static func product(_ one: UInt64, _ other: UInt64) -> UInt64 {
        let (product, isTooLarge) = one.multipliedReportingOverflow(by: other)
        return isTooLarge ? .max : product
    }

    private static func read<Value: Decodable>(_ path: String, as type: Value.Type) -> Value? {
        guard let text = try? FileContents.text(path, "file of a worker", limit: mostBytes) else { return nil }
        return try? JSONDecoder().decode(type, from: Data(text.utf8))
    }
}
