import Foundation
import Testing

@testable import Devices

@Suite("Traits of devices")
struct TraitsTests {
    private static let second: UInt64 = 1_000_000_000
    private static let hour = 3600 * second
    /// A Thursday at midnight.
    private static let start: UInt64 = 1_790_208_000 * second

    private func key(_ number: Int) -> DeviceKey { DeviceKey(String(repeating: "0", count: 56) + String(number + 1)) }

    /// Six standard deviations of a share of so many draws: crossed once in 500 million tests.
    private func bound(_ share: Double, _ draws: Int) -> Double {
        6 * (share * (1 - share) / Double(draws)).squareRoot()
    }

    @Test("The same token and seed have the same traits whoever asks in whatever order; another seed has others")
    func pure() {
        let (one, two) = (traits(DeviceModel(), seed: 3), traits(DeviceModel(), seed: 3))
        let other = traits(DeviceModel(), seed: 4)
        var isDifferent = false
        let moments = (0..<200).map { Self.start + UInt64($0) * 97 * Self.second }
        for number in 0..<20 {
            let key = key(number)
            let first = moments.map { one.app(key, at: $0) }
            let second = moments.reversed().map { two.app(key, at: $0) }.reversed()
            #expect(first == Array(second))
            #expect(one.platform(key) == two.platform(key))
            isDifferent = isDifferent || moments.map { other.app(key, at: $0) } != first
        }
        #expect(isDifferent)
    }

    @Test("Upper and lower case digits are one device, other digits and other lengths are not")
    func keys() {
        #expect(DeviceKey("ABCDEF0123456789AB") == DeviceKey("abcdef0123456789ab"))
        let others = ["abcdef0123456789ab", "abcdef0123456789aB00", "abcdef0123456789a", "bbcdef0123456789ab", ""]
        #expect(Set(others.map { DeviceKey($0) }).count == others.count)
        #expect(Set((0..<100_000).map { key($0) }).count == 100_000)
    }

    @Test("States are held for their shares of devices at any moment, and for their mean dwell times")
    func spells() {
        var model = DeviceModel()
        model.hours = [Double](repeating: 1, count: 24)
        for (share, dwell) in [(0.9, 6 * Self.hour), (0.15, 180 * Self.second), (0.5, Self.hour), (0.02, Self.hour)] {
            model.online = .init(share: share, dwell: dwell)
            model.unlocked = .init(share: share, dwell: dwell)
            let traits = traits(model)
            let devices = 20_000
            for isLate in [false, true] {
                let moment = Self.start + (isLate ? 77 * Self.hour : 0)
                let online = (0..<devices).count { traits.isOnline(key($0), at: moment) }
                let unlocked = (0..<devices).count { traits.isUnlocked(key($0), at: moment) }
                #expect(abs(Double(online) / Double(devices) - share) < bound(share, devices))
                #expect(abs(Double(unlocked) / Double(devices) - share) < bound(share, devices))
            }
            // Of one spell after the other: geometric in slots, of which deviation is below its mean.
            var (spells, slots) = (0, 0)
            let slot = UInt64(Double(dwell) * (1 - share))
            for number in 0..<200 {
                var was = true
                for step in 0..<500 {
                    let isOn = traits.isUnlocked(key(number), at: Self.start + UInt64(step) * slot)
                    if isOn { slots += 1 }
                    if isOn, !was { spells += 1 }
                    was = isOn
                }
            }
            // The first spell of each device, of which the beginning was not seen, is not counted but its slots are: 200 of them.
            let mean = Double(slots) * Double(slot) / Double(spells + 200)
            let deviation = 6 / Double(spells).squareRoot() + 200 / Double(spells)
            #expect(abs(mean / Double(dwell) - 1) < deviation, "share \(share): \(mean / Double(dwell))")
        }
    }

    @Test("A state of all the time has no end, one of no time never begins")
    func ends() {
        var model = DeviceModel()
        model.online.share = 1
        model.unlocked.share = 0
        let traits = traits(model)
        for number in 0..<100 {
            #expect(traits.isOnline(key(number), at: Self.start))
            #expect(traits.nextOnline(key(number), after: Self.start) == Self.start)
            #expect(!traits.isUnlocked(key(number), at: Self.start))
            #expect(traits.app(key(number), at: Self.start) != .foreground)
            #expect(traits.nextUnlocked(key(number), after: Self.start) > Self.start)
        }
    }

