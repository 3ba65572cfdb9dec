import Faults
import HTTP2
import Payloads

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

    /// The block of an answer whose `apns-id` is the request's, or the one drawn for it, or a new one; valid until the next call.
    ///
    /// - Parameter unique: the `apns-unique-id` drawn for it; nil: a new one.
    func block(
        _ reason: Reason?, requestIdentifier: UnsafeRawBufferPointer?, drawn: RandomUUID?, unique: RandomUUID?,
        environment: PushEnvironment
    ) -> ResponseBlock {
        let block: ResponseBlock
        let place: Int
        if let reason {
            (block, place) = rejected[reason.rawValue]
        } else if environment == .development {
            (block, place) = (traced, tracedIdentifier)
            write(unique ?? draw(), to: traced.value(at: uniqueIdentifier))
        } else {
            (block, place) = (accepted, acceptedIdentifier)
        }
        if let requestIdentifier, requestIdentifier.count == Self.identifierLength {
            let text = requestIdentifier.baseAddress!.assumingMemoryBound(to: UInt8.self)
            block.set(place, text, Self.identifierLength)
        } else {
            write(drawn ?? draw(), to: block.value(at: place))
        }
        return block
    }

    func draw() -> RandomUUID {
        RandomUUID(high: random.next() & ~0xF000 | 0x4000, low: random.next() & ~(3 << 62) | 2 << 62)
    }

    /// The `apns-id` that the answer has or will have: the request's when that is a UUID.
    func identifier(of state: RequestState) -> String {
        if state.has(.identifier), RequestChecks.isUUID(state.value(.identifier)) { return state.text(.identifier) }
        let drawn = state.drawnIdentifier ?? draw()
        state.drawnIdentifier = drawn
        return text(drawn)
    }

    /// The push's number among all, which the answer says in `apns-unique-id` where there is one.
    func uniqueIdentifier(of state: RequestState) -> RandomUUID {
        let drawn = state.uniqueIdentifier ?? draw()
        state.uniqueIdentifier = drawn
        return drawn
    }

    func text(_ uuid: RandomUUID) -> String {
        String(unsafeUninitializedCapacity: Self.identifierLength) {
            write(uuid, to: $0.baseAddress!)
            return Self.identifierLength
        }
    }

    /// As text, lower case.
    private func write(_ uuid: RandomUUID, to identifier: UnsafeMutablePointer<UInt8>) {
        let (high, low) = (uuid.high, uuid.low)
        // Sixteen digits in two words: 8-4-4 and 4-12.
        let words = (
            HexDigits.text(UInt32(truncatingIfNeeded: high >> 32)), HexDigits.text(UInt32(truncatingIfNeeded: high)),
            HexDigits.text(UInt32(truncatingIfNeeded: low >> 32)), HexDigits.text(UInt32(truncatingIfNeeded: low))
        )
        let text = UnsafeMutableRawPointer(identifier)
        text.storeBytes(of: words.0, as: UInt64.self)
        identifier[8] = 0x2D
        text.storeBytes(of: words.1, toByteOffset: 9, as: UInt64.self)
        // The second word's last four digits, behind their dash.
        text.storeBytes(
            of: UInt32(truncatingIfNeeded: words.1.littleEndian >> 32).littleEndian, toByteOffset: 14, as: UInt32.self)
        identifier[13] = 0x2D
        identifier[18] = 0x2D
        text.storeBytes(of: words.2, toByteOffset: 19, as: UInt64.self)
        text.storeBytes(
            of: UInt32(truncatingIfNeeded: words.2.littleEndian >> 32).littleEndian, toByteOffset: 24, as: UInt32.self)
        identifier[23] = 0x2D
        text.storeBytes(of: words.3, toByteOffset: 28, as: UInt64.self)
    }
}
