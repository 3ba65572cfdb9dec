import Measurement
import Payloads
import Results
import Scenarios
import Settings
import Transport

/// A recording as a run sends it again: when each push is due, and what it is like.
///
/// 12 bytes a push besides its due time. Cost of one: its payload's bytes; no allocation.
final class Replay: @unchecked Sendable {
    /// What of a push differs from others.
    private struct Entry {
        var device: UInt32
        var connection: UInt32
        var size: UInt16
        var kind: UInt16
    }

    /// What all pushes of a kind have in common.
    private struct Kind: Hashable {
        var type: UInt8
        var priority: UInt8
        var givesType: Bool
        var givesPriority: Bool
        var expiration: RecordedPush.Expiration
        var topic: UInt16
        /// From 1 on; 0: none.
        var collapseID: UInt16
    }

    /// Of the recording, for who shows it.
    let facts: ReplayFacts
    /// Due times, ns after the first push.
    let dues: [UInt64]
    /// Of each kind.
    let headers: [PushHeaders]
    /// Push types that there are, in the order of their first pushes.
    let types: [PushType]
    /// Those of the recording.
    let connections: Int
    let devices: UInt64
    /// Largest payload, bytes.
    let largest: Int
    /// What the reader of a result has to know of it, a sentence each.
    let notes: [String]
    private let entries: UnsafeMutablePointer<Entry>
    /// Of each kind, its type and that one's place among `types`.
    private let kindTypes: UnsafeMutablePointer<(type: PushType, place: Int)>

    /// Kinds of push, each a set of headers in the memory of every worker.
    private static let mostKinds = 65_535
    /// Collapse ids that are told apart.
    static let mostCollapseIDs = 1024
    /// Bytes of the largest payload that is sent: more is refused anyway, and fits into a frame.
    static let largestPayload = 16_384

    /// - Parameters:
    ///   - topic: instead of the recorded ones, a bundle id; empty: none.
    ///   - speed: as many times as fast.
    ///   - now: UNIX seconds.
    /// - Throws: one line when the file is no whole recording, or cannot be sent so.
    init(_ path: String, speed: Double, topic: String, now: Int64) throws(HarnessError) {
        let recording: Recording
        do throws(BinaryFileFailure) { recording = try RecordingFile.read(path) } catch {
            throw HarnessError(error.description)
        }
        facts = ReplayFacts(recording)
        let pushes = recording.pushes
        dues = try Self.dues(pushes, speed: speed, path)
        let topics = recording.topics.map { Self.isTopic($0) ? $0 : "" }
        let known = recording.types.map { PushType(rawValue: $0) }
        var (devices, kinds): ([UInt64: UInt32], [Kind: UInt16]) = ([:], [:])
        var collapseIDs: [UInt64: UInt16] = [:]
        var (order, types): ([Kind], [PushType]) = ([], [])
        var odd = Oddities()
        entries = .allocate(capacity: pushes.count)
        var largest = 0
        for (sequence, push) in pushes.enumerated() {
            let type = Int(push.type) < known.count ? known[Int(push.type)] : nil
            if push.status != 0, push.status != 200 { odd.rejected += 1 }
            if push.device == 0 { odd.tokenless += 1 }
            if push.priority == 0 { odd.priorityless += 1 }
            if type == nil { odd.unknown += 1 }
            let size = min(Int(push.size), Self.largestPayload)
            if size < push.size { odd.cut += 1 }
            largest = max(largest, size)
            if topic.isEmpty, topics[Int(push.topic)].isEmpty { odd.topicless += 1 }
            if !SizedPayload.fitsTag(type ?? .alert, size: size, sequence: UInt64(sequence)) { odd.untraced += 1 }
            var collapseID: UInt16 = 0
            if push.collapseID != 0 {
                collapseID =
                    collapseIDs[push.collapseID] ?? UInt16(collapseIDs.count % Self.mostCollapseIDs + 1)
                collapseIDs[push.collapseID] = collapseID
            }
            let kind = Kind(
                type: push.type, priority: push.priority, givesType: push.givesType,
                givesPriority: push.givesPriority, expiration: push.expiration,
                topic: topic.isEmpty ? push.topic : 0, collapseID: collapseID)
            if kinds[kind] == nil {
                guard order.count < Self.mostKinds else {
                    entries.deallocate()
                    throw HarnessError(
                        "replay \(path): more than \(Units.grouped(UInt64(Self.mostKinds))) kinds of push by type, priority, "
                            + "topic, expiration and collapse id; give --topic, which makes fewer of them")
                }
                kinds[kind] = UInt16(order.count)
                order.append(kind)
                if !types.contains(type ?? .alert) { types.append(type ?? .alert) }
            }
            let device = devices[push.device] ?? UInt32(devices.count)
            devices[push.device] = device
            (entries + sequence).initialize(
                to: Entry(
                    device: device, connection: push.connection, size: UInt16(size), kind: kinds[kind]!))
        }
        self.types = types
        self.largest = largest
        self.devices = UInt64(devices.count)
        connections = recording.connections
        kindTypes = .allocate(capacity: max(order.count, 1))
        var headers: [PushHeaders] = []
        for (place, kind) in order.enumerated() {
            let type = Int(kind.type) < known.count ? known[Int(kind.type)] ?? .alert : .alert
            (kindTypes + place).initialize(to: (type, types.firstIndex(of: type)!))
            let expiration: Int64? =
                switch kind.expiration {
                case .absent: nil
                case .once: 0
                case .time: now + Self.storedFor
                }
            headers.append(
                PushHeaders(
                    recorded: type, sendsType: kind.givesType,
                    topic: topic.isEmpty
                        ? topics[Int(kind.topic)]
                        : topic.hasSuffix(type.topicSuffix) ? topic : topic + type.topicSuffix,
                    priority: kind.givesPriority && kind.priority != 0 ? Int(kind.priority) : nil,
                    expiration: expiration,
                    collapseID: kind.collapseID == 0 ? nil : "replay-\(kind.collapseID)"))
        }
        self.headers = headers
        odd.collapseIDs = collapseIDs.count
        notes = Self.notes(recording, odd)
        untraced = odd.untraced
    }

