/// What phones, tablets, TVs and watches are like, and what their users and the app on them do (docs/devices.md). As made it is the
/// bundled one. Times are nanoseconds, shares 0 to 1.
package struct DeviceModel: Sendable, Equatable {
    /// A state that a device is in for a share of its time, and how long it stays so on average.
    package struct Spell: Sendable, Equatable {
        package var share: Double
        /// Mean length of a spell in this state.
        package var dwell: UInt64
    }

    /// A time drawn anew each time: log-normal.
    package struct LogNormal: Sendable, Equatable {
        package var median: UInt64
        /// Standard deviation of the logarithm, 0 to 10.
        package var sigma: Double
    }

    package enum Platform: String, Sendable, CaseIterable { case phone, tablet, tv, watch }

    /// One of several by its share.
    package struct Choice<Value: Sendable & Equatable>: Sendable, Equatable {
        package var value: Value
        package var share: Double
    }

    package struct Authorization: Sendable, Equatable {
        /// The app was never started, so that the user was not asked.
        package var neverAsked = 0.05
        /// Granted, of those who were asked. Who grants what fewer grant has granted what more do.
        package var alert = 0.7
        package var sound = 0.65
        package var badge = 0.75
        /// This share changes its mind once: all off where alerts were granted, else all on.
        package var changed = 0.05
        /// By when all of those have, after the model's start; each at its own time.
        package var changedWithin: UInt64 = 720 * Self.hour
        static let hour: UInt64 = 3_600_000_000_000
    }

    /// What an app does with a silent push.
    package struct Silent: Sendable, Equatable {
        /// Wakes a device grants the app in an hour; nil: all.
        package var perHour: Int? = 3
        /// The share of wakes in which the app asks its server; in the others it says that there is no data.
        package var fetches = 1.0
        package var path = "/api/content"
    }

    /// The notification service extension.
    package struct Extension: Sendable, Equatable {
        /// How long it works, downloads not counted.
        package var time = LogNormal(median: 150_000_000, sigma: 0.5)
        package var crashes = 0.001
        /// Hands back what it has when its time is up; else the original is shown.
        package var bestAttempt = 0.8
    }

    /// What users do with a notification.
    package struct Reaction: Sendable, Equatable {
        package var opens = 0.05
        package var dismisses = 0.3
        /// From presentation to reaction.
        package var delay = LogNormal(median: 60_000_000_000, sigma: 1.5)
    }

    package struct Action: Sendable, Equatable {
        package enum Effect: String, Sendable, CaseIterable { case background, foreground, text }
        package var identifier: String
        package var share: Double
        package var effect: Effect
        /// Asks for the device to be unlocked; foreground actions always do.
        package var needsUnlock: Bool
        /// What is typed into a text field.
        package var text: String
    }

    package struct Category: Sendable, Equatable {
        package var identifier: String
        package var reaction: Reaction
        /// The app is told of dismissals too.
        package var hasDismissAction: Bool
        package var actions: [Action]
    }

    package var platforms: [Choice<Platform>] = [
        .init(value: .phone, share: 0.85), .init(value: .tablet, share: 0.1), .init(value: .tv, share: 0.02),
        .init(value: .watch, share: 0.03),
    ]
    /// Devices of the development environment: which they are, whoever says which devices there are draws.
    package var development = 0.0
    /// Hours that local time is ahead of UTC.
    package var utcOffsets: [Choice<Int>] = [.init(value: 0, share: 1)]
    /// Each device's day begins up to so much earlier or later.
    package var rhythm: UInt64 = 2 * Authorization.hour
    /// How much devices are used in each hour of the day, 24 numbers; only their ratios count.
    package var hours: [Double] = [
        2, 1, 1, 1, 1, 3, 8, 12, 12, 10, 10, 11, 13, 12, 11, 11, 12, 14, 15, 16, 17, 16, 12, 6,
    ]
    package var online = Spell(share: 0.95, dwell: 6 * Authorization.hour)
    package var unlocked = Spell(share: 0.15, dwell: 180_000_000_000)
    /// Of the time in which the device is unlocked.
    package var foreground = Spell(share: 0.05, dwell: 120_000_000_000)
    /// In the background when it is not in the foreground.
    package var running = Spell(share: 0.7, dwell: 8 * Authorization.hour)
    package var authorization = Authorization()
    /// What the app answers when a notification comes while it is in the foreground; nothing: it shows it itself.
    package var willPresent: Presentation = []
    package var silent = Silent()
    package var serviceExtension = Extension()
    /// Without a category, or with one that the app does not know.
    package var reaction = Reaction()
    package var categories: [Category] = [
        Category(
            identifier: "MESSAGE", reaction: Reaction(opens: 0.15, dismisses: 0.25), hasDismissAction: true,
            actions: [
                Action(identifier: "REPLY", share: 0.05, effect: .text, needsUnlock: false, text: "On my way"),
                Action(identifier: "LIKE", share: 0.05, effect: .background, needsUnlock: false, text: ""),
            ]),
        Category(
            identifier: Self.richCategory, reaction: Reaction(opens: 0.1, dismisses: 0.25), hasDismissAction: false,
            actions: [Action(identifier: "More", share: 0.1, effect: .foreground, needsUnlock: true, text: "")]),
    ]

    package init() {}

    // MARK: What the system decides, not the model

    /// How long an app, an extension or an action may work in the background.
    package static let workLimit: UInt64 = 30_000_000_000
    /// From the fetch of a rich push to its local notification.
    package static let richDelay: UInt64 = 5_000_000_000
    package static let richCategory = "richPush"
    /// Requests an app may have pending on a device, as the system has it.
    package static let mostPending = 64
    /// Notifications an app may have in the notification centre; the oldest makes room.
    package static let mostDelivered = 100
    /// Longest storage for a device that is offline: 30 days.
    package static let longestStorage: UInt64 = 30 * 24 * Authorization.hour
    /// Custom actions a category may have.
    package static let mostActions = 10
    package static let mostCategories = 200
}

/// What a notification may do, what it was allowed, or what was done.
package struct Presentation: OptionSet, Sendable {
    package let rawValue: UInt8
    package init(rawValue: UInt8) { self.rawValue = rawValue }
    package static let alert = Presentation(rawValue: 1)
    package static let sound = Presentation(rawValue: 2)
    package static let badge = Presentation(rawValue: 4)
    static let names: [(String, Presentation)] = [("alert", .alert), ("sound", .sound), ("badge", .badge)]
}
