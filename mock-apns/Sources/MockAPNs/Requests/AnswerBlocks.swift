import HTTP2

/// The answers' header blocks and bodies, made once a worker.
final class AnswerBlocks {
    private let accepted: ResponseBlock
    private let acceptedIdentifier: Int
    /// In the development environment: with `apns-unique-id`.
    private let traced: ResponseBlock
    private let tracedIdentifier: Int
    private let uniqueIdentifier: Int
    private let rejected: [(block: ResponseBlock, identifier: Int)]
    private let bodies: [[UInt8]]
    private let startTime: Int64
    private var random: SeededRandom
    private static let identifierLength = 36

    /// - Parameter startTime: UNIX seconds.
    init(seed: UInt64, startTime: Int64) {
        self.startTime = startTime
        func block(_ status: Int) -> (ResponseBlock, Int) {
            let block = ResponseBlock(capacity: 192)
            block.addStatus(status)
            return (block, block.addVariable("apns-id", length: Self.identifierLength))
        }
        (accepted, acceptedIdentifier) = block(200)
        (traced, tracedIdentifier) = block(200)
        uniqueIdentifier = traced.addVariable("apns-unique-id", length: Self.identifierLength)
        rejected = Reason.allCases.map { reason in
            let (block, identifier) = block(reason.status)
            block.add("content-type", "application/json")
            return (block, identifier)
        }
        bodies = Reason.allCases.map { $0.body(timestamp: startTime * 1000) }
        random = SeededRandom(seed: seed)
    }

    /// The body of a rejection; nil when accepted.
    func body(_ answer: PushAnswer) -> [UInt8]? {
        guard let reason = answer.reason else { return nil }
        // A 410 without a time of its own (a fault rule's) has been so since the mock was started.
        if reason.status == 410, answer.timestamp != 0 { return reason.body(timestamp: answer.timestamp) }
        return bodies[reason.rawValue]
    }

    /// The block of an answer whose `apns-id` is the request's, or a new one; valid until the next call.
    func block(
        _ reason: Reason?, requestIdentifier: UnsafeRawBufferPointer?, environment: PushEnvironment
    ) -> ResponseBlock {
        let block: ResponseBlock
        let place: Int
        if let reason {
            (block, place) = rejected[reason.rawValue]
        } else if environment == .development {
            (block, place) = (traced, tracedIdentifier)
            writeIdentifier(traced.value(at: uniqueIdentifier))
        } else {
            (block, place) = (accepted, acceptedIdentifier)
        }
        if let requestIdentifier, requestIdentifier.count == Self.identifierLength {
            let text = requestIdentifier.baseAddress!.assumingMemoryBound(to: UInt8.self)
            block.set(place, text, Self.identifierLength)
        } else {
            writeIdentifier(block.value(at: place))
        }
        return block
    }

    /// A random UUID as text.
    func newIdentifier() -> String {
        String(unsafeUninitializedCapacity: Self.identifierLength) {
            writeIdentifier($0.baseAddress!)
            return Self.identifierLength
        }
    }

    /// A random UUID (RFC 9562 version 4), lower case.
    private func writeIdentifier(_ identifier: UnsafeMutablePointer<UInt8>) {
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
