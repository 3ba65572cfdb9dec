/// All choices of some of a few things, each as bits: the next number with as many ones (Warren: Hacker's Delight, 2012, section
/// 2-1).
struct Subsets: Sequence, IteratorProtocol {
    private var mask: UInt64
    private let end: UInt64

    /// - Parameters:
    ///   - count: at most 63.
    ///   - chosen: 1 … count.
    init(of count: Int, choosing chosen: Int) {
        mask = 1 << UInt64(chosen) - 1
        end = 1 << UInt64(count)
    }

    mutating func next() -> UInt64? {
        guard mask < end else { return nil }
        let least = mask & (~mask + 1)
        let ripple = mask + least
        defer { mask = (mask ^ ripple) >> 2 / least | ripple }
        return mask
    }
}
