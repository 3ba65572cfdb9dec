import Foundation
import Results
import Settings

/// Reading and writing baselines.
enum BaselineFile {
    /// As JSON text: sorted keys, pretty-printed, ending with a newline.
    static func encode(_ baseline: BaselineDocument) throws(ResultError) -> [UInt8] {
        try DocumentFile.encode(baseline, "baseline")
    }

    /// - Parameter origin: the file's name, for error messages.
    /// - Throws: one line for what is truncated, foreign, of another schema, or holds what no baseline can.
    static func decode(_ bytes: [UInt8], origin: String) throws(ResultError) -> BaselineDocument {
        let schema = try DocumentFile.schema(bytes, origin: origin)
        guard let schema, schema.hasPrefix("pushload.baseline/") else {
            let kind = schema.map { "its schema is \($0)" } ?? "\"schema\" is missing or foreign"
            throw ResultError("\(origin): not a baseline of pushload gate: \(kind)")
        }
        guard schema == BaselineDocument.currentSchema else {
            throw ResultError(
                "\(origin): schema \(schema); this version reads \(BaselineDocument.currentSchema)"
            )
        }
        let baseline: BaselineDocument = try DocumentFile.decode(bytes, origin: origin)
        for metric in baseline.metrics {
            let counts = [metric.raw.count, metric.normalised?.count ?? metric.raw.count]
            guard counts.allSatisfy({ $0 == baseline.metrics[0].raw.count && $0 > 0 }) else {
                throw ResultError("\(origin): metric \"\(metric.name)\" does not have one value for each round")
            }
            // A gate makes 128; with its own rounds they are as many as the exact test counts.
            guard metric.raw.count <= 256 else {
                throw ResultError(
                    "\(origin): metric \"\(metric.name)\" has \(metric.raw.count) rounds; expected at most 256")
            }
            guard (metric.raw + (metric.normalised ?? [])).allSatisfy({ $0 >= 0 && $0.isFinite }) else {
                throw ResultError("\(origin): metric \"\(metric.name)\" has a value below 0")
            }
        }
        try checkKernel(baseline.metrics, origin)
        guard !baseline.metrics.isEmpty else { throw ResultError("\(origin): it has no metrics") }
        return baseline
    }

    /// Of a reference kernel, on any machine, ns.
    private static let kernelTimes = 100.0...1e8

    /// All figures of a round were divided by one and the same time of the reference kernel.
    private static func checkKernel(_ metrics: [BaselineDocument.Metric], _ origin: String) throws(ResultError) {
        var kernels: [Double]?
        for metric in metrics {
            guard let normalised = metric.normalised else {
                guard GateMetric.named(metric.name)?.isNormalised != true else {
                    throw ResultError("\(origin): metric \"\(metric.name)\" has no normalised values")
                }
                continue
            }
            // Of nothing and nothing there is none.
            let times = zip(metric.raw, normalised).map { $0 == 0 && $1 == 0 ? 0 : $0 / $1 }
            let isOne = zip(kernels ?? times, times).allSatisfy { $1 == 0 || $0 == 0 || abs($1 / $0 - 1) < 0.01 }
            let isKernel = zip(normalised, times).allSatisfy { $0 == 0 && $1 == 0 || kernelTimes.contains($1) }
            guard isOne, isKernel else {
                throw ResultError(
                    "\(origin): metric \"\(metric.name)\": its raw and its normalised values do not belong together")
            }
            kernels = kernels ?? times
        }
    }

    static func read(_ path: String) throws(ResultError) -> BaselineDocument {
        let hint = "make a baseline with pushload gate --update --baseline \(path)"
        return try decode(try ResultFile.contents(path, hint: hint), origin: path)
    }

    /// Writes the whole document or nothing; makes the folder when there is none.
    static func write(_ baseline: BaselineDocument, to path: String) throws(ResultError) {
        try makeFolder(of: path)
        try ResultFile.write(try encode(baseline), to: path)
    }

    /// - Throws: when a baseline cannot be written there, as far as that can be known before.
    static func checkWritable(_ path: String) throws(ResultError) {
        try makeFolder(of: path)
        try ResultFile.checkWritable(path, room: ResultFile.roomForCosts)
    }

    private static func makeFolder(of path: String) throws(ResultError) {
        let folder = (path as NSString).deletingLastPathComponent
        guard !folder.isEmpty else { return }
        do { try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true) } catch {
            throw ResultError("cannot make the folder \(folder): \(FileObstacle.text(folder, isFolder: true))")
        }
    }
}
