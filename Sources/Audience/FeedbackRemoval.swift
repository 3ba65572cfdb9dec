import Glibc
import Payloads

/// Which registrations leave for what the journal says.
extension Registrations {
    /// Rows of a token in the journal, of its topic where both name one, that were not made later (`FeedbackEntry.removes`).
    static func removed(_ index: RegistrationIndex, _ file: MappedFile, _ feedback: [FeedbackEntry]) -> RowSet {
        var gone: [UInt32] = []
        var topics: [String: RowSet?] = [:]
        var anyTopic: RowSet?
        for entry in feedback where entry.removes {
            for row in rows(index, file, token: entry.token) where entry.removes(registered: registered(index, row)) {
                if let topic = entry.topic {
                    let known = topics[topic] ?? index.rows(.topic, topic)
                    topics[topic] = .some(known)
                    let all = anyTopic ?? RowSet.union(index.range(.topic).map(index.rows(of:)))
                    anyTopic = all
                    // Of another topic than this one.
                    if all.contains(row), known?.contains(row) != true { continue }
                }
                gone.append(row)
            }
        }
        return RowSet(rows: gone.sorted())
    }
}

/// What `FeedbackJournal.apply` did.
package struct FeedbackOutcome: Sendable, Equatable {
    /// Lines of the journal.
    package var entries = 0
    /// How many entries have each reason that is only reported.
    package var reported: [String: Int] = [:]
    /// Registrations that left, and those that stay.
    package var left: UInt64 = 0
    package var stay: UInt64 = 0
    /// Where the journal is now; nil when there was none.
    package var archive: String?
    /// What was left out of it.
    package var note: String?
}

extension FeedbackJournal {
    /// Between which steps `apply` may be killed.
    enum Step: CaseIterable {
        case locked, written, replaced, archived
    }

    /// Writes the registrations file anew without the rows that leave, and then moves the journal away, to
    /// `FILE.feedback.applied-SECONDS`.
    ///
    /// Killed anywhere, nothing is lost and it can be done again: until the new file is whole and on disk the old one and the journal
    /// are as they were; until the journal has moved, its tokens are removed once more, from a file that has them no longer. Other writers
    /// of the journal wait meanwhile; a registrations file that somebody else changes meanwhile is left as it is.
    ///
    /// - Parameter now: UNIX seconds, for the name.
    /// - Throws: one line. The registrations file is then as it was, or already the new one.
    package func apply(now: Int64) throws(AudienceError) -> FeedbackOutcome {
        try apply(now: now) { _ throws(AudienceError) in }
    }

    func apply(
        now: Int64, reached: (Step) throws(AudienceError) -> Void
    ) throws(AudienceError) -> FeedbackOutcome {
        TemporaryFile.removeLeftovers(of: registrations)
        guard let lock = try lock(creating: false) else { return FeedbackOutcome() }
        try reached(.locked)
        let (feedback, note) = try read(lock.descriptor)
        var outcome = FeedbackOutcome(entries: feedback.count, note: note)
        for entry in feedback where !entry.removes { outcome.reported[entry.reason, default: 0] += 1 }
        let file = try MappedFile(registrations, "registrations file")
        let index = try IndexStore.index(of: file, progress: nil).index
        let gone = Registrations.removed(index, file, feedback)
        outcome.left = gone.count
        outcome.stay = UInt64(index.rows) - gone.count
        if !gone.isEmpty { try rewrite(file, without: gone.selection(of: index.rows), reached: reached) }
        try reached(.replaced)
        let archive = try freeName(now)
        guard rename(path, archive) == 0 else { throw failed("move") }
        FileIO.syncFolder(of: path)
        try reached(.archived)
        outcome.archive = archive
        return outcome
    }

    /// A name for the archive that nothing has.
    private func freeName(_ now: Int64) throws(AudienceError) -> String {
        for number in 1..<10_000 {
            let name = "\(path).applied-\(now)" + (number == 1 ? "" : "-\(number)")
            if access(name, F_OK) != 0 { return name }
        }
        throw AudienceError(
            "cannot move the feedback journal \(path): too many of \(path).applied-\(now)", isUnwritable: true)
    }

    private func rewrite(
        _ file: MappedFile, without gone: DeviceSelection, reached: (Step) throws(AudienceError) -> Void
    ) throws(AudienceError) {
        func unwritable() -> AudienceError {
            AudienceError(
                "cannot write the registrations file \(registrations) anew: \(FileIO.reason)", isUnwritable: true)
        }
        // The file that a link leads to; its owner and mode stay.
        guard let resolved = realpath(registrations, nil) else { throw unwritable() }
        defer { free(resolved) }
        guard let output = TemporaryFile(for: String(cString: resolved), mode: file.mode),
            file.giveOwner(output.descriptor)
        else { throw unwritable() }
        func copy(_ start: Int, _ end: Int) -> Bool {
            FileIO.writeAll(output.descriptor, UnsafeRawBufferPointer(start: file.base + start, count: end - start))
        }
        let reader = try RegistrationReader(file)
        // Rows that stay are copied together with all that stand before them without a gap.
        var start = 0
        var end = reader.firstRow
        var row: UInt32 = 0
        var isLastGone = false
        while try reader.next() {
            isLastGone = gone.contains(row)
            if isLastGone {
                guard copy(start, end) else { throw unwritable() }
                start = reader.fields.row.end
            }
            end = reader.fields.row.end
            row += 1
        }
        // Line ends after the last row go with it.
        if !isLastGone { end = file.size }
        guard copy(start, end), fsync(output.descriptor) == 0 else { throw unwritable() }
        try reached(.written)
        guard file.isUnchanged else {
            throw AudienceError("\(registrations): changed while feedback was applied to it; nothing was done")
        }
        guard output.replaceTarget() else { throw unwritable() }
    }
}
