import Glibc
import Synchronization

/// Broadcast channels ("Sending channel management requests to APNs").
final class ChannelDirectory: Sendable {
    struct Channel: Sendable {
        let id: String
        /// 0: nothing is stored; 1: the most recent push is.
        let storagePolicy: Int
        /// For those who subscribe later, when the policy is 1.
        var latest: DeliveredPush?
    }

    private struct AppKey: Hashable, Sendable {
        let bundleID: String
        let environment: PushEnvironment
    }

    /// Channels of all apps.
    static let most = 100_000
    /// Longest storage of a broadcast, seconds.
    static let longestStorage: Int64 = 8 * 3600
    private let limit: Int
    private let enabled: Set<String>?
    private let room: SharedRoom
    private let apps = Mutex<[AppKey: [String: Channel]]>([:])

    /// - Parameters:
    ///   - limit: channels an app may have in an environment.
    ///   - enabled: bundle ids broadcast is enabled for; nil: all.
    ///   - room: for the channels of all apps.
    init(limit: Int, enabled: Set<String>?, room: SharedRoom = SharedRoom(most)) {
        self.limit = limit
        self.enabled = enabled
        self.room = room
    }

    deinit { reset() }

    func isEnabled(_ bundleID: String) -> Bool { enabled.map { $0.contains(bundleID) } ?? true }

    /// The new channel's id; nil when the app, or all of them together, have as many as they may have.
    func create(_ bundleID: String, _ environment: PushEnvironment, storagePolicy: Int) -> String? {
        apps.withLock { apps in
            let app = AppKey(bundleID: bundleID, environment: environment)
            guard apps[app]?.count ?? 0 < limit, room.take() else { return nil }
            var id = Self.randomID()
            while apps[app]?[id] != nil { id = Self.randomID() }
            apps[app, default: [:]][id] = Channel(id: id, storagePolicy: storagePolicy)
            return id
        }
    }

    func channel(_ id: String, _ bundleID: String, _ environment: PushEnvironment) -> Channel? {
        apps.withLock { $0[AppKey(bundleID: bundleID, environment: environment)]?[id] }
    }

    func remove(_ id: String, _ bundleID: String, _ environment: PushEnvironment) -> Bool {
        apps.withLock { apps in
            let app = AppKey(bundleID: bundleID, environment: environment)
            guard apps[app]?.removeValue(forKey: id) != nil else { return false }
            if apps[app]?.isEmpty == true { apps[app] = nil }
            room.give(1)
            return true
        }
    }

    func list(_ bundleID: String, _ environment: PushEnvironment) -> [String] {
        apps.withLock { ($0[AppKey(bundleID: bundleID, environment: environment)] ?? [:]).keys.sorted() }
    }

    func keep(_ push: DeliveredPush, in id: String, _ environment: PushEnvironment) {
        apps.withLock {
            $0[AppKey(bundleID: push.bundleID, environment: environment)]?[id]?.latest = push
        }
    }

    /// The push kept for who subscribes to a channel now.
    func latest(_ id: String, unixTime: Int64) -> DeliveredPush? {
        apps.withLock { apps in
            for channels in apps.values {
                guard let push = channels[id]?.latest else { continue }
                let end = min(push.expiration ?? .max, push.acceptedAt / 1000 + Self.longestStorage)
                return end > unixTime ? push : nil
            }
            return nil
        }
    }

    /// Apps that have channels.
    var appCount: Int { apps.withLock { $0.count } }

    func reset() {
        apps.withLock { apps in
            room.give(apps.values.reduce(0) { $0 + $1.count })
            apps = [:]
        }
    }

    /// 16 random bytes in Base64, as Apple's ids look.
    private static func randomID() -> String {
        let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
        var random = SystemRandomNumberGenerator()
        var digits = (0..<21).map { _ in alphabet[Int.random(in: 0..<64, using: &random)] }
        // The last digit before the padding carries two bits only.
        digits.append(alphabet[Int.random(in: 0..<4, using: &random) << 4])
        return String(decoding: digits, as: UTF8.self) + "=="
    }

    /// Base64 (RFC 4648 section 4) of at most 64 characters.
    static func isID(_ text: UnsafeRawBufferPointer) -> Bool {
        guard text.count > 0, text.count <= 64, text.count % 4 == 0 else { return false }
        let digits = text.reversed().drop { $0 == 0x3D }
        return text.count - digits.count <= 2
            && digits.allSatisfy {
                (48...57).contains($0) || (65...90).contains($0) || (97...122).contains($0) || $0 == 43 || $0 == 47
            }
    }
}
