import CRoaring
import Glibc
import Settings

/// A registrations file, mapped, with its index: who can be pushed, and by which tags.
///
/// Memory: what of both files is looked at, which the kernel takes back when it needs to; and two sets of rows. Threads may share it.
package final class Registrations: TagIndex, @unchecked Sendable {
    package let path: String
    /// How many registrations there are.
    package var count: UInt64 { UInt64(index.rows) }
    package var rows: UInt32 { index.rows }
    /// Digits of the longest token, 2 to 400.
    package var longestToken: Int { index.longestToken }
    /// Neither expired at `now` nor removed by feedback.
    package let alive: RowSet
    /// Expired at `now`.
    package let expired: RowSet
    /// Removed by feedback (`FILE.feedback`), whether or not expired.
    package let removed: RowSet
    /// What whoever runs this should know, a line each: that the index could not be kept, for example.
    package let notes: [String]
    /// The index was made now; otherwise it was beside the file.
    package let isNewlyIndexed: Bool

    let file: MappedFile
    let index: RegistrationIndex
    let tokens: UnsafeBufferPointer<UInt64>
    let tagPlaces: UnsafeBufferPointer<UInt64>
    let users: UnsafeBufferPointer<UInt64>

    /// Uses the index beside the file (0.2 s for ten million rows), or makes it: about 0.4 s of CPU time a million rows of eight tags.
    ///
    /// - Parameter now: UNIX seconds; a registration that expires then or before is not alive.
    /// - Parameter isIndexedAnew: every row is looked at, whatever index there is.
    /// - Parameter progress: told the rows read so far, while an index is made.
    /// - Throws: what is wrong with the file, or its feedback.
    package static func open(
        _ path: String, now: Int64, isIndexedAnew: Bool = false, progress: ((_ rows: UInt64) -> Void)? = nil
    ) throws(AudienceError) -> Registrations {
        let file = try MappedFile(path, "registrations file")
        let found = try IndexStore.index(of: file, isNew: isIndexedAnew, progress: progress)
        let feedback = try FeedbackJournal(of: path).read()
        return Registrations(file, found, feedback.entries, note: feedback.note, now: now)
    }

    init(
        _ file: MappedFile, _ found: (index: RegistrationIndex, isNew: Bool, note: String?),
        _ feedback: [FeedbackEntry], note: String? = nil, now: Int64
    ) {
        self.file = file
        path = file.path
        index = found.index
        isNewlyIndexed = found.isNew
        notes = [found.note, note].compactMap(\.self)
        tokens = index.numbers(.tokens, as: UInt64.self)
        tagPlaces = index.numbers(.tags, as: UInt64.self)
        users = index.numbers(.users, as: UInt64.self)
        expired = Self.expired(index, now)
        removed = Self.removed(index, file, feedback)
        alive = RowSet(range: 0..<index.rows).subtracting(expired).subtracting(removed)
    }

    /// Those that have expired at a moment, UNIX seconds.
    package func expired(at moment: Int64) -> RowSet { Self.expired(index, moment) }

    private static func expired(_ index: RegistrationIndex, _ now: Int64) -> RowSet {
        let expiries = index.numbers(.expiries, as: UInt64.self)
        guard now >= 0 else { return RowSet() }
        let end =
            now >= Int64(Moment.latest)
            ? expiries.count : NumberPairs.lowerBound(expiries, NumberPairs.pair(UInt32(now) + 1, 0))
        return RowSet(rows: expiries[..<end].lazy.map(NumberPairs.row).filter { $0 < index.rows })
    }

    /// The file is still what it was when it was opened: another one in its place does no harm, writing into it does.
    package var isUnwritten: Bool { file.isUnwritten }

    // MARK: Sets of rows

    /// All rows, those that are not alive among them.
    package var everyone: RowSet { RowSet(range: 0..<rows) }

    package func rows(tagged tag: String) -> RowSet? {
        if let rows = index.rows(.tag, tag) { return rows }
        let found = pairedRows(tag)
        return found.isEmpty ? nil : RowSet(rows: found)
    }

    /// Sorted, as topics, environments, languages and templates are.
    package var topics: [String] { index.names(.topic) }
    package var environments: [String] { index.names(.environment) }
    package var languages: [String] { index.names(.language) }
    /// Different template names and texts.
    package var templates: [String] { index.names(.template) }

    package func rows(topic: String) -> RowSet? { index.rows(.topic, topic) }
    package func rows(environment: String) -> RowSet? { index.rows(.environment, environment) }
    package func rows(language: String) -> RowSet? { index.rows(.language, language) }
    package func rows(template: String) -> RowSet? { index.rows(.template, template) }

    /// Which of `templates` a row has; nil when it has none.
    package func templateNumber(_ row: UInt32) -> Int? { number(row, .templates, .template) }

    /// Which of `topics` a row has; nil when it has none.
    package func topicNumber(_ row: UInt32) -> Int? { number(row, .topics, .topic) }

    @inline(__always)
    private func number(_ row: UInt32, _ section: IndexLayout.Section, _ kind: IndexLayout.Kind) -> Int? {
        let numbers = index.numbers(section, as: UInt16.self)
        guard Int(row) < numbers.count else { return nil }
        let number = Int(numbers[Int(row)])
        return number < index.range(kind).count ? number : nil
    }

    /// When a row was made or renewed, UNIX seconds; nil when the file does not say.
    package func registered(_ row: UInt32) -> UInt32? { Self.registered(index, row) }

    static func registered(_ index: RegistrationIndex, _ row: UInt32) -> UInt32? {
        let moments = index.numbers(.registered, as: UInt32.self)
        guard Int(row) < moments.count, moments[Int(row)] > 0 else { return nil }
        return moments[Int(row)]
    }

    // MARK: What is known

    /// 16 hexadecimal digits that are the same for the same rows of the same file or of a copy, and by chance for no others: 5 ns a row.
    package func fingerprint(of set: RowSet) -> String {
        var hash = index.contentChecksum
        set.forEach { hash = ByteHash.mix(hash, UInt64($0)) }
        let digits = String(hash, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }

    /// The tags that have a bitmap each, with how many rows have each: the most frequent first, then by name. Tags of users and
    /// those beyond the 1,048,576th are not among them.
    package var tagCounts: [(tag: String, rows: UInt64)] {
        index.range(.tag).sorted {
            index.entries[$0].rows != index.entries[$1].rows ? index.entries[$0].rows > index.entries[$1].rows : $0 < $1
        }
        .map { (index.name($0), UInt64(index.entries[$0].rows)) }
    }

    /// How many different tags have a bitmap each.
    package var tagCount: Int { index.range(.tag).count }

    /// How many times other tags stand in the file: those of users and those beyond the 1,048,576th.
    package var otherTagUses: UInt64 { UInt64(index.bytes(.tagPairs).count / 8) }

    package func nearestTag(to tag: String) -> String? {
        NearTags.of(tag, in: index)
    }
}
