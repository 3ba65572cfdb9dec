import Faults
import HTTP2
import Payloads

/// The answers' header blocks and bodies, made once a worker.
final class AnswerBlocks {
    /// A block, whose owner is in `blocks`, and where its `apns-id` goes.
    private struct Made {
        let block: Unmanaged<ResponseBlock>
        let identifier: UnsafeMutablePointer<UInt8>
    }

    private let blocks: [ResponseBlock]
    private let accepted: Made
    /// In the development environment: with `apns-unique-id`.
    private let traced: Made
    private let uniqueIdentifier: UnsafeMutablePointer<UInt8>
    private let rejected: [Made]
    private let bodies: [[UInt8]]
    private let startTime: Int64
    private var random: SeededRandom
    private static let identifierLength = 36

    /// - Parameter startTime: UNIX seconds.
    init(seed: UInt64, startTime: Int64) {
        self.startTime = startTime
        var blocks: [ResponseBlock] = []
        func made(_ status: Int) -> (ResponseBlock, Made) {
            let block = ResponseBlock(capacity: 192)
            block.addStatus(status)
            let place = block.addVariable("apns-id", length: Self.identifierLength)
            blocks.append(block)
            return (block, Made(block: .passUnretained(block), identifier: block.value(at: place)))
        }
        accepted = made(200).1
        let (development, traced) = made(200)
        self.traced = traced
        uniqueIdentifier = development.value(
            at: development.addVariable("apns-unique-id", length: Self.identifierLength))
        rejected = Reason.allCases.map { reason in
            let (block, rejection) = made(reason.status)
            block.add("content-type", "application/json")
            return rejection
        }
        self.blocks = blocks
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
    ) -> Unmanaged<ResponseBlock> {
        let made: Made
        if let reason {
            made = rejected[reason.rawValue]
        } else if environment == .development {
            made = traced
            (unique ?? draw()).write(to: uniqueIdentifier)
        } else {
            made = accepted
        }
        if let requestIdentifier, requestIdentifier.count == Self.identifierLength {
            UnsafeMutableRawPointer(made.identifier).copyMemory(
                from: requestIdentifier.baseAddress!, byteCount: Self.identifierLength)
        } else {
            (drawn ?? draw()).write(to: made.identifier)
        }
        return made.block
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
            uuid.write(to: $0.baseAddress!)
            return Self.identifierLength
        }
    }
}
