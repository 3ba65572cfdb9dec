import Devices
import Foundation
import Payloads

/// Makes URL and body of a device's request.
struct EchoContentWriter {
    /// Why a request is never sent.
    enum Refusal: String, Error {
        case foreignHost = "foreign host"
        case badURL = "bad URL"
    }

    private let target: EchoTarget
    private let origin: String
    private let base: String
    private let devices: SyntheticDevices

    init(_ target: EchoTarget, seed: UInt64) {
        self.target = target
        origin = target.origin
        base = target.url
        devices = SyntheticDevices(seed: seed, count: .max)
    }

    func content(_ request: EchoRequest) throws(Refusal) -> EchoContent {
        EchoContent(url: try url(request.path), body: request.kind == .action ? action(request) : nil)
    }

    /// A path is asked of the backend below its prefix; of a whole URL, which has to be of the backend's host, its path and query.
    private func url(_ text: String) throws(Refusal) -> String {
        guard text.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else { throw .badURL }
        let text = text.prefix { $0 != "#" }
        if text.hasPrefix("/"), !text.hasPrefix("//") { return base + text }
        let lower = text.lowercased()
        guard let scheme = ["http://", "https://"].first(where: { lower.hasPrefix($0) }) else { throw .foreignHost }
        let rest = text.dropFirst(scheme.count)
        let end = rest.firstIndex { $0 == "/" || $0 == "?" } ?? rest.endIndex
        var host = rest[..<end].lowercased()[...]
        if let at = host.lastIndex(of: "@") { host = host[host.index(after: at)...] }
        if host.hasPrefix("[") {
            host = host.dropFirst().prefix { $0 != "]" }
        } else {
            host = host.prefix { $0 != ":" }
        }
        guard host == target.host else { throw .foreignHost }
        let path = rest[end...]
        return origin + (path.hasPrefix("/") ? "" : "/") + path
    }

    /// As `POST /api/actions` takes it (docs/backend.md).
    private struct Action: Encodable {
        let device: String
        let notification: String
        let action: String
        let text: String?
    }

    private func action(_ request: EchoRequest) -> [UInt8] {
        // A push without an identifier is told by its number.
        let notification =
            request.notification.isEmpty ? request.ticket.map { String($0) } ?? "-" : request.notification
        let action = Action(
            device: token(request), notification: notification, action: request.action,
            text: request.text.isEmpty ? nil : request.text)
        return (try? JSONEncoder().encode(action)).map { Array($0) } ?? []
    }

    /// The device's token, where it is a synthetic one; of others only a hash is known: 16 digits.
    private func token(_ request: EchoRequest) -> String {
        let token = devices.token(request.number)
        if DeviceKey(token) == request.device { return token }
        let digits = String(request.device.word, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }
}
