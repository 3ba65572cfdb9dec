import Glibc

/// Ledgers as a file, by which a mock shows push by push what arrived.
///
/// Layout, little-endian: `PUSHLDGR`, then for each run its id (8 bytes), its number of bits (8 bytes, a multiple of 64),
/// and the bits, push 0 lowest.
public enum LedgerFile {
    private static let magic = Array("PUSHLDGR".utf8)

    public struct Failure: Error, CustomStringConvertible, Sendable {
        public let description: String
    }

    /// How the ledger of a mock and the client's own account of accepted pushes agree.
    public struct Comparison: Sendable, Equatable {
        /// Accepted for the client, unknown to the mock.
        public var lost: UInt64 = 0
        /// Known to the mock, but not accepted for the client: their answers were lost.
        public var unanswered: UInt64 = 0
    }

    /// Writes all ledgers of a book.
    public static func write(_ book: LedgerBook, to path: String) throws(Failure) {
        guard let file = fopen(path, "w") else { throw failure("write", path) }
        var isComplete = fwrite(magic, 1, magic.count, file) == magic.count
        for entry in book.runs {
            let ledger = entry.ledger
            let words = ledger.usedWords
            for number in [entry.run, UInt64(words) * 64] {
                withUnsafeBytes(of: number.littleEndian) {
                    isComplete = isComplete && fwrite($0.baseAddress, 8, 1, file) == 1
                }
            }
            for word in 0..<words {
                withUnsafeBytes(of: ledger.word(word).littleEndian) {
                    isComplete = isComplete && fwrite($0.baseAddress, 8, 1, file) == 1
                }
            }
        }
        if fclose(file) != 0 { isComplete = false }
        guard isComplete else { throw failure("write", path) }
    }

    /// Compares the ledger of `run` in a file with `accepted`, bit by bit.
    ///
    /// - Throws: one line when the file is missing, foreign or truncated.
    package static func compare(
        _ path: String, run: UInt64, accepted: DeliveryLedger
    ) throws(Failure) -> Comparison {
        guard let file = fopen(path, "r") else { throw failure("read", path) }
        defer { fclose(file) }
        var head = [UInt8](repeating: 0, count: magic.count)
        guard fread(&head, 1, head.count, file) == head.count, head == magic else {
            throw Failure(description: "\(path): not a ledger file")
        }
        var comparison = Comparison()
        var isFound = false
        while let id = number(file) {
            guard let bits = number(file), bits % 64 == 0 else {
                throw Failure(description: "\(path): the ledger file is truncated")
            }
            let words = Int(bits / 64)
            for word in 0..<words {
                guard let theirs = number(file) else {
                    throw Failure(description: "\(path): the ledger file is truncated")
                }
                if id == run { add(theirs, accepted.word(word), &comparison) }
            }
            if id == run {
                isFound = true
                if words < accepted.usedWords {
                    for word in words..<accepted.usedWords { add(0, accepted.word(word), &comparison) }
                }
            }
        }
        if !isFound { comparison.lost = accepted.delivered }
        return comparison
    }

    private static func add(_ theirs: UInt64, _ ours: UInt64, _ comparison: inout Comparison) {
        comparison.lost += UInt64((ours & ~theirs).nonzeroBitCount)
        comparison.unanswered += UInt64((theirs & ~ours).nonzeroBitCount)
    }

    private static func number(_ file: UnsafeMutablePointer<FILE>) -> UInt64? {
        var value: UInt64 = 0
        guard fread(&value, 8, 1, file) == 1 else { return nil }
        return UInt64(littleEndian: value)
    }

    private static func failure(_ verb: String, _ path: String) -> Failure {
        Failure(description: "cannot \(verb) the ledger file \(path): \(String(cString: strerror(errno)))")
    }
}
