import ArgumentParser
import Foundation
import Measurement
import MockAPNs
import Settings

/// What is written down of what clients send.
struct RecordOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Write what clients send to this file, for pushload run --replay: times, sizes, types, priorities, topics, hashed devices, connections; no content.",
            valueName: "file"))
    var record: String?

    @Option(help: ArgumentHelp("Record so many pushes at most, 40 bytes each.", valueName: "count"))
    var recordLimit = usualLimit

    func apply(to configuration: inout MockConfiguration) throws(Misuse) {
        let limit = try reading("--record-limit", recordLimit, Units.count)
        guard (1...Self.most).contains(limit) else {
            throw Misuse("--record-limit \(recordLimit): expected 1 to \(Units.written(count: Self.most))")
        }
        guard let record else {
            guard recordLimit == Self.usualLimit else {
                throw Misuse("--record-limit goes with --record, the file it is about")
            }
            return
        }
        try checkOutput("--record", record, orPipe: false)
        guard RecordingWriter.mayReplace(record) else {
            throw Misuse(
                "--record \(record): is there and no recording; expected a new file, or a recording to replace")
        }
        configuration.recording = RecordingWriter(record, limit: limit)
    }

    private static let usualLimit = "10M"
    private static let most: UInt64 = 1_000_000_000

    /// What a recording came to, said at the end.
    private struct Recorded: Encodable {
        let event = "recorded"
        let file: String
        let pushes: UInt64
        let leftOut: UInt64

        enum CodingKeys: String, CodingKey {
            case event, file, pushes
            case leftOut = "left_out"
        }
    }

    /// Completes the recording and says what it came to; nothing without one.
    ///
    /// - Throws: one line when anything of it could not be written.
    func end(_ configuration: MockConfiguration, json: Bool) throws {
        guard let recording = configuration.recording else { return }
        let totals = try recording.end()
        if json {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
            let line = Recorded(file: recording.path, pushes: totals.pushes, leftOut: totals.leftOut)
            Output.line(String(decoding: try encoder.encode(line), as: UTF8.self))
            return
        }
        guard !totals.keepsOld else {
            return Output.line("recorded no push; \(recording.path) stays as it was")
        }
        let rest =
            totals.leftOut > 0
            ? "; \(Units.counted(totals.leftOut, "push")) beyond the limit are not in it (--record-limit \(recordLimit))"
            : ""
        Output.line("recorded \(Units.counted(totals.pushes, "push")) in \(recording.path)\(rest)")
    }
}
