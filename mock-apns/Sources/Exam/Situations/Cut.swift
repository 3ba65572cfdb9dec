import HTTP2
import Settings

extension Situation {
    static let cut = Situation(
        name: "cut", title: "the first four connections end after 4, 12, 28 and 60 bytes: in SETTINGS and in an answer",
        criteria: [
            goesOn, .arrived("cut", .should, source: Source.own), unheard, .once("cut"), .noStorm("cut"),
        ]
    ) { CutPlay($0) }

    private static let goesOn = Criterion(
        "cut.goes-on", .must, "goes on with another connection", source: Source.own
    ) { journal in
        let cuts = journal.connections.indices.filter { journal.connections[$0].cutAt != nil }
        guard !cuts.isEmpty else { return .notShown("no connection was cut") }
        let lost = Set(journal.pushes.filter { cuts.contains($0.connection) }.map(\.device))
        let others = journal.pushes.count { !cuts.contains($0.connection) && $0.fate == .accepted }
        let evidence =
            "\(Units.counted(cuts.count, "connection")) cut, \(Units.counted(others, "push")) accepted on others"
        guard others > 0 || lost.count < journal.devices.count else {
            return .notShown("every push was on one that was cut")
        }
        return .of(others > 0, evidence)
    }

    private static let unheard = Criterion(
        "cut.unheard", .should, "does not send again by itself what may have been processed",
        source: Source.notIdempotent
    ) { journal in
        let unheard = journal.pushes.filter { $0.fate == .acceptedUnheard }
        guard !unheard.isEmpty else { return .notShown("no answer was cut") }
        let last = journal.lastTries { $0.device }
        let again = unheard.count { last[$0.device] ?? 0 > $0.begunAt }
        return .of(again == 0, "\(again) of \(Units.counted(unheard.count, "push")) accepted unheard sent again")
    }
}

private final class CutPlay: Play {
    override var opening: [ServerFrames.Setting] { [(Frame.Setting.maxConcurrentStreams, 2)] }

    /// Bytes of the server's that the first connections live for: in the head and the payload of SETTINGS (15 bytes), behind its
    /// acknowledgement (9 bytes) in the head of an answer, and in its header block.
    private static let lengths = [4, 12, 28, 60]

    override func didConnect(_ connection: ExamConnection) {
        if Self.lengths.indices.contains(connection.number) {
            stage.mark()
            connection.cutAfter = Self.lengths[connection.number]
        }
        super.didConnect(connection)
    }
}
