import Foundation
import PlainHTTP
import Settings

/// What is wrong with a request: one line for its answer.
struct BadRequest: Error {
    let problem: String
    init(_ problem: String) { self.problem = problem }
}

/// A rich notification as a provider asks for it.
struct NewNotification: Equatable, Sendable {
    /// Who may fetch it.
    var user: String
    var message: String
    /// What a device makes of the payload, such as `img`.
    var richType: String?
    /// nil: bytes that say nothing, made when it is fetched.
    var payload: Payload?

    init(user: String, message: String, richType: String?, payload: Payload?) {
        self.user = user
        self.message = message
        self.richType = richType
        self.payload = payload
    }

    /// As a user: anybody.
    static let everybody = "*"

    /// The payload as it is, with `message`, `richType` and `user` in the query; or JSON, which may hold one in base 64.
    init(_ request: PlainRequest, from sender: String) throws(BadRequest) {
        let type = request.contentType.map { $0.prefix { $0 != ";" }.lowercased() } ?? ""
        if type == "application/json" {
            let body = try JSONFields(
                request.body, names: ["message", "richType", "user", "payload", "contentType"])
            message = try body.text("message") ?? ""
            richType = try body.text("richType")
            user = try body.text("user") ?? sender
            let contentType = try body.text("contentType")
            if let text = try body.text("payload") {
                guard let bytes = Data(base64Encoded: text) else {
                    throw BadRequest("\"payload\": expected bytes in base 64")
                }
                payload = Payload(type: contentType ?? Self.type(of: richType), body: Array(bytes))
            } else if contentType != nil {
                throw BadRequest("\"contentType\" without \"payload\"")
            }
        } else {
            for name in request.query.keys.sorted() where !Self.queryNames.contains(name) {
                throw BadRequest(
                    "unknown query \"\(name.prefix(80))\"" + NearestName.hint(name, among: Self.queryNames))
            }
            message = request.query["message"] ?? ""
            richType = request.query["richType"]
            user = request.query["user"] ?? sender
            if !request.body.isEmpty {
                payload = Payload(type: request.contentType ?? Self.type(of: richType), body: request.body)
            }
        }
        guard !user.isEmpty else { throw BadRequest("\"user\": expected a name, or * for everybody") }
        // It becomes a line of an answer's head.
        guard payload?.type.utf8.allSatisfy({ (0x20...0x7E).contains($0) }) ?? true else {
            throw BadRequest("\"contentType\": expected a media type such as image/png")
        }
    }

    private static let queryNames = ["message", "richType", "user"]

    /// The media type of a payload of which only the rich type is known.
    static func type(of richType: String?) -> String { richType == "img" ? "image/png" : "application/octet-stream" }
}

/// What a user did with a notification, as the app tells it.
struct TakenAction: Equatable, Sendable {
    var device: String
    var notification: String
    var action: String
    /// What was typed, where it is an action with a text field.
    var text: String?

    init(_ request: PlainRequest) throws(BadRequest) {
        let body = try JSONFields(request.body, names: ["device", "notification", "action", "text"])
        device = try body.need("device").lowercased()
        notification = try body.need("notification")
        action = try body.need("action")
        text = try body.text("text")
        guard device.utf8.count.isMultiple(of: 2), device.utf8.count <= 200, device.utf8.allSatisfy(Self.isHex) else {
            throw BadRequest("\"device\": expected a device token of at most 100 bytes in hexadecimal digits")
        }
    }

    private static func isHex(_ byte: UInt8) -> Bool {
        (0x30...0x39).contains(byte) || (0x61...0x66).contains(byte)
    }
}

/// The fields of a JSON object.
private struct JSONFields {
    private let values: [String: Any]

    /// - Parameter names: of all fields there may be.
    init(_ bytes: [UInt8], names: [String]) throws(BadRequest) {
        guard let object = try? JSONSerialization.jsonObject(with: Data(bytes)), let values = object as? [String: Any]
        else { throw BadRequest("expected a JSON object with \(names.joined(separator: ", "))") }
        for name in values.keys.sorted() where !names.contains(name) {
            throw BadRequest("unknown field \"\(name.prefix(80))\"" + NearestName.hint(name, among: names))
        }
        self.values = values
    }

    /// A text, or a whole number as one; nil where there is none.
    func text(_ name: String) throws(BadRequest) -> String? {
        switch values[name] {
        case nil, is NSNull: return nil
        case let text as String: return text
        case let number as NSNumber
        where String(cString: number.objCType) != "c"
            && number.stringValue.utf8.allSatisfy({ (0x30...0x39).contains($0) }):
            return number.stringValue
        default: throw BadRequest("\"\(name)\": expected a text")
        }
    }

    func need(_ name: String) throws(BadRequest) -> String {
        guard let text = try text(name), !text.isEmpty else { throw BadRequest("\"\(name)\": expected a text") }
        return text
    }
}