    @Test("What is said of the next time is the first at which the state is held")
    func next() {
        var model = DeviceModel()
        model.unlocked = .init(share: 0.1, dwell: 100 * Self.second)
        let traits = traits(model)
        for number in 0..<50 {
            let key = key(number)
            let found = traits.nextUnlocked(key, after: Self.start)
            #expect(traits.isUnlocked(key, at: found))
            // Slots are 90 s long: nothing is missed in steps of one.
            var moment = Self.start
            while moment < found {
                #expect(!traits.isUnlocked(key, at: moment))
                moment += Self.second
            }
            if found > Self.start { #expect(!traits.isUnlocked(key, at: found - 1)) }
        }
    }

    @Test("Devices are used as the day's curve has it, in their own time of day")
    func curve() {
        var model = DeviceModel()
        model.rhythm = 0
        model.utcOffsets = [.init(value: -5, share: 1)]
        model.unlocked = .init(share: 0.2, dwell: 60 * Self.second)
        // Twice as much in the afternoon, never at night.
        model.hours = (0..<24).map { $0 < 8 ? 0 : $0 < 16 ? 1 : 2 }
        let traits = traits(model)
        let devices = 5000
        for (hour, share) in [(3, 0.0), (12, 0.2), (20, 0.4)] {
            let moment = Self.start + UInt64(hour + 5) * Self.hour + Self.hour / 2
            let count = (0..<devices).count { traits.isUnlocked(key($0), at: moment) }
            #expect(abs(Double(count) / Double(devices) - share) <= bound(share, devices), "hour \(hour): \(count)")
        }
        // Days that begin at other times: some are up while most sleep.
        model.rhythm = 4 * Self.hour
        let late = self.traits(model)
        let moment = Self.start + 12 * Self.hour
        #expect((0..<devices).contains { late.isUnlocked(key($0), at: moment) })
    }

    @Test("Apps are in the foreground for their share of the unlocked time, and only then")
    func foreground() {
        var model = DeviceModel()
        model.hours = [Double](repeating: 1, count: 24)
        model.unlocked.share = 0.5
        model.foreground.share = 0.3
        model.running.share = 0.6
        let traits = traits(model)
        let devices = 20_000
        var counts: [DeviceTraits.AppState: Int] = [:]
        for number in 0..<devices {
            let app = traits.app(key(number), at: Self.start)
            counts[app, default: 0] += 1
            if app == .foreground { #expect(traits.isUnlocked(key(number), at: Self.start)) }
        }
        for (app, share) in [(DeviceTraits.AppState.foreground, 0.15), (.background, 0.51), (.notRunning, 0.34)] {
            #expect(abs(Double(counts[app, default: 0]) / Double(devices) - share) < bound(share, devices), "\(app)")
        }
    }

    @Test("Platforms, environments and authorizations have their shares, and users change their minds in time")
    func shares() {
        var model = DeviceModel()
        model.authorization.neverAsked = 0.2
        model.authorization.changed = 0.5
        model.authorization.changedWithin = 100 * Self.hour
        let traits = traits(model)
        let devices = 20_000
        func share(_ isIt: (DeviceKey) -> Bool) -> Double {
            Double((0..<devices).count { isIt(key($0)) }) / Double(devices)
        }
        func expect(_ expected: Double, _ what: String, _ isIt: (DeviceKey) -> Bool) {
            #expect(abs(share(isIt) - expected) < bound(expected, devices), "\(what): \(share(isIt))")
        }
        for choice in model.platforms {
            expect(choice.share, choice.value.rawValue) { traits.platform($0) == choice.value }
        }
        let levels: [(Presentation, Double)] = [(.alert, 0.7), (.sound, 0.65), (.badge, 0.75)]
        for (level, granted) in levels {
            expect(0.8 * granted, "granted") { traits.level(level, $0, at: Self.start) == .granted }
            expect(0.2, "never asked") { traits.level(level, $0, at: Self.start) == .neverAsked }
        }
        // Of those who had granted alerts half deny, of the others half grant; half way half of them.
        for (share, moment) in [(0.25, 50), (0.5, 100)] as [(Double, UInt64)] {
            let at = Self.start + moment * Self.hour
            let granted = 0.8 * 0.7
            expect(granted * (1 - share) + (1 - granted) * share, "changed") {
                traits.level(.alert, $0, at: at) == .granted
            }
        }
    }

    @Test("Log-normal times have their median and the deviation of their logarithm")
    func times() {
        let traits = traits(DeviceModel())
        let distribution = DeviceModel.LogNormal(median: 40 * Self.second, sigma: 0.8)
        let draws = 20_000
        let logs = (0..<draws).map { log(Double(traits.time(distribution, key($0), 42, 7)) / 40e9) }
        let mean = logs.reduce(0, +) / Double(draws)
        let variance = logs.reduce(0) { $0 + ($1 - mean) * ($1 - mean) } / Double(draws)
        #expect(abs(mean) < 6 * 0.8 / Double(draws).squareRoot())
        // A variance's own deviation is its square root of 2 / n.
        #expect(abs(variance / 0.64 - 1) < 6 * (2 / Double(draws)).squareRoot())
    }

    private func traits(_ model: DeviceModel, seed: UInt64 = 1) -> DeviceTraits {
        DeviceTraits(model, seed: seed, startedAt: Self.start)
    }
}
