import Measurement
import Payloads

/// Tells a recording what one worker's clients send.
///
/// Cost a push while it records: two hashes (about 60 ns), a look at the topic, 40 bytes; without a recording one branch.
final class PushRecorder {
    private let writer: RecordingWriter
    private let block: RecordingBlock
    /// The last topic, mostly that of the next push too, and its place.
    private var topic: [UInt8] = []
    private var topicPlace: UInt16 = 0

    init(_ writer: RecordingWriter, worker: Int) {
        self.writer = writer
        block = RecordingBlock(writer, thread: worker)
    }

    /// - Parameters:
    ///   - answer: nil: it is never answered.
    ///   - connection: of the server.
    ///   - time: when it began to come, ns since the server's start.
    func note(_ request: RequestState, _ answer: PushAnswer?, connection: UInt64, time: UInt64) {
        var push = RecordedPush()
        push.time = time
        let token = request.deviceToken
        // Of hexadecimal digits both cases are one.
        push.device = token.isEmpty ? 0 : max(1, writer.hash.hash(token, setting: 0x20))
        if request.has(.collapseID) { push.collapseID = max(1, writer.hash.hash(request.value(.collapseID))) }
        push.connection = UInt32(truncatingIfNeeded: connection)
        push.size = UInt32(clamping: min(request.bodyCount, Int(RecordedPush.largest)))
        push.topic = place(request.value(.topic))
        if let answer {
            push.status = UInt16(clamping: answer.status)
            if let reason = answer.reason { push.reason = UInt8(clamping: reason.rawValue) }
        }
        push.type = type(request, isAccepted: answer?.isAccepted ?? true)
        push.priority = priority(request)
        (push.givesType, push.givesPriority) = (request.has(.pushType), request.has(.priority))
        if request.has(.expiration) {
            let value = request.value(.expiration)
            push.expiration = value.count == 1 && value[0] == 0x30 ? .once : .time
        }
        block.add(push)
    }

    func flush() { block.flush() }

    private func place(_ text: UnsafeRawBufferPointer) -> UInt16 {
        if topic.elementsEqual(text) { return topicPlace }
        topic = Array(text)
        topicPlace = writer.topic(text)
        return topicPlace
    }

    /// A refused request may not have been asked for its type.
    private func type(_ request: RequestState, isAccepted: Bool) -> UInt8 {
        guard !isAccepted, request.has(.pushType) else { return UInt8(request.pushType.number) }
        return PushType(rawValue: request.text(.pushType)).map { UInt8($0.number) } ?? RecordedPush.none
    }

    private func priority(_ request: RequestState) -> UInt8 {
        guard request.has(.priority) else { return 10 }
        let value = request.value(.priority)
        switch (value.count, value.first ?? 0, value.last ?? 0) {
        case (2, 0x31, 0x30): return 10
        case (1, 0x35, _): return 5
        case (1, 0x31, _): return 1
        default: return 0
        }
    }
}

extension RecordingWriter {
    /// The file of a mock's recording.
    ///
    /// - Parameter limit: most pushes.
    package convenience init(_ path: String, limit: UInt64) {
        self.init(
            path, types: PushType.allCases.sorted { $0.number < $1.number }.map(\.rawValue),
            reasons: Reason.allCases.sorted { $0.rawValue < $1.rawValue }.map(\.name), limit: limit)
    }
}
