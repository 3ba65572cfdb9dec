/// Ledgers as a file, by which a mock shows push by push what arrived.
///
/// Layout, little-endian: `PUSHLDG2`, the number of runs, then for each run its id, its number of bits (a multiple of 64), how many
/// arrivals repeated a push, how many had numbers beyond the ledger (8 bytes each), and the bits, push 0 lowest; at the end a
/// `FileCheck`.
public enum LedgerFile {
    public typealias Failure = BinaryFileFailure

    /// How the ledgers of mocks and the clients' own account of accepted pushes agree.
    public struct Comparison: Sendable, Equatable {
        /// Accepted for the client, unknown to every mock.
        public var lost: UInt64 = 0
        /// Known to a mock, but not accepted for the client: their answers were lost.
        public var unanswered: UInt64 = 0
        /// Arrivals after the first of the same push, at whichever mock.
        public var duplicated: UInt64 = 0
    }

    static let magic = "PUSHLDG2"
    static let words = "ledger file"

    /// Writes all ledgers of a book.
    public static func write(_ book: LedgerBook, to path: String) throws(Failure) {
        let file = try BinaryFileWriter(words, path, magic: magic)
        let runs = book.runs
        file.put(UInt64(runs.count))
        for entry in runs {
            let ledger = entry.ledger
            let words = ledger.usedWords
            for number in [entry.run, UInt64(words) * 64, ledger.duplicated, ledger.outOfRange] { file.put(number) }
            ledger.forEachWord { place, word in
                if place < words { file.put(word) }
            }
        }
        try file.finish()
    }

    /// Compares the ledger of `run` in a file with `accepted`, bit by bit.
    ///
    /// - Throws: one line when the file is missing, foreign, truncated or damaged.
    package static func compare(
        _ path: String, run: UInt64, accepted: DeliveryLedger
    ) throws(Failure) -> Comparison {
        var union = LedgerUnion()
        _ = try union.add(path, run: run)
        return union.compared(with: accepted)
    }
}