    deinit {
        entries.deallocate()
        kindTypes.deallocate()
    }

    /// Pushes too small for the trace tag.
    let untraced: UInt64

    /// Of pushes whose `apns-expiration` was a time: so long from now, seconds. APNs stores for 30 days at most.
    private static let storedFor: Int64 = 30 * 86_400

    /// - Throws: when they are due for longer than a run may take.
    private static func dues(
        _ pushes: [RecordedPush], speed: Double, _ path: String
    ) throws(HarnessError) -> [UInt64] {
        let (first, last) = (pushes[0].time, pushes[pushes.count - 1].time)
        let longest = 30.0 * 86_400 * 1e9
        guard Double(last - first) / speed <= longest else {
            throw HarnessError(
                "replay \(path): takes longer than 30 days at speed \(speed); give a higher one")
        }
        if speed == 1 { return pushes.map { $0.time - first } }
        return pushes.map { UInt64((Double($0.time - first) / speed).rounded()) }
    }

    /// A header may have it.
    private static func isTopic(_ text: String) -> Bool {
        text.utf8.allSatisfy { byte in
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E, 0x5F: true
            default: false
            }
        }
    }

    /// Pushes that are not sent as they came, or of which not all is known.
    private struct Oddities {
        var rejected: UInt64 = 0
        var tokenless: UInt64 = 0
        var priorityless: UInt64 = 0
        var unknown: UInt64 = 0
        var cut: UInt64 = 0
        var topicless: UInt64 = 0
        var untraced: UInt64 = 0
        var collapseIDs = 0
    }

    private static func notes(_ recording: Recording, _ odd: Oddities) -> [String] {
        var notes: [String] = []
        if !recording.isComplete {
            notes.append("the recording is not complete: its mock was killed, or could not write all of it")
        }
        if recording.leftOut > 0 {
            notes.append(
                "the recording leaves out \(Units.counted(recording.leftOut, "push")) that came after its limit")
        }
        if odd.rejected > 0 {
            notes.append(
                "\(Units.counted(odd.rejected, "push")) of the recording that had been rejected: what was wrong with a path, a "
                    + "method, a header, a token or a payload is not recorded, and they are sent as good ones")
        }
        if odd.tokenless > 0 {
            notes.append(
                "\(Units.counted(odd.tokenless, "push")) of the recording without a device token: sent to a device of their own"
            )
        }
        if odd.priorityless > 0 {
            notes.append(
                "\(Units.counted(odd.priorityless, "push")) of the recording with a priority that APNs has not: sent without one"
            )
        }
        if odd.untraced == UInt64(recording.pushes.count) {
            notes.append("\(ResultDocument.untracedMark): whether any was lost or doubled is not known")
        } else if odd.untraced > 0 {
            notes.append(
                "\(Units.counted(odd.untraced, "push")) of the recording too small for the trace tag: whether they were lost or "
                    + "doubled is not known")
        }
        if odd.topicless > 0 {
            notes.append(
                "\(Units.counted(odd.topicless, "push")) of the recording without a topic that can be sent: sent without one; "
                    + "--topic gives all of them one")
        }
        if odd.unknown > 0 {
            notes.append(
                "\(Units.counted(odd.unknown, "push")) of the recording with a push type that APNs has not: sent as alerts"
            )
        }
        if odd.cut > 0 {
            notes.append(
                "\(Units.counted(odd.cut, "push")) of the recording with payloads of more than "
                    + "\(Units.grouped(UInt64(largestPayload))) B: sent with so many")
        }
        if odd.collapseIDs > mostCollapseIDs {
            notes.append(
                "\(Units.grouped(UInt64(odd.collapseIDs))) collapse ids in the recording: sent with "
                    + "\(Units.grouped(UInt64(mostCollapseIDs))) different ones")
        }
        return notes
    }

    /// A profile for each push type: what its pushes have in common for breakdowns and devices.
    var mix: ProfileMix {
        get throws {
            ProfileMix(
                try types.map { type in
                    let json = type == .mdm ? #"{"mdm":"replayed"}"# : #"{"aps":{}}"#
                    let template = try PayloadTemplate(json: json, name: type.rawValue, pushType: type)
                    return .init(profile: Profile(name: type.rawValue, pushType: type, template: template), weight: 1)
                })
        }
    }

    // MARK: A push's way

    /// The connection that push `sequence` came over.
    @inline(__always)
    func connection(_ sequence: UInt64) -> Int { Int(entries[Int(sequence)].connection) }

    /// The device that push `sequence` is for, by number.
    func device(_ sequence: UInt64) -> UInt64 { UInt64(entries[Int(sequence)].device) }

    /// The place of its push type among `types`.
    func type(_ sequence: UInt64) -> Int { kindTypes[Int(entries[Int(sequence)].kind)].place }

    /// The set of headers that push `sequence` has.
    func kind(_ sequence: UInt64) -> Int { Int(entries[Int(sequence)].kind) }

    /// The mock can tell of none which it is.
    var isUntraceable: Bool { untraced == UInt64(dues.count) }

    /// The mock can tell by its payload which push it is.
    @inline(__always)
    func isTraced(_ sequence: UInt64) -> Bool {
        if untraced == 0 { return true }
        let entry = entries[Int(sequence)]
        return SizedPayload.fitsTag(kindTypes[Int(entry.kind)].type, size: Int(entry.size), sequence: sequence)
    }

    /// Writes the payload of push `sequence`; returns its length.
    ///
    /// - Parameter output: `largest + SizedPayload.slack` bytes.
    func write(
        _ sequence: UInt64, run: RunID, unixTime: UInt64, into output: UnsafeMutablePointer<UInt8>
    ) -> Int {
        let entry = entries[Int(sequence)]
        let size = Int(entry.size)
        SizedPayload.write(
            kindTypes[Int(entry.kind)].type, size: size, run: run, sequence: sequence, unixTime: unixTime, into: output)
        return size
    }
}
