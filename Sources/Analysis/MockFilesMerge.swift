import Foundation
import Measurement
import Results
import Settings

/// Completes the result of a run of several workers by what its mocks wrote at their ends: what was lost and doubled, from the
/// ledgers; the ways there and back, from the push times.
package enum MockFilesMerge {
    package typealias Failure = CompletedRun.Failure

    /// - Parameters:
    ///   - folder: of the run.
    ///   - merged: what was merged of its workers' results.
    ///   - ledgers: files of `mock-apns --ledger-out`, of all mocks the run had; none: not known.
    ///   - times: files of `mock-apns --times-out`; none: not known.
    /// - Returns: the result with that. Nothing is written.
    /// - Throws: one line when a file is missing, foreign, truncated, of another run, or named twice.
    package static func complete(
        _ folder: CompletedRun, _ merged: ResultDocument, ledgers: [String], times: [String]
    ) throws(Failure) -> ResultDocument {
        var result = merged
        do throws(BinaryFileFailure) {
            for files in [ledgers, times] { try checkTwice(files) }
            if !ledgers.isEmpty { try LedgerMerge.count(ledgers, folder, &result) }
            if !times.isEmpty { try time(times, folder, &result) }
        } catch { throw Failure(description: error.description) }
        return result
    }

    private static func checkTwice(_ files: [String]) throws(BinaryFileFailure) {
        var seen: Set<String> = []
        for file in files where !seen.insert(URL(fileURLWithPath: file).resolvingSymlinksInPath().path).inserted {
            throw BinaryFileFailure("\(file): named twice; expected each mock's file once")
        }
    }

    // MARK: Times

    private static func time(
        _ files: [String], _ folder: CompletedRun, _ result: inout ResultDocument
    ) throws(BinaryFileFailure) {
        var contents: [PushTimesFile.Contents] = []
        for file in files { contents.append(try PushTimesFile.read(file, run: folder.run, of: .mock)) }
        let mocks = MockTimes(contents)
        var oneWay = OneWayTimes()
        var clocks: [ResultDocument.Clock] = []
        var unknown: [Int] = []
        for worker in 0..<folder.workers {
            guard let file = folder.file("times", of: worker) else {
                unknown.append(worker)
                continue
            }
            let own = try PushTimesFile.read(file, run: folder.run)
            if let other = contents.firstIndex(where: { $0.interval != own.interval }) {
                throw BinaryFileFailure(
                    "\(files[other]): times of one push in \(contents[other].interval), but \(file) has one in "
                        + "\(own.interval) (mock-apns --times-every)")
            }
            clocks += mocks.join(own, into: &oneWay).map {
                .init(
                    worker: worker, mock: name(files[$0.mock], among: files), offset: $0.offset, bound: $0.bound,
                    samples: $0.samples, drift: $0.drift)
            }
        }
        guard unknown.count < folder.workers else {
            throw BinaryFileFailure("\(folder.path): no worker left its push times (worker-0/times, …)")
        }
        result.clocks = clocks
        let idle = zip(files, contents).filter { $0.1.run == 0 }.map { "\($0.0): no push came to this mock" }
        replace("push times: ", idle + note(oneWay, unknown), &result)
        let areWaysKnown = oneWay.unknownWays == nil
        for (stage, histogram, isKnown) in [
            (Stage.toMock, oneWay.toMock, areWaysKnown), (.inMock, oneWay.inMock, true),
            (.fromMock, oneWay.fromMock, areWaysKnown),
        ] {
            let known = isKnown ? histogram : LatencyHistogram()
            result.histograms[stage.key] = known.count > 0 ? HistogramCodec.encodeForLog(known) : nil
            result.latency[stage] = .init(CensoredHistogram(answered: known))
        }
    }

    private static func note(_ oneWay: OneWayTimes, _ unknown: [Int]) -> [String] {
        func duration(_ value: UInt64) -> String { Units.duration(nanoseconds: Double(value)) }
        var notes: [String] = []
        if let (median, bound) = oneWay.unknownWays {
            notes.append(
                "the ways to the mock and back are left out: half of them take less than \(duration(median)), and the clocks "
                    + "are known to ±\(duration(bound)) only")
        } else if oneWay.toMock.count > 0 {
            notes.append(
                "to_mock and from_mock are by the clocks of both ends, which are known to ±"
                    + "\(duration(oneWay.bounds.value(atPercentile: 50))) (median)")
        }
        if oneWay.unmatched > 0 {
            notes.append(
                "\(Units.counted(oneWay.unmatched, "sampled push")) left out, whose times at both ends do not belong together "
                    + "(sent more than once, or seen at one end only)")
        }
        if !unknown.isEmpty { notes.append("\(WorkerMerge.named(unknown)) left no push times") }
        return notes
    }

    // MARK: Words

    /// Those of an earlier merge are replaced.
    ///
    /// - Parameter mark: how such notes begin.
    static func replace(_ mark: String, _ notes: [String], _ result: inout ResultDocument) {
        result.notes.removeAll { $0.hasPrefix(mark) }
        result.notes += notes.map { mark + $0 }
    }

    /// The file's own name, where no other has the same.
    private static func name(_ file: String, among files: [String]) -> String {
        func last(_ path: String) -> String { URL(fileURLWithPath: path).lastPathComponent }
        return files.count { last($0) == last(file) } == 1 ? last(file) : file
    }
}
