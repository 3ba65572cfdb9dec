/// What has become of a push at its device. Each received push has exactly one at any moment, so that all of them add up to the pushes
/// received.
package enum DeviceOutcome: Int, Sendable, CaseIterable {
    // Under way.
    /// Waits at APNs for its device to come online.
    case stored
    /// Silent, and held by the system: the app has used up the hour's wakes.
    case throttled
    /// The service extension works on it.
    case extending
    /// The app was woken and fetches.
    case fetching
    /// Fetched; its local notification is pending.
    case pending

    // Presented.
    /// From the top of an unlocked device, or in the foreground when the app asked for it.
    case banner
    case lockScreen
    /// In the notification centre only: passive, or of priority 1 for a locked device.
    case centre
    /// The app was in the foreground and showed it itself.
    case inApp
    /// No alert, but the badge was set or a sound played.
    case badgeOrSound

    // Fetched, without a notification.
    case fetched
    case noData
    /// The fetch failed, or had not ended when the app's time was up.
    case fetchFailed

    // Nothing is seen.
    /// Nothing that it would have shown is authorized, or the device shows none of it.
    case suppressed
    /// Stays with the watch's phone, which is unlocked and shows it.
    case notForwarded
    /// No notification: of another push type, or with nothing to present. The app or the system has it.
    case handedOver

    // Never at the device, or replaced before it showed anything.
    /// A newer one took its place in the store, held back, or pending.
    case replaced
    case expired
    /// `apns-expiration` was 0, and the device offline.
    case notStored

    package var name: String { Self.names[rawValue] }
    /// It can still change by itself.
    package var isUnderWay: Bool { rawValue <= Self.pending.rawValue }
    private static let names = allCases.map { snakeCase("\($0)") }
}

/// What happened beside that: each counts by itself, and adds up with nothing unless it says so.
package enum DeviceEvent: Int, Sendable, CaseIterable {
    /// Pushes that were stored, or held back, for however long.
    case everStored, everThrottled
    /// A notification took the place of a delivered one with its identifier.
    case updated
    /// Fell out of a full notification centre.
    case crowdedOut
    /// By the user: with these three a notification leaves the centre. Pushes and local ones.
    case opened, actedOn, dismissed
    /// By the app.
    case removed
    /// With these four ends each wake for a silent push: they add up to the wakes that are over.
    case wakeNewData, wakeNoData, wakeFailed, wakeTimedOut
    /// With these five ends each service extension.
    case extensionInTime, extensionBestAttempt, extensionTimedOut, extensionCrashed, sealBroken
    case unknownCategory
    case soundsPlayed, badgesSet
    /// With these three ends each callback of an action.
    case callbackDone, callbackFailed, callbackTimedOut
    /// Requests of the app for local notifications; those that were presented, a repeated one each time.
    case localAdded, localReplaced, localRemoved, localRefused, localPresented, localSuppressed

    package var name: String { Self.names[rawValue] }
    private static let names = allCases.map { snakeCase("\($0)") }
}

private func snakeCase(_ name: String) -> String {
    name.reduce(into: "") { $0 += $1.isUppercase ? "_" + $1.lowercased() : String($1) }
}

package struct DeviceCounts: Sendable, Equatable {
    package internal(set) var received: UInt64 = 0
    private var outcomes = [UInt64](repeating: 0, count: DeviceOutcome.allCases.count)
    private var events = [UInt64](repeating: 0, count: DeviceEvent.allCases.count)

    package init() {}

    package internal(set) subscript(outcome: DeviceOutcome) -> UInt64 {
        get { outcomes[outcome.rawValue] }
        set { outcomes[outcome.rawValue] = newValue }
    }

    package internal(set) subscript(event: DeviceEvent) -> UInt64 {
        get { events[event.rawValue] }
        set { events[event.rawValue] = newValue }
    }

    /// Of all outcomes together: as many as were received.
    package var total: UInt64 { outcomes.reduce(0, &+) }

    /// Another fleet's.
    package mutating func add(_ other: DeviceCounts) {
        received &+= other.received
        for place in outcomes.indices { outcomes[place] &+= other.outcomes[place] }
        for place in events.indices { events[place] &+= other.events[place] }
    }
}
