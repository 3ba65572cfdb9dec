import HTTP2

/// The answers' header blocks and bodies, made once a worker.
final class AnswerBlocks {
    private let accepted: HeaderBlock
    private let acceptedIdentifier: Int
    private let rejected: [HeaderBlock]
    private let rejectedIdentifier: Int
    let bodies: [[UInt8]]
    private let identifier: UnsafeMutablePointer<UInt8>
    private var random: UInt64

    init(seed: UInt64) {
        accepted = HeaderBlock(capacity: 2)
        accepted.add(":status", "200")
        acceptedIdentifier = accepted.addVariable("apns-id", indexed: false, copied: true)
        var place = 0
        rejected = Reason.allCases.map { reason in
            let block = HeaderBlock(capacity: 3)
            block.add(":status", String(reason.status))
            place = block.addVariable("apns-id", indexed: false, copied: true)
            block.add("content-type", "application/json")
            return block
        }
        rejectedIdentifier = place
        bodies = Reason.allCases.map(\.body)
        identifier = .allocate(capacity: 36)
        random = seed
    }

    deinit { identifier.deallocate() }

    /// The block of an answer whose `apns-id` is the request's, or a new one.
    func block(_ reason: Reason?, requestIdentifier: UnsafeRawBufferPointer?) -> HeaderBlock {
        let block = reason.map { rejected[$0.rawValue] } ?? accepted
        let place = reason == nil ? acceptedIdentifier : rejectedIdentifier
        if let requestIdentifier, requestIdentifier.count == 36 {
            block.setValue(place, requestIdentifier.baseAddress!.assumingMemoryBound(to: UInt8.self), 36)
        } else {
            makeIdentifier()
            block.setValue(place, identifier, 36)
        }
        return block
    }

    private func next() -> UInt64 {
        random &+= 0x9E37_79B9_7F4A_7C15
        var mixed = random
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    /// A random UUID (RFC 9562 version 4), lower case.
    private func makeIdentifier() {
        var high = next() & ~0xF000 | 0x4000
        var low = next() & ~(3 << 62) | 2 << 62
        var position = 35
        while position >= 0 {
            if position == 23 || position == 18 || position == 13 || position == 8 {
                identifier[position] = 0x2D
                position &-= 1
                continue
            }
            let digit: UInt8
            if position > 18 {
                digit = UInt8(truncatingIfNeeded: low & 15)
                low >>= 4
            } else {
                digit = UInt8(truncatingIfNeeded: high & 15)
                high >>= 4
            }
            identifier[position] = digit < 10 ? 48 &+ digit : 87 &+ digit
            position &-= 1
        }
    }
}
