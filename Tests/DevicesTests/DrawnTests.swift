import Payloads
import Testing

@testable import Devices

/// Nothing is set by hand: what devices do is drawn.
@Suite("Devices left to themselves")
struct DrawnTests {
    private static let second: UInt64 = 1_000_000_000
    private static let start: UInt64 = 1_790_208_000 * second
    private static let devices: UInt64 = 4000

    private func key(_ number: UInt64) -> DeviceKey { DeviceKey("device \(number)") }

    /// All have granted everything, and are phones.
    private func willing() -> DeviceModel {
        var model = DeviceModel()
        model.platforms = [.init(value: .phone, share: 1)]
        model.authorization = .init(neverAsked: 0, alert: 1, sound: 1, badge: 1, changed: 0)
        model.hours = [Double](repeating: 1, count: 24)
        model.online.share = 1
        model.foreground.share = 0
        return model
    }

    private func push(_ payload: String, to fleet: DeviceFleet, type: PushType = .alert) {
        for number in 0..<Self.devices {
            Array(payload.utf8).withUnsafeBytes {
                _ = fleet.receive(
                    DevicePush(
                        device: key(number), number: number, ticket: number, type: type, priority: 10,
                        collapseID: UnsafeRawBufferPointer(start: nil, count: 0), expiration: nil, payload: $0),
                    at: Self.start)
            }
        }
    }

    private func fleet(_ model: DeviceModel) -> DeviceFleet {
        DeviceFleet(model, seed: 5, sealingSeed: nil, startedAt: Self.start, isReporting: true)
    }

    /// Six standard deviations.
    private func expect(_ count: UInt64, _ share: Double, _ what: String) {
        let wanted = share * Double(Self.devices)
        let bound = 6 * (wanted * (1 - share)).squareRoot()
        #expect(abs(Double(count) - wanted) <= bound, "\(what): \(count), expected \(wanted)")
    }

    @Test("Users open, act and dismiss in their shares, and what needs an unlocked device happens on one")
    func reactions() {
        var model = willing()
        model.unlocked = .init(share: 0.1, dwell: 60 * Self.second)
        let fleet = fleet(model)
        push(#"{"aps":{"alert":"a","category":"MESSAGE"}}"#, to: fleet)
        fleet.advance(to: Self.start + 30 * 86_400 * Self.second)
        expect(fleet.counts[.opened], 0.15, "opened")
        expect(fleet.counts[.actedOn], 0.1, "acted on")
        expect(fleet.counts[.dismissed], 0.25, "dismissed")
        #expect(fleet.counts[.lockScreen] + fleet.counts[.banner] == Self.devices)
        let told = fleet.counts[.opened] + fleet.counts[.actedOn] + fleet.counts[.dismissed]
        #expect(UInt64(fleet.requests.count) == told && fleet.counts[.callbackTimedOut] == told)
        #expect(fleet.shown.count == Int(Self.devices - told))
        for request in fleet.requests {
            let at = request.deadline - DeviceModel.workLimit
            if request.action == "default" { #expect(fleet.traits.isUnlocked(request.device, at: at)) }
            #expect(request.text == (request.action == "REPLY" ? "On my way" : ""))
        }
    }

    @Test("What is stored is presented when its device is next online, unless it expires before")
    func comeback() {
        var model = willing()
        model.online = .init(share: 0.3, dwell: 600 * Self.second)
        let fleet = fleet(model)
        push(#"{"aps":{"alert":"a"}}"#, to: fleet)
        expect(fleet.counts[.stored], 0.7, "stored")
        fleet.advance(to: Self.start + 20 * 86_400 * Self.second)
        #expect(fleet.counts[.lockScreen] + fleet.counts[.banner] == Self.devices)
        #expect(UInt64(fleet.reports.count) == Self.devices)
        for report in fleet.reports {
            let next = fleet.traits.nextOnline(key(report.ticket), after: Self.start)
            #expect([.outcome(.banner), .outcome(.lockScreen)].contains(report.kind) && report.at == next)
        }
    }

    @Test("Extensions crash, and hand back a best attempt, in their shares")
    func extensions() {
        var model = willing()
        model.serviceExtension = .init(
            time: .init(median: 31 * Self.second, sigma: 0), crashes: 0.2, bestAttempt: 0.5)
        let fleet = fleet(model)
        push(#"{"aps":{"alert":"a","mutable-content":1}}"#, to: fleet)
        #expect(fleet.counts[.extending] == Self.devices)
        fleet.advance(to: Self.start + 30 * Self.second)
        expect(fleet.counts[.extensionCrashed], 0.2, "crashed")
        expect(fleet.counts[.extensionBestAttempt], 0.4, "best attempt")
        expect(fleet.counts[.extensionTimedOut], 0.4, "timed out")
        #expect(fleet.counts[.lockScreen] + fleet.counts[.banner] == Self.devices)
    }

    @Test("A day of the bundled model leaves nothing without an outcome, and the same seed has the same day")
    func day() {
        var counts: [DeviceCounts] = []
        for _ in 0..<2 {
            let fleet = fleet(DeviceModel())
            var sum = DeviceCounts()
            for round in 0..<3 as Range<UInt64> {
                push(#"{"aps":{"alert":"a","badge":1,"sound":"b","mutable-content":1}}"#, to: fleet)
                push(#"{"aps":{"content-available":1},"richId":3,"richType":"img"}"#, to: fleet, type: .background)
                for request in fleet.requests {
                    fleet.finished(
                        request.id, request.id % 3 == 0 ? .failed : .newData, at: Self.start + round * Self.second)
                }
                fleet.requests = []
                #expect(fleet.counts.total == fleet.counts.received)
            }
            fleet.advance(to: Self.start + 31 * 86_400 * Self.second)
            #expect(fleet.counts.received == 6 * Self.devices && fleet.counts.total == fleet.counts.received)
            #expect(DeviceOutcome.allCases.allSatisfy { !$0.isUnderWay || fleet.counts[$0] == 0 })
            // Nothing is left behind but what is shown.
            #expect(fleet.jobs.count == 0)
            sum.add(fleet.counts)
            counts.append(sum)
        }
        #expect(counts[0] == counts[1])
    }
}
