import Foundation

/// A payload template, checked once and compiled to constant segments and typed holes.
///
/// The trace tag is added as the last key of every payload. What a template can become is never longer than the limit.
public struct PayloadTemplate: Sendable {
    public let name: String
    /// Most bytes a payload can have, trace tag included.
    public let maximumSize: Int
    /// Fewest bytes a payload can have.
    public let minimumSize: Int
    let pieces: [TemplateParser.Piece]
    /// Most bytes sealed at once, 0 when nothing is.
    let longestSealed: Int

    /// - Parameters:
    ///   - json: JSON text with holes.
    ///   - name: a file or profile, for error messages.
    ///   - pushType: gives the size limit, 4,096 or 5,120 bytes, and whether `aps` must be there.
    ///   - longestToken: digits of the longest device token.
    public init(
        json: String, name: String, pushType: PushType = .alert, longestToken: Int = SyntheticDevices.tokenLength
    ) throws(TemplateError) {
        let trace = Self.traceOverhead
        let parsed = try TemplateParser.parse(
            json, name: name, limit: pushType.payloadLimit - trace, tokenLength: longestToken,
            requiresAPS: pushType != .mdm)
        // The last constant ends with the object's '}': the trace tag goes before it.
        guard case .constant(var last)? = parsed.last else { preconditionFailure("a template ends with '}'") }
        last.removeLast()
        let isEmpty = parsed.count == 1 && last == [0x7B]
        last += Array("\(isEmpty ? "" : ",")\"\(TraceTag.key)\":\"".utf8)
        var pieces = Array(parsed.dropLast())
        pieces.append(.constant(last))
        self.pieces = pieces
        self.name = name
        var longest = TraceTag.capacity + 2
        var shortest = 18 + 2
        var sealed = 0
        for piece in pieces {
            switch piece {
            case .constant(let bytes):
                longest += bytes.count
                shortest += bytes.count
            case .hole(let hole):
                longest += hole.longest(token: longestToken)
                shortest += hole.shortest(token: longestToken)
                if case .sealed(_, let most) = hole { sealed = max(sealed, most) }
            }
        }
        maximumSize = longest
        minimumSize = shortest
        longestSealed = sealed
    }

    /// A template from a notification; its texts may hold holes.
    public init(_ notification: Notification, name: String, pushType: PushType = .alert) throws {
        try self.init(json: notification.json(), name: name, pushType: pushType)
    }

    /// It names a notification that a backend has (`{{notification_id}}`), which is to be stored there first.
    public var namesNotification: Bool {
        pieces.contains { if case .hole(.notificationID) = $0 { true } else { false } }
    }

    /// It is a rich push of the devices' own app, which fetches and then shows it.
    var isRichPush: Bool { hasKey("richId") }

    /// - Parameter key: as JSON writes it, without a hole.
    func hasKey(_ key: String) -> Bool {
        pieces.contains { piece in
            guard case .constant(let bytes) = piece else { return false }
            return String(decoding: bytes, as: UTF8.self).contains("\"\(key)\"")
        }
    }

    /// Bytes the trace tag takes at most: `,"pushload-trace":"…"`.
    public static let traceOverhead = 1 + 2 + TraceTag.key.utf8.count + 1 + 2 + TraceTag.capacity
}
