import Measurement

/// A push by its trace tag, and the place of its run in the ledger book.
struct TracedPush {
    let run: UInt64
    /// 0 to 63.
    let place: Int
    let sequence: UInt64
}

/// A push's name in a fleet of devices: its run's place in the upper 16 bits, its sequence in the others. Those without a trace tag have
/// a range of their own.
struct DeviceTicket {
    let word: UInt64

    init(_ word: UInt64) { self.word = word }

    /// nil: the sequence has more than 48 bits.
    init?(_ push: TracedPush) {
        guard push.sequence <= DeviceLog.highestSequence else { return nil }
        word = UInt64(push.place) << 48 | push.sequence
    }

    /// The push without a trace tag of this number, from 1.
    init(untagged number: UInt64) { word = ~number }

    /// nil: it has no trace tag.
    var place: Int? {
        let place = Int(word >> 48)
        return place < LedgerBook.runLimit ? place : nil
    }
    var sequence: UInt64 { word & DeviceLog.highestSequence }
}
