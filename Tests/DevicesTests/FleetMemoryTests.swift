import Payloads
import Testing

@testable import Devices

@Suite("What devices cost")
struct FleetMemoryTests {
    private static let start: UInt64 = 1_790_208_000_000_000_000

    private func key(_ number: UInt64) -> DeviceKey { DeviceKey(String(number)) }

    private func fleet(touched devices: Int, payload: String, type: PushType) -> DeviceFleet {
        var model = DeviceModel()
        model.online.share = 1
        model.silent.fetches = 0
        model.authorization.neverAsked = 0
        model.authorization.alert = 1
        model.platforms = [.init(value: .phone, share: 1)]
        model.foreground.share = 0
        let fleet = DeviceFleet(model, seed: 1, sealingSeed: nil, startedAt: Self.start)
        let payload = Array(payload.utf8)
        for number in 0..<UInt64(devices) {
            payload.withUnsafeBytes {
                _ = fleet.receive(
                    DevicePush(
                        device: key(number), number: number, ticket: number, type: type, priority: 10,
                        collapseID: UnsafeRawBufferPointer(start: nil, count: 0), expiration: nil, payload: $0),
                    at: Self.start)
            }
        }
        return fleet
    }

    @Test("A touched device costs less than 64 bytes, and the same pages serve again")
    func touched() {
        let devices = 100_000
        let fleet = fleet(touched: devices, payload: #"{"aps":{"content-available":1}}"#, type: .background)
        #expect(fleet.touched == devices && fleet.counts[.noData] == UInt64(devices))
        let each = Double(fleet.memory - DeviceFleet(DeviceModel(), seed: 1, sealingSeed: nil, startedAt: 0).memory)
        #expect(each / Double(devices) < 64, "\(each / Double(devices)) bytes a device")
        #expect(MemoryLayout<DeviceState>.stride == 40 && MemoryLayout<Shown>.stride == 32)
        #expect(MemoryLayout<Job>.stride == 56 && MemoryLayout<Agenda.Entry>.stride == 24)
    }

    @Test("A device with a notification of profile alert's length costs less than 200 bytes")
    func shown() {
        let devices = 100_000
        let payload =
            #"{"aps":{"alert":{"title":"Breaking news","subtitle":"username:user12345","body":"Election results are in: story 123456. Tap to read more."},"badge":7,"sound":"default","thread-id":"news"}}"#
        let fleet = fleet(touched: devices, payload: payload, type: .alert)
        #expect(fleet.counts[.banner] + fleet.counts[.lockScreen] == UInt64(devices))
        // A page that is only just begun is no device's; of the plan, whose memory doubles, there may be twice what is used.
        let pages = 2 << 20
        #expect(fleet.memory < 200 * devices + pages, "\(fleet.memory / devices) bytes a device")
        // What is taken down is used again.
        let before = fleet.memory
        fleet.advance(to: Self.start + 30 * 86_400_000_000_000)
        for number in 0..<UInt64(devices) {
            fleet.removeDelivered(nil, on: key(number), at: Self.start)
        }
        #expect(fleet.shown.count == 0 && fleet.memory <= before + pages)
    }

    @Test("Planned moments that are over are forgotten before they are more than what there is")
    func agenda() {
        let fleet = fleet(touched: 1, payload: #"{"aps":{"alert":"a"}}"#, type: .alert)
        let key = key(0)
        for number in 0..<10_000 as Range<UInt64> {
            let request = LocalRequest(identifier: "one", body: "b", trigger: .interval(1 << 50, repeats: false))
            fleet.add(request, on: key, at: Self.start + number)
            #expect(fleet.agenda.count <= 3 * 4 + 66)
        }
        #expect(fleet.counts[.localAdded] == 10_000 && fleet.counts[.localReplaced] == 9_999)
    }
}
