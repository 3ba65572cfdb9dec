import Glibc
import Payloads

/// What a device is like and what state it is in at any time, from its token and the seed alone: nothing is kept, and no history is
/// needed. Times are nanoseconds since 1970.
///
/// A state of share p and mean dwell d is drawn anew in each slot of d × (1 − p), with probability p, whatever it was before. Spells
/// in the state are then d long on average (a slot, and another as often as it is drawn again), those out of it d × (1 − p) / p, and
/// the device is in it for p of its time.
package struct DeviceTraits: Sendable {
    package enum AppState: UInt8, Sendable, CaseIterable {
        case notRunning, background, foreground
        package var name: String { ["not_running", "background", "foreground"][Int(rawValue)] }
    }

    /// Of one level: alert, sound or badge.
    package enum Level: UInt8, Sendable, CaseIterable {
        case neverAsked, denied, granted
        package var name: String { ["never_asked", "denied", "granted"][Int(rawValue)] }
    }

    package let model: DeviceModel
    private let seed: UInt64
    private let startedAt: UInt64
    /// `hours` with a mean of 1.
    private let curve: [Double]
    private let (online, unlocked, foreground, running): (Slots, Slots, Slots, Slots)

    /// - Parameter startedAt: from when on users may change their minds.
    package init(_ model: DeviceModel, seed: UInt64, startedAt: UInt64) {
        self.model = model
        self.seed = Mix.finalise(seed ^ 0xDE71_CE50_0DE1)
        self.startedAt = startedAt
        let mean = model.hours.reduce(0, +) / 24
        curve = model.hours.map { $0 / mean }
        online = Slots(model.online, salt: 11)
        unlocked = Slots(model.unlocked, salt: 12)
        foreground = Slots(model.foreground, salt: 13)
        running = Slots(model.running, salt: 14)
    }

    /// 0 ..< 1, of the device and what it is drawn for.
    func unit(_ key: DeviceKey, _ salt: UInt64, _ number: UInt64 = 0) -> Double {
        Self.unit(Mix.number(seed &+ Mix.salt(salt), key.word, number))
    }

    private static func unit(_ word: UInt64) -> Double { Double(word >> 11) * 0x1p-53 }

    /// A time of a log-normal distribution, nanoseconds; at most a year.
    func time(_ distribution: DeviceModel.LogNormal, _ key: DeviceKey, _ salt: UInt64, _ number: UInt64) -> UInt64 {
        guard distribution.sigma > 0 else { return distribution.median }
        // Box–Muller.
        let (first, second) = (unit(key, salt, number), unit(key, salt ^ 0x6A55, number))
        let normal = (-2 * log(1 - first)).squareRoot() * cos(2 * .pi * second)
        return UInt64(min(Double(distribution.median) * exp(distribution.sigma * normal), 3.1536e16))
    }

    // MARK: For good

    package func platform(_ key: DeviceKey) -> DeviceModel.Platform { choose(model.platforms, unit(key, 1)) }

    /// Seconds that the device's clock is ahead of UTC.
    package func utcOffset(_ key: DeviceKey) -> Int64 { Int64(choose(model.utcOffsets, unit(key, 3))) * 3600 }

    private func choose<Value>(_ choices: [DeviceModel.Choice<Value>], _ draw: @autoclosure () -> Double) -> Value {
        let last = choices.count - 1
        if last == 0 { return choices[0].value }
        var rest = draw()
        for place in 0..<last {
            if rest < choices[place].share { return choices[place].value }
            rest -= choices[place].share
        }
        return choices[last].value
    }

    /// Seconds that the device's user lives ahead of UTC: its clock and its daily rhythm.
    private func rhythm(_ key: DeviceKey) -> Int64 {
        let span = Double(model.rhythm / 1_000_000_000)
        return utcOffset(key) + Int64((2 * unit(key, 4) - 1) * span)
    }

    // MARK: At a time

    package func isOnline(_ key: DeviceKey, at time: UInt64) -> Bool { isOn(online, key, at: time) }

    package func isUnlocked(_ key: DeviceKey, at time: UInt64) -> Bool { isOn(unlocked, key, at: time) }

    /// In the foreground only while the device is unlocked.
    package func app(_ key: DeviceKey, at time: UInt64) -> AppState {
        if isInForeground(key, at: time) { return .foreground }
        return isOn(running, key, at: time) ? .background : .notRunning
    }

    func isInForeground(_ key: DeviceKey, at time: UInt64) -> Bool {
        isOn(foreground, key, at: time) && isUnlocked(key, at: time)
    }

    package func level(_ level: Presentation, _ key: DeviceKey, at time: UInt64) -> Level {
        guard hasChanged(key, at: time) else { return first(level, key) }
        return first(.alert, key) == .granted ? .denied : .granted
    }

    /// The levels that are granted: of each what `level` says, drawn once for all.
    func granted(_ key: DeviceKey, at time: UInt64) -> Presentation {
        let settings = model.authorization
        var granted = Presentation()
        if unit(key, 5) >= settings.neverAsked {
            let draw = unit(key, 6)
            if draw < settings.alert { granted.insert(.alert) }
            if draw < settings.sound { granted.insert(.sound) }
            if draw < settings.badge { granted.insert(.badge) }
        }
        if hasChanged(key, at: time) { return granted.contains(.alert) ? [] : [.alert, .sound, .badge] }
        return granted
    }

    /// The user has changed their mind.
    private func hasChanged(_ key: DeviceKey, at time: UInt64) -> Bool {
        let settings = model.authorization
        guard unit(key, 7) < settings.changed else { return false }
        return Double(time) - Double(startedAt) >= unit(key, 8) * Double(settings.changedWithin)
    }

    /// As it was at first.
    private func first(_ level: Presentation, _ key: DeviceKey) -> Level {
        let settings = model.authorization
        if unit(key, 5) < settings.neverAsked { return .neverAsked }
        let share = level == .alert ? settings.alert : level == .sound ? settings.sound : settings.badge
        return unit(key, 6) < share ? .granted : .denied
    }

    /// When the device is online next, from `time` on; when it is not soon, a time at which to ask again.
    func nextOnline(_ key: DeviceKey, after time: UInt64) -> UInt64 { next(online, key, time) }
    func nextUnlocked(_ key: DeviceKey, after time: UInt64) -> UInt64 { next(unlocked, key, time) }

    // MARK: Slots

    private struct Slots {
        let share: Double
        let length: UInt64
        let salt: UInt64

        init(_ spell: DeviceModel.Spell, salt: UInt64) {
            share = spell.share
            length = max(1_000_000, UInt64(Double(spell.dwell) * (1 - spell.share)))
            self.salt = salt
        }

        /// Each device's slots begin at a time of its own.
        func phase(_ key: DeviceKey, _ seed: UInt64) -> UInt64 {
            Mix.bounded(Mix.number(seed &+ Mix.salt(salt), key.word, 0xFA5E), length)
        }

        func slot(_ time: UInt64, _ phase: UInt64) -> UInt64 {
            let (sum, overflow) = time.addingReportingOverflow(phase)
            return (overflow ? .max : sum) / length
        }
    }

    private func isOn(_ slots: Slots, _ key: DeviceKey, at time: UInt64) -> Bool {
        if slots.share <= 0 { return false }
        let phase = slots.phase(key, seed)
        return isOn(slots, key, slots.slot(time, phase), phase)
    }

    private func isOn(_ slots: Slots, _ key: DeviceKey, _ slot: UInt64, _ phase: UInt64) -> Bool {
        var share = slots.share
        if share <= 0 { return false }
        if slots.salt == unlocked.salt {
            // The hour in which the slot begins decides.
            let end = slot &* slots.length
            let begin = end - min(end, phase)
            let second = (Int64(clamping: begin / 1_000_000_000) &+ rhythm(key)) % 86_400
            share *= curve[Int((second + 86_400) % 86_400 / 3600)]
        }
        return share >= 1 || unit(key, slots.salt, slot) < share
    }

    /// Slots looked ahead.
    private static let farthest: UInt64 = 20_000

    private func next(_ slots: Slots, _ key: DeviceKey, _ time: UInt64) -> UInt64 {
        let phase = slots.phase(key, seed)
        var slot = slots.slot(time, phase)
        if isOn(slots, key, slot, phase) { return time }
        let last = slot &+ Self.farthest
        repeat { slot &+= 1 } while slot < last && !isOn(slots, key, slot, phase)
        let (begin, overflow) = slot.multipliedReportingOverflow(by: slots.length)
        return overflow ? .max : max(time &+ 1, begin > phase ? begin - phase : 0)
    }
}
