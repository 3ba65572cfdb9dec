import PlainHTTP
import Settings

/// What the backend answers, and what it does for it.
struct BackendPages {
    let users: BackendUsers
    /// Of a payload that nobody gave, bytes.
    let payloadSize: Int
    private let content: [UInt8]
    /// Of an attachment, bytes.
    static let largestAttachment = 10 << 20

    init(users: BackendUsers, payloadSize: Int) {
        self.users = users
        self.payloadSize = payloadSize
        content = Self.filler(payloadSize)
    }

    /// What a request is of; nil when it is none that faults are for.
    static func kind(_ request: PlainRequest) -> RequestKind? {
        let path = request.path.utf8
        if path.elementsEqual("/api/notifications".utf8) { return .create }
        if path.starts(with: "/api/notifications/".utf8) { return .fetch }
        if path.elementsEqual("/api/actions".utf8) { return .action }
        if path.elementsEqual("/api/content".utf8) { return .content }
        return path.starts(with: "/attachments/".utf8) ? .attachment : nil
    }

    func answer(
        _ request: PlainRequest, _ kind: RequestKind?, isEmpty: Bool = false, store: BackendStore
    ) throws(BackendError) -> (PlainResponse, BackendCounts.Kind) {
        guard let kind else {
            return (
                .text(
                    "\(request.path.prefix(80)): expected /api/content, /api/notifications, /api/actions, /attachments/<size> or /stats",
                    status: 404), .refused
            )
        }
        let method = kind == .create || kind == .action ? "POST" : "GET"
        guard request.method == method else { return (.wrongMethod(request, allowed: [method]), .refused) }
        if kind == .attachment { return attachment(request.path) }
        guard let user = users.user(request.authorization) else {
            var response = PlainResponse.text("expected HTTP Basic with the credentials of a user", status: 401)
            response.fields = ["www-authenticate: Basic realm=\"mock-apns backend\", charset=\"UTF-8\""]
            return (response, .unauthorized)
        }
        switch kind {
        case .create: return try create(request, user, store)
        case .action: return try takeAction(request, user, store)
        case .content:
            if isEmpty { return (PlainResponse(status: 204, body: []), .noContent) }
            return (PlainResponse(status: 200, type: "application/octet-stream", body: content), .content)
        default: return try fetch(request.path, user, store)
        }
    }

    private func create(
        _ request: PlainRequest, _ user: String, _ store: BackendStore
    ) throws(BackendError) -> (PlainResponse, BackendCounts.Kind) {
        let notification: NewNotification
        do throws(BadRequest) { notification = try NewNotification(request, from: user) } catch {
            return (.text(error.problem, status: 400), .refused)
        }
        let id = try store.create(notification)
        var response = PlainResponse(
            status: 201, type: "application/json", body: Array("{\"id\":\(id)}\n".utf8))
        response.fields = ["location: /api/notifications/\(id)"]
        return (response, .created)
    }

    private func fetch(
        _ path: String, _ user: String, _ store: BackendStore
    ) throws(BackendError) -> (PlainResponse, BackendCounts.Kind) {
        let text = path.dropFirst("/api/notifications/".count)
        guard text.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let id = Int64(text) else {
            return (
                .text("\"\(text.prefix(80))\" is not a notification's id: expected a number", status: 404), .unknownID
            )
        }
        switch try store.fetch(id, for: user) {
        case .unknown: return (.text("no notification \(id)", status: 404), .unknownID)
        case .forbidden: return (.text("notification \(id) is for another user", status: 403), .forbidden)
        case .payload(let payload, let richType, let isFirst):
            let found = payload ?? Payload(type: NewNotification.type(of: richType), body: Self.filler(payloadSize))
            return (
                PlainResponse(status: 200, type: found.type, body: found.body), isFirst ? .fetched : .fetchedAgain
            )
        }
    }

    private func takeAction(
        _ request: PlainRequest, _ user: String, _ store: BackendStore
    ) throws(BackendError) -> (PlainResponse, BackendCounts.Kind) {
        let action: TakenAction
        do throws(BadRequest) { action = try TakenAction(request) } catch {
            return (.text(error.problem, status: 400), .refused)
        }
        try store.add(action, of: user)
        return (PlainResponse(status: 201, type: "application/json", body: Array("{}\n".utf8)), .actions)
    }

    private static let types = [
        "jpg": "image/jpeg", "png": "image/png", "gif": "image/gif", "mp3": "audio/mpeg", "mp4": "video/mp4",
    ]

    /// `/attachments/20KiB`, `/attachments/1MB.jpg`.
    private func attachment(_ path: String) -> (PlainResponse, BackendCounts.Kind) {
        var text = path.dropFirst("/attachments/".count)
        var type = "application/octet-stream"
        if let dot = text.lastIndex(of: "."), let known = Self.types[String(text[text.index(after: dot)...])] {
            type = known
            text = text[..<dot]
        }
        guard let size = try? Units.bytes(String(text)), (0...Self.largestAttachment).contains(size) else {
            return (
                .text(
                    "\(path.prefix(80)): expected a size of at most 10MiB, as in /attachments/20KiB.jpg", status: 404),
                .refused
            )
        }
        return (PlainResponse(status: 200, type: type, body: Self.filler(size)), .attachments)
    }

    /// Bytes that say nothing: 0 to 255, again and again.
    static func filler(_ count: Int) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: count) { memory, used in
            for place in 0..<count { memory[place] = UInt8(truncatingIfNeeded: place) }
            used = count
        }
    }
}
