/// What several mocks' ledger files say of one run together: a push has arrived where any mock has it, and each arrival after the
/// first counts as doubled, at whichever mock it was. A bit a push.
package struct LedgerUnion: Sendable {
    /// Pushes 64 × index … + 63, the first lowest.
    private var words: [UInt64] = []
    private var duplicated: UInt64 = 0
    /// Arrivals with numbers beyond a mock's ledger: which pushes they were is not known.
    package private(set) var beyond: UInt64 = 0

    package init() {}

    /// Pushes from there on are at no mock.
    package var end: UInt64 { UInt64(words.count) * 64 }

    /// Whose pushes a file has.
    package enum Found: Sendable, Equatable {
        case run
        /// No push with a trace tag came there.
        case nothing
        /// Of other runs only; the first one's id.
        case otherRun(UInt64)
    }

    /// Adds what a mock's file has of `run`. Takes no more memory than the file has bytes.
    ///
    /// - Throws: one line when the file is missing, foreign, truncated or damaged; the union is of no use then.
    package mutating func add(_ path: String, run: UInt64) throws(LedgerFile.Failure) -> Found {
        let file = try BinaryFileReader(LedgerFile.words, path, magic: LedgerFile.magic)
        var found = Found.nothing
        for _ in 0..<(try file.number()) {
            let id = try file.number()
            let bits = try file.number()
            let (repeated, outside) = (try file.number(), try file.number())
            guard bits % 64 == 0 else { throw file.failure("the ledger file is damaged") }
            if id == run {
                found = .run
                duplicated &+= repeated
                beyond &+= outside
            } else if found == .nothing {
                found = .otherRun(id)
            }
            for place in 0..<Int(bits / 64) {
                let theirs = try file.number()
                if id == run { add(theirs, at: place) }
            }
        }
        try file.finish()
        return found
    }

    private mutating func add(_ theirs: UInt64, at place: Int) {
        if place == words.count {
            words.append(theirs)
        } else {
            duplicated &+= UInt64((words[place] & theirs).nonzeroBitCount)
            words[place] |= theirs
        }
    }

    package func compared(with accepted: DeliveryLedger) -> LedgerFile.Comparison {
        var comparison = LedgerFile.Comparison(duplicated: duplicated)
        var compared = 0
        accepted.forEachWord { place, ours in
            let theirs = place < words.count ? words[place] : 0
            comparison.lost += UInt64((ours & ~theirs).nonzeroBitCount)
            comparison.unanswered += UInt64((theirs & ~ours).nonzeroBitCount)
            compared = place + 1
        }
        for theirs in words.dropFirst(compared) { comparison.unanswered += UInt64(theirs.nonzeroBitCount) }
        return comparison
    }
}
