import Payloads

/// A push that APNs took for a device. The bytes are looked at during the call only.
package struct DevicePush {
    package var device: DeviceKey
    /// The device's number in the population, whose key opens what was sealed for it.
    package var number: UInt64
    /// The caller's name for this push.
    package var ticket: UInt64
    package var type: PushType
    /// 10, 5 or 1.
    package var priority: UInt8
    /// At most 64 bytes; empty: none.
    package var collapseID: UnsafeRawBufferPointer
    /// UNIX seconds; 0: try once; nil: not said.
    package var expiration: Int64?
    /// JSON that was checked, at most 5,120 bytes.
    package var payload: UnsafeRawBufferPointer
    /// Where its members stand down to the third level, whole payloads only; empty: not known, then it is read.
    package var members: UnsafeBufferPointer<PayloadMember>

    package init(
        device: DeviceKey, number: UInt64, ticket: UInt64, type: PushType, priority: UInt8,
        collapseID: UnsafeRawBufferPointer, expiration: Int64?, payload: UnsafeRawBufferPointer,
        members: UnsafeBufferPointer<PayloadMember> = .init(start: nil, count: 0)
    ) {
        self.device = device
        self.number = number
        self.ticket = ticket
        self.type = type
        self.priority = priority
        self.collapseID = UnsafeRawBufferPointer(start: collapseID.baseAddress, count: min(collapseID.count, 64))
        self.expiration = expiration
        self.payload = UnsafeRawBufferPointer(start: payload.baseAddress, count: min(payload.count, Self.longest))
        self.members = members
    }

    /// What it says.
    var content: PushContent { PushContent(payload, members: members) }

    // MARK: Kept for later

    /// Bytes of a payload that are looked at: with a decrypted text and identifiers they fit into one run of the byte store.
    private static let longest = 5120
    private static let head = 3
    var keptLength: Int { Self.head + collapseID.count + payload.count }

    /// Writes what is needed of it later, `keptLength` bytes.
    func keep(in bytes: UnsafeMutableRawBufferPointer) {
        bytes[0] = UInt8(collapseID.count)
        bytes[1] = priority
        bytes[2] = UInt8(PushType.allCases.firstIndex(of: type)!)
        UnsafeMutableRawBufferPointer(rebasing: bytes[Self.head...]).copyMemory(from: collapseID)
        UnsafeMutableRawBufferPointer(rebasing: bytes[(Self.head + collapseID.count)...]).copyMemory(from: payload)
    }

    /// A push that was kept.
    init(kept bytes: UnsafeRawBufferPointer, device: DeviceKey, number: UInt64, ticket: UInt64) {
        let payload = Self.head + Int(bytes[0])
        self.init(
            device: device, number: number, ticket: ticket, type: PushType.allCases[Int(bytes[2])], priority: bytes[1],
            collapseID: UnsafeRawBufferPointer(rebasing: bytes[Self.head..<payload]), expiration: nil,
            payload: UnsafeRawBufferPointer(rebasing: bytes[payload...]))
    }
}

/// A request to the app's backend that a device makes: the caller makes it, and says how it ended (`DeviceFleet.finished`).
package struct EchoRequest: Sendable, Equatable {
    package enum Kind: String, Sendable, CaseIterable {
        /// GET of what a silent push announced.
        case fetch
        /// GET of a rich notification.
        case rich
        /// GET of what the service extension attaches.
        case attachment
        /// POST of what the user did with a notification.
        case action
    }

    /// The fleet's name for it.
    package let id: UInt64
    package let kind: Kind
    package let device: DeviceKey
    package let number: UInt64
    /// Of the push that it is for; nil for a local notification's.
    package let ticket: UInt64?
    /// Of the backend, or the whole URL of an attachment.
    package let path: String
    /// The request identifier of the notification; empty: it has none.
    package let notification: String
    /// `default`, `dismiss`, or a custom action's identifier.
    package let action: String
    /// What was typed.
    package let text: String
    /// Nanoseconds since 1970: what has not ended by then has failed.
    package let deadline: UInt64
}

/// How a request ended.
package enum EchoEnding: Sendable, CaseIterable { case newData, noData, failed }

/// What became of a push or of its content, and when.
package struct DeviceReport: Sendable, Equatable {
    package enum Kind: Sendable, Equatable {
        /// Its last one; at the end of a run the one that it has.
        case outcome(DeviceOutcome)
        /// Its fetched, decrypted or attached content was there.
        case content
        /// It had content that it will not get, or had not got by the end of a run.
        case noContent
    }

    package let ticket: UInt64
    package let kind: Kind
    /// Nanoseconds since 1970; 0: it could still change at the end of a run.
    package let at: UInt64
}
