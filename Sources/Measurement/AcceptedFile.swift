/// A worker's accepted pushes as a file. A worker of N has every N-th push, and nearly all of them are accepted: what is written is
/// runs of equal steps, so that a million pushes take a few bytes when none is missing, and no more than 3 bytes each otherwise.
///
/// Layout: `PUSHACPT`, run id, number of pushes, the first push, and the unit that all steps are multiples of (8 bytes each,
/// little-endian); then for each run of equal steps how many units its first push is behind the last one of the run before, its
/// number of pushes and, of two and more, their step in units (LEB128); at the end a `FileCheck`.
package enum AcceptedFile {
    package typealias Failure = BinaryFileFailure

    private static let magic = "PUSHACPT"
    private static let words = "file of accepted pushes"

    /// Written while nobody marks pushes any more.
    package static func write(_ accepted: DeliveryLedger, run: UInt64, to path: String) throws(Failure) {
        let file = try BinaryFileWriter(words, path, magic: magic)
        var (count, first, last, unit): (UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0)
        accepted.forEach { push in
            if count == 0 {
                first = push
            } else if unit == 0 || (push - last) % unit != 0 {
                unit = greatestDivisor(push - last, unit)
            }
            last = push
            count += 1
        }
        unit = max(unit, 1)
        for number in [run, count, first, unit] { file.put(number) }
        var steps = StepRuns(file, from: 0)
        accepted.forEach { push in steps.take((push - first) / unit) }
        steps.end()
        try file.finish()
    }

    /// Puts together what has equal steps; numbers ascend.
    private struct StepRuns {
        private let file: BinaryFileWriter
        private var (start, step, count): (UInt64, UInt64, UInt64) = (0, 0, 0)
        private var last: UInt64
        /// Where the run before ended.
        private var before: UInt64

        init(_ file: BinaryFileWriter, from start: UInt64) {
            self.file = file
            (last, before) = (start, start)
        }

        mutating func take(_ number: UInt64) {
            if count == 1 { step = number - last }
            if count > 0, number - last == step {
                count += 1
            } else {
                end()
                (start, count) = (number, 1)
            }
            last = number
        }

        mutating func end() {
            guard count > 0 else { return }
            file.put(short: start - before)
            file.put(short: count)
            if count > 1 { file.put(short: step) }
            (before, count) = (last, 0)
        }
    }

    private static func greatestDivisor(_ one: UInt64, _ other: UInt64) -> UInt64 {
        var (a, b) = (one, other)
        while b != 0 { (a, b) = (b, a % b) }
        return a
    }

    /// What a file has.
    package struct Found: Sendable, Equatable {
        package var pushes: UInt64 = 0
        /// Those among them that the ledger has no room for.
        package var beyond: UInt64 = 0
    }

    /// Marks the pushes of a worker's file in `ledger`, which has those of other workers already.
    ///
    /// - Returns: how many they are.
    /// - Throws: one line when the file is missing, foreign, truncated, damaged or of another run, has a push that the ledger has no
    ///   room for, or one that another worker has too; the ledger is of no use then.
    @discardableResult
    package static func read(
        _ path: String, run: UInt64, into ledger: DeliveryLedger
    ) throws(Failure) -> UInt64 {
        try read(path, run: run, below: ledger.capacity, into: ledger).pushes
    }

    /// The same where the ledger may be smaller than the run. Memory and time are bounded by the ledger's capacity and the file's
    /// length, whatever the file says.
    ///
    /// - Parameter limit: numbers of the run's pushes are below it.
    package static func read(
        _ path: String, run: UInt64, below limit: UInt64, into ledger: DeliveryLedger
    ) throws(Failure) -> Found {
        let file = try BinaryFileReader(words, path, magic: magic)
        guard try file.number() == run else { throw file.failure("accepted pushes of another run") }
        let (count, first, unit) = (try file.number(), try file.number(), try file.number())
        var (left, place): (UInt64, UInt64) = (count, 0)
        var found = Found(pushes: count)
        while left > 0 {
            let gap = try file.shortNumber()
            let pushes = try file.shortNumber()
            let step = pushes > 1 ? try file.shortNumber() : 1
            guard (1...left).contains(pushes), step > 0, unit > 0, gap > 0 || left == count else {
                throw file.failure("the \(words) is damaged")
            }
            guard let start = sum(place, gap), let end = sum(start, product(step, pushes - 1)),
                let highest = sum(first, product(end, unit)), highest < limit
            else { throw file.failure("has a push beyond the last one of the run, \(limit - 1)") }
            let lowest = first + start * unit
            let room = lowest < ledger.capacity ? (ledger.capacity - 1 - lowest) / (step * unit) + 1 : 0
            for number in 0..<min(pushes, room) {
                let push = lowest + step * unit * number
                guard ledger.mark(push) else { throw file.failure("has push \(push), which another worker has too") }
            }
            found.beyond += pushes - min(pushes, room)
            left -= pushes
            place = end
        }
        try file.finish()
        return found
    }

    /// nil: too large.
    private static func sum(_ one: UInt64, _ other: UInt64?) -> UInt64? {
        guard let other, case (let sum, false) = one.addingReportingOverflow(other) else { return nil }
        return sum
    }

    private static func product(_ one: UInt64, _ other: UInt64) -> UInt64? {
        guard case (let product, false) = one.multipliedReportingOverflow(by: other) else { return nil }
        return product
    }
}
