/// Whose row is whose: users have their rows one after the other, and how many each has follows a distribution.
///
/// Users come in blocks of `usersPerBlock`. In each block every number of devices comes as often as its share says
/// (rounded to whole users), in an order that the seed shuffles once for all blocks; so a row's user is found by a
/// division and one look into a table.
struct UserBlocks: Sendable {
    static let usersPerBlock = 10_000
    /// Devices a user may have.
    static let mostDevices = 100

    /// For each row of a block the user in the block.
    private let users: [UInt16]
    /// For each user of a block its first row in it, and at the end the rows of a block.
    private let firstRows: [UInt32]

    /// - Parameter devices: numbers of devices (1…`mostDevices`) and the share of the users that have so many;
    ///   together 1.
    init(_ devices: [(devices: Int, share: Double)], seed: UInt64) {
        var counts = Self.wholeCounts(devices.map(\.share), of: Self.usersPerBlock)
            .enumerated().flatMap { Array(repeating: UInt8(devices[$0.offset].devices), count: $0.element) }
        let draw = RowDraw(seed: seed, stream: 2, number: 0)
        for place in stride(from: counts.count - 1, to: 0, by: -1) {
            counts.swapAt(place, Int(draw.below(UInt64(place) + 1, UInt64(place))))
        }
        var users: [UInt16] = []
        var firstRows: [UInt32] = [0]
        for (user, count) in counts.enumerated() {
            users.append(contentsOf: repeatElement(UInt16(user), count: Int(count)))
            firstRows.append(UInt32(users.count))
        }
        self.users = users
        self.firstRows = firstRows
    }

    /// `total` shared out: whole numbers whose sum is `total`, the largest remainders rounded up.
    static func wholeCounts(_ shares: [Double], of total: Int) -> [Int] {
        var counts = shares.map { Int($0 * Double(total)) }
        let byRemainder = shares.indices.sorted {
            (shares[$0] * Double(total) - Double(counts[$0]), $1) > (
                shares[$1] * Double(total) - Double(counts[$1]), $0
            )
        }
        var missing = total - counts.reduce(0, +)
        for place in byRemainder where missing > 0 {
            counts[place] += 1
            missing -= 1
        }
        return counts
    }

    /// The user of a row.
    @inline(__always)
    func user(_ row: UInt64) -> UInt64 {
        let (block, inside) = row.quotientAndRemainder(dividingBy: UInt64(users.count))
        return block &* UInt64(Self.usersPerBlock) &+ UInt64(users[Int(inside)])
    }

    /// How many rows `count` users have; `.max` when it would not fit.
    func rows(ofUsers count: UInt64) -> UInt64 {
        let (blocks, rest) = count.quotientAndRemainder(dividingBy: UInt64(Self.usersPerBlock))
        let (rows, isTooMany) = blocks.multipliedReportingOverflow(by: UInt64(users.count))
        let (all, isAbove) = rows.addingReportingOverflow(UInt64(firstRows[Int(rest)]))
        return isTooMany || isAbove ? .max : all
    }
}
