import Payloads

/// What a device shows now, and what it waits for.
package struct DeviceScreen: Sendable, Equatable {
    package struct Notification: Sendable, Equatable {
        /// What `DeviceFleet.act` knows it by.
        package var handle: UInt64
        /// The collapse id, or the request identifier of a local one; empty: it has none of its own.
        package var identifier: String
        package var thread: String
        package var title: String
        package var subtitle: String
        package var body: String
        /// Empty: none, or one that the app does not know.
        package var category: String
        /// Its buttons.
        package var actions: [String]
        /// `banner`, `lock_screen`, `centre` or `in_app`: as it came; all are in the notification centre since but the last.
        package var place: String
        /// Seconds since 1970.
        package var shownAt: UInt64
        /// nil: a local one.
        package var ticket: UInt64?
    }

    package struct Pending: Sendable, Equatable {
        package var identifier: String
        /// Nanoseconds since 1970; nil: nobody knows.
        package var firesAt: UInt64?
    }

    package var platform: DeviceModel.Platform
    package var isOnline: Bool
    package var isUnlocked: Bool
    package var app: DeviceTraits.AppState
    package var alert: DeviceTraits.Level
    package var sound: DeviceTraits.Level
    package var badgeLevel: DeviceTraits.Level
    package var badge: Int
    /// The newest first.
    package var notifications: [Notification]
    /// In the order in which they were asked for.
    package var pending: [Pending]
}

extension DeviceFleet {
    /// A trait or a state, set by hand; nil: as the model has it again.
    package enum Trait: Sendable {
        case online(Bool?)
        case unlocked(Bool?)
        case app(DeviceTraits.AppState?)
        case platform(DeviceModel.Platform?)
        case level(Presentation, DeviceTraits.Level?)
    }

    /// Sets something by hand from now on. What waits for it happens.
    package func set(_ trait: Trait, on key: DeviceKey, number: UInt64 = 0, at time: UInt64) {
        advance(to: time)
        let device = devices.touch(key, number: number)
        switch trait {
        case .online(let isOnline):
            devices[device].byHand.isOnline = isOnline
            if let job = self.job(of: device, where: { $0.kind == .stored }) { lookAtStored(job) }
        case .unlocked(let isUnlocked):
            devices[device].byHand.isUnlocked = isUnlocked
            lookAgainAtWaiting(on: device)
        case .app(let state): devices[device].byHand.app = state
        case .platform(let platform): devices[device].byHand.platform = platform
        case .level(let kind, let level): devices[device].byHand[kind] = level
        }
    }

    /// The app sets its badge; 0 removes it.
    package func setBadge(_ badge: Int32, on key: DeviceKey, number: UInt64 = 0, at time: UInt64) {
        advance(to: time)
        devices[devices.touch(key, number: number)].badge = badge
    }

    package func screen(of key: DeviceKey, at time: UInt64) -> DeviceScreen {
        advance(to: time)
        let device = devices.find(key)
        guard device != 0 else {
            return DeviceScreen(
                platform: traits.platform(key), isOnline: traits.isOnline(key, at: now),
                isUnlocked: traits.isUnlocked(key, at: now), app: traits.app(key, at: now),
                alert: traits.level(.alert, key, at: now), sound: traits.level(.sound, key, at: now),
                badgeLevel: traits.level(.badge, key, at: now), badge: 0, notifications: [], pending: [])
        }
        return DeviceScreen(
            platform: platform(device), isOnline: isOnline(device), isUnlocked: isUnlocked(device), app: app(device),
            alert: level(.alert, device), sound: level(.sound, device), badgeLevel: level(.badge, device),
            badge: Int(devices[device].badge), notifications: allDelivered(on: device).map(notification),
            pending: pending(on: device))
    }

    private func notification(_ number: UInt32) -> DeviceScreen.Notification {
        let record = shown[number]
        let category = record.category == 0 ? nil : model.categories[Int(record.category) - 1]
        return bytes.read(record.text, NotificationText.length(bytes, record.text)) {
            let text = NotificationText(reading: $0)
            return DeviceScreen.Notification(
                handle: UInt64(record.generation) << 32 | UInt64(number),
                identifier: String(decoding: text.identifier, as: UTF8.self), thread: JSONString.decoded(text.thread),
                title: JSONString.decoded(text.title), subtitle: JSONString.decoded(text.subtitle),
                body: JSONString.decoded(text.body), category: category?.identifier ?? "",
                actions: category?.actions.map(\.identifier) ?? [],
                place: ["banner", "lock_screen", "centre", "in_app"][Int(record.place.rawValue)],
                shownAt: startedAt / 1_000_000_000 + UInt64(record.shownAt),
                ticket: record.flags.contains(.isPush) ? record.ticket : nil)
        }
    }

    private func pending(on device: UInt32) -> [DeviceScreen.Pending] {
        var found: [DeviceScreen.Pending] = []
        var job = devices[device].jobs
        while job != 0 {
            if jobs[job].kind == .pending {
                let identifier = bytes.read(jobs[job].content, Int(jobs[job].contentLength)) {
                    String(decoding: NotificationText(reading: $0).identifier, as: UTF8.self)
                }
                found.append(.init(identifier: identifier, firesAt: jobs[job].until == .max ? nil : jobs[job].until))
            }
            job = jobs[job].next
        }
        // In the order in which they fire; those that nobody knows of last.
        return found.sorted { ($0.firesAt ?? .max, $0.identifier) < ($1.firesAt ?? .max, $1.identifier) }
    }
}
