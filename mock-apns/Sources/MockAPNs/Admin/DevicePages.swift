import Devices
import Foundation
import Networking
import PlainHTTP
import Settings

/// `/devices/<token>/…`: what a device of the model shows, and hands that use it.
struct DevicePages {
    let server: MockServer

    /// What somebody does with a device; each is a page.
    private enum Hand: String, CaseIterable { case tap, dismiss, reply, unlock, lock, open }

    /// A problem, and the status it is answered with.
    private struct Refusal: Error {
        let status: Int
        let text: String
    }

    /// What a request may say in its body.
    private struct Wish {
        var notification: String?
        var action: String?
        var text: String?
    }

    static let pages =
        "GET /devices/<token>/screen, screen.html\n  POST /devices/<token>/"
        + Hand.allCases.map(\.rawValue).joined(separator: "|")
    /// Bytes of a reply that are taken.
    private static let longestText = 4096

    /// - Parameter request: whose path is `/devices/`, a token, a slash and more.
    func answer(_ request: PlainRequest) -> PlainResponse {
        let parts = request.path.dropFirst("/devices/".count).split(
            separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        let (token, page) = (String(parts[0]), String(parts[1]))
        let rules = server.shared.configuration.rules
        guard rules.isToken(token) else { return AdminPages.badToken(rules) }
        let hand = Hand(rawValue: page)
        guard hand != nil || page == "screen" || page == "screen.html" else {
            let hint = NearestName.hint(page, among: ["screen", "screen.html"] + Hand.allCases.map(\.rawValue))
            return .text("/devices/<token>/\(page.prefix(80)): no such page\(hint)", status: 404)
        }
        let method = hand == nil ? "GET" : "POST"
        guard request.method == method else { return .wrongMethod(request, allowed: [method]) }
        guard let fleets = server.shared.fleets else {
            return .text("there is no device model; start mock-apns with --device-model on", status: 404)
        }
        guard server.shared.home.directory.has(token) else {
            return .text("there is no device with this token among those that are registered", status: 404)
        }
        let now = MonotonicClock.now()
        do throws(Refusal) {
            let wish = try hand.map { (hand) throws(Refusal) in try Self.wish(hand, request.body) }
            let result = fleets.use(token, now: now) { (fleet, key, number, time) -> Result<DeviceScreen, Refusal> in
                Result { () throws(Refusal) in
                    if let hand, let wish {
                        try use(hand, wish, fleet, key, number, time)
                    }
                    return fleet.screen(of: key, at: time)
                }
            }
            let document = ScreenDocument(try result.get(), token: token.lowercased())
            if page == "screen.html" || request.accept?.contains("text/html") == true {
                return PlainResponse(
                    status: 200, type: "text/html; charset=utf-8", body: Array(LockScreenPage.html(document).utf8))
            }
            return AdminPages.encoded(document)
        } catch { return .text(error.text, status: error.status) }
    }

    // MARK: Hands

    private static func wish(_ hand: Hand, _ body: [UInt8]) throws(Refusal) -> Wish {
        var wish = Wish()
        do throws(SettingsError) {
            if !body.isEmpty {
                let value = try YAMLValue(
                    parsing: try FileContents.text(body, file: hand.rawValue), file: hand.rawValue)
                var map = try value.map()
                if hand == .tap || hand == .dismiss || hand == .reply {
                    wish.notification = try map.take("notification")?.text()
                }
                if hand == .tap { wish.action = try map.take("action")?.text() }
                if hand == .reply { wish.text = try map.take("text")?.text() }
                try map.finish()
            }
            if hand == .reply {
                guard let text = wish.text else {
                    throw SettingsError("reply: expected what is typed, as in {text: On my way}")
                }
                guard text.utf8.count <= longestText else {
                    throw SettingsError(
                        "reply: the text has \(Units.grouped(UInt64(text.utf8.count))) bytes; expected at most "
                            + Units.grouped(UInt64(longestText)))
                }
            }
        } catch { throw Refusal(status: 400, text: error.description) }
        return wish
    }

    private func use(
        _ hand: Hand, _ wish: Wish, _ fleet: DeviceFleet, _ key: DeviceKey, _ number: UInt64, _ time: UInt64
    ) throws(Refusal) {
        let screen = fleet.screen(of: key, at: time)
        switch hand {
        case .unlock: fleet.set(.unlocked(true), on: key, number: number, at: time)
        case .lock:
            // Whoever locks a device leaves the app.
            fleet.set(.app(.background), on: key, number: number, at: time)
            fleet.set(.unlocked(false), on: key, number: number, at: time)
        case .open:
            guard screen.isUnlocked else { throw Self.isLocked }
            fleet.set(.app(.foreground), on: key, number: number, at: time)
        case .tap, .dismiss, .reply:
            let notification = try Self.notification(wish.notification, screen)
            let action: String
            switch hand {
            case .reply:
                let category = fleet.traits.model.categories.first { $0.identifier == notification.category }
                guard let typed = category?.actions.first(where: { $0.effect == .text }) else {
                    throw Refusal(status: 400, text: "the notification has no action that takes text")
                }
                action = typed.identifier
            case .dismiss: action = "dismiss"
            default: action = wish.action ?? "default"
            }
            switch fleet.act(action, on: notification.handle, text: wish.text, of: key, at: time) {
            case .done: return
            case .isLocked: throw Self.isLocked
            case .noNotification: throw Self.noNotification(wish.notification)
            case .noAction:
                throw Refusal(
                    status: 400,
                    text: "the notification has no action \"\(action.prefix(80))\""
                        + NearestName.hint(action, among: ["default", "dismiss"] + notification.actions))
            }
        }
    }

    private static let isLocked = Refusal(status: 400, text: "the device is locked; POST /devices/<token>/unlock first")

    private static func noNotification(_ id: String?) -> Refusal {
        Refusal(
            status: 404,
            text: id.map { "the device shows no notification with the id \"\($0.prefix(80))\"" }
                ?? "the device shows no notification")
    }

    /// The one asked for, or the newest in the notification centre.
    private static func notification(_ id: String?, _ screen: DeviceScreen) throws(Refusal) -> DeviceScreen.Notification
    {
        let found =
            id.map { id in screen.notifications.first { String($0.handle) == id } } ?? screen.notifications.first
        guard let found else { throw noNotification(id) }
        return found
    }
}

/// What a device shows: `GET /devices/<token>/screen`.
struct ScreenDocument: Encodable {
    struct Authorization: Encodable {
        let alert: String
        let sound: String
        let badge: String
    }

