import HTTP2

/// The answers' header blocks and bodies, made once a worker.
final class AnswerBlocks {
    private let accepted: HeaderBlock
    private let acceptedIdentifier: Int
    /// In the development environment: with `apns-unique-id`.
    private let traced: HeaderBlock
    private let tracedIdentifier: Int
    private let uniqueIdentifier: Int
    private let rejected: [HeaderBlock]
    private let rejectedIdentifier: Int
    private let bodies: [[UInt8]]
    private let startTime: Int64
    private let identifier: UnsafeMutablePointer<UInt8>
    private var random: SeededRandom

    /// - Parameter startTime: UNIX seconds.
    init(seed: UInt64, startTime: Int64) {
        self.startTime = startTime
        accepted = HeaderBlock(capacity: 2)
        accepted.add(":status", "200")
        acceptedIdentifier = accepted.addVariable("apns-id", indexed: false, copied: true)
        traced = HeaderBlock(capacity: 3)
        traced.add(":status", "200")
        tracedIdentifier = traced.addVariable("apns-id", indexed: false, copied: true)
        uniqueIdentifier = traced.addVariable("apns-unique-id", indexed: false, copied: true)
        var place = 0
        rejected = Reason.allCases.map { reason in
            let block = HeaderBlock(capacity: 3)
            block.add(":status", String(reason.status))
            place = block.addVariable("apns-id", indexed: false, copied: true)
            block.add("content-type", "application/json")
            return block
        }
        rejectedIdentifier = place
        bodies = Reason.allCases.map { $0.body(timestamp: startTime * 1000) }
        identifier = .allocate(capacity: 72)
        random = SeededRandom(seed: seed)
    }

    deinit { identifier.deallocate() }

    /// The body of a rejection; nil when accepted.
    func body(_ answer: PushAnswer) -> [UInt8]? {
        guard let reason = answer.reason else { return nil }
        // A 410 without a time of its own (a fault rule's) has been so since the mock was started.
        if reason.status == 410, answer.timestamp != 0 { return reason.body(timestamp: answer.timestamp) }
        return bodies[reason.rawValue]
    }

    /// The block of an answer whose `apns-id` is the request's, or a new one.
    func block(
        _ reason: Reason?, requestIdentifier: UnsafeRawBufferPointer?, environment: PushEnvironment
    ) -> HeaderBlock {
        let block: HeaderBlock
        let place: Int
        if let reason {
            (block, place) = (rejected[reason.rawValue], rejectedIdentifier)
        } else if environment == .development {
            (block, place) = (traced, tracedIdentifier)
            makeIdentifier(at: 36)
            block.setValue(uniqueIdentifier, identifier + 36, 36)
        } else {
            (block, place) = (accepted, acceptedIdentifier)
        }
        if let requestIdentifier, requestIdentifier.count == 36 {
            block.setValue(place, requestIdentifier.baseAddress!.assumingMemoryBound(to: UInt8.self), 36)
        } else {
            makeIdentifier(at: 0)
            block.setValue(place, identifier, 36)
        }
        return block
    }

    /// A random UUID as text.
    func newIdentifier() -> String {
        makeIdentifier(at: 0)
        return String(decoding: UnsafeBufferPointer(start: identifier, count: 36), as: UTF8.self)
    }

    /// A random UUID (RFC 9562 version 4), lower case.
    private func makeIdentifier(at offset: Int) {
        let identifier = identifier + offset
        var high = random.next() & ~0xF000 | 0x4000
        var low = random.next() & ~(3 << 62) | 2 << 62
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
