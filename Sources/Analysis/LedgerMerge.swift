import Measurement
import Results
import Settings

/// Holds the mocks' ledgers of a run of several workers against what each of these had accepted: a push that no mock has is lost. Where
/// either side does not have all pushes written down, what was lost is not known.
enum LedgerMerge {
    /// What the workers wrote down.
    private struct Written {
        /// Pushes of all workers, as far as a mock may have them.
        let accepted: DeliveryLedger
        /// Those whose numbers are higher than any mock has.
        var beyond: UInt64 = 0
        var isComplete = true
        var notes: [String] = []
    }

    /// About workers' files; further ones are only counted.
    private static let mostNotes = 8

    /// - Parameter files: of `mock-apns --ledger-out`.
    static func count(
        _ files: [String], _ folder: CompletedRun, _ result: inout ResultDocument
    ) throws(BinaryFileFailure) {
        var union = LedgerUnion()
        var notes: [String] = []
        for file in files {
            switch try union.add(file, run: folder.run) {
            case .run: break
            case .nothing: notes.append("\(file): no push came to this mock")
            case .otherRun(let other):
                throw BinaryFileFailure("\(file): a ledger of run \(hex(other)), not of \(hex(folder.run))")
            }
        }
        let written = try read(folder, result, atMost: union.end)
        let compared = union.compared(with: written.accepted)
        let lost = compared.lost &+ written.beyond
        notes += written.notes
        (result.pushes.lost, result.pushes.duplicated) = (written.isComplete ? lost : nil, compared.duplicated)
        if !written.isComplete, lost > 0 {
            notes.append("at least \(Units.counted(lost, "accepted push")) in none of the ledgers")
        }
        let targets = result.targets?.count ?? 1
        if union.beyond > 0 {
            (result.pushes.lost, result.pushes.duplicated) = (nil, nil)
            notes.append(
                "\(Units.counted(union.beyond, "arrival")) had numbers beyond a mock's ledger (--ledger-capacity): what was "
                    + "lost or doubled is not known")
        } else if lost > 0, files.count < targets {
            (result.pushes.lost, result.pushes.duplicated) = (nil, nil)
            notes.append(
                "\(Units.counted(files.count, "ledger")) for \(targets) targets: is one missing? \(Units.counted(lost, "accepted push")) "
                    + "in none of them; what was lost or doubled is not known")
        }
        MockFilesMerge.replace(ResultDocument.mockLedgersMark, notes, &result)
    }

    /// - Parameter end: of the mocks' pushes.
    private static func read(
        _ folder: CompletedRun, _ result: ResultDocument, atMost end: UInt64
    ) throws(BinaryFileFailure) -> Written {
        let limit = folder.pushLimit(result)
        let capacity = max(1, min(limit, end))
        guard let accepted = DeliveryLedger(capacity: capacity) else {
            throw BinaryFileFailure("not enough address space for a ledger of \(capacity) pushes")
        }
        var written = Written(accepted: accepted)
        var rows: [Int: ResultDocument.Worker] = [:]
        for row in result.workers ?? [] { rows[row.index] = row }
        var (sum, without, notes): (UInt64, [Int], [String]) = (0, [], [])
        for worker in 0..<folder.workers {
            let known = rows[worker]?.accepted ?? 0
            var pushes: UInt64 = 0
            if let file = folder.file("accepted.ledger", of: worker) {
                let found = try AcceptedFile.read(file, run: folder.run, below: limit, into: accepted)
                written.beyond &+= found.beyond
                pushes = found.pushes
            } else {
                without.append(worker)
            }
            sum &+= pushes
            if pushes < known {
                written.isComplete = false
                notes.append(
                    "worker \(worker) wrote down \(Units.grouped(pushes)) of its \(Units.counted(known, "accepted push")) "
                        + "(accepted.ledger): what was lost of the others is not known")
            } else if pushes > known, let row = rows[worker], row.attempts > 1 || row.state == .lost {
                notes.append(
                    "worker \(worker) wrote down \(Units.counted(pushes - known, "accepted push")) more than its result has: it was lost "
                        + "before it wrote that anew")
            }
        }
        guard without.count < folder.workers else {
            throw BinaryFileFailure("\(folder.path): no worker left its accepted pushes (worker-0/accepted.ledger, …)")
        }
        if written.isComplete, sum < result.pushes.accepted {
            written.isComplete = false
            notes.append(
                "the workers wrote down \(Units.grouped(sum)) of \(Units.counted(result.pushes.accepted, "accepted push")) "
                    + "(accepted.ledger): what was lost of the others is not known")
        } else if written.isComplete, !without.isEmpty {
            notes.append(
                "\(WorkerMerge.named(without)) left no accepted pushes (accepted.ledger): lost ones are those of the other workers"
            )
        }
        written.notes = Array(notes.prefix(mostNotes))
        if notes.count > mostNotes {
            written.notes.append("\(notes.count - mostNotes) more notes about workers' files")
        }
        return written
    }

    private static func hex(_ run: UInt64) -> String {
        let digits = String(run, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }
}