    struct Notification: Encodable {
        /// What a hand names it by.
        let id: String
        let identifier: String
        let thread: String
        let title: String
        let subtitle: String
        let body: String
        let category: String
        let actions: [String]
        let place: String
        /// UNIX seconds.
        let shownAt: UInt64
        let isLocal: Bool

        enum CodingKeys: String, CodingKey {
            case id, identifier, thread, title, subtitle, body, category, actions, place
            case shownAt = "shown_at"
            case isLocal = "local"
        }
    }

    struct Pending: Encodable {
        let identifier: String
        /// UNIX seconds; nil: nobody knows.
        let firesAt: Double?

        enum CodingKeys: String, CodingKey {
            case identifier
            case firesAt = "fires_at"
        }
    }

    let token: String
    /// UNIX milliseconds.
    let time: Int64
    let platform: String
    let isOnline: Bool
    let isUnlocked: Bool
    let app: String
    let authorization: Authorization
    let badge: Int
    /// The newest first.
    let notifications: [Notification]
    let pending: [Pending]

    enum CodingKeys: String, CodingKey {
        case token, time, platform, app, authorization, badge, notifications, pending
        case isOnline = "online"
        case isUnlocked = "unlocked"
    }

    init(_ screen: DeviceScreen, token: String, time: Int64 = MonotonicClock.unixMilliseconds()) {
        self.token = token
        self.time = time
        platform = screen.platform.rawValue
        isOnline = screen.isOnline
        isUnlocked = screen.isUnlocked
        app = screen.app.name
        authorization = Authorization(
            alert: screen.alert.name, sound: screen.sound.name, badge: screen.badgeLevel.name)
        badge = screen.badge
        notifications = screen.notifications.map {
            Notification(
                id: String($0.handle), identifier: $0.identifier, thread: $0.thread, title: $0.title,
                subtitle: $0.subtitle, body: $0.body, category: $0.category, actions: $0.actions, place: $0.place,
                shownAt: $0.shownAt, isLocal: $0.ticket == nil)
        }
        pending = screen.pending.map {
            Pending(identifier: $0.identifier, firesAt: $0.firesAt.map { Double($0) * 1e-9 })
        }
    }
}
