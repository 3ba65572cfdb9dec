import Foundation
import Payloads
import Testing

@testable import Devices

/// Lets a fleet have a history, and says what every check in it sees.
final class HistoryPlayer {
    private let fleet: DeviceFleet
    private var names: [String: UInt64] = [:]
    private var requests: [EchoRequest] = []
    private var reports: [DeviceReport] = []

    init(_ history: HistoryMaker.JSON) throws {
        // JSON is YAML.
        let json = try JSONSerialization.data(withJSONObject: history["model"]!, options: .sortedKeys)
        let model = try DeviceModelFile.parse(String(decoding: json, as: UTF8.self), file: "model")
        fleet = DeviceFleet(
            model, seed: 1, sealingSeed: HistoryMaker.sealingSeed, startedAt: history["start"] as! UInt64,
            isReporting: true)
    }

    func play(_ history: HistoryMaker.JSON) throws -> [Any] {
        var checks: [Any] = []
        for event in history["events"] as! [HistoryMaker.JSON] {
            if event["do"] as! String == "check" {
                checks.append(check(at: event["at"] as! UInt64))
            } else {
                take(event)
            }
            requests += fleet.requests
            reports += fleet.reports
            fleet.requests = []
            fleet.reports = []
            try #require(fleet.counts.total == fleet.counts.received)
        }
        return checks
    }

    private func key(_ name: String) -> DeviceKey { DeviceKey(name) }
    private func number(_ name: String) -> UInt64 { UInt64(HistoryMaker.devices.firstIndex(of: name)!) }

    private func take(_ event: HistoryMaker.JSON) {
        let at = event["at"] as! UInt64
        let name = event["device"] as? String ?? ""
        let key = key(name)
        switch event["do"] as! String {
        case "push":
            Array((event["collapse"] as! String).utf8).withUnsafeBytes { collapse in
                Array((event["payload"] as! String).utf8).withUnsafeBytes { payload in
                    let push = DevicePush(
                        device: key, number: number(name), ticket: event["ticket"] as! UInt64,
                        type: PushType(rawValue: event["type"] as! String)!, priority: UInt8(event["priority"] as! Int),
                        collapseID: collapse, expiration: (event["expiration"] as? Int).map { Int64($0) },
                        payload: payload)
                    fleet.receive(push, at: at)
                }
            }
        case "set": fleet.set(trait(event), on: key, number: number(name), at: at)
        case "act":
            let notifications = fleet.screen(of: key, at: at).notifications
            let index = event["index"] as! Int
            guard index < notifications.count else { return }
            _ = fleet.act(
                event["action"] as! String, on: notifications[index].handle, text: event["text"] as? String, of: key,
                at: at)
        case "add": fleet.add(request(event["request"] as! HistoryMaker.JSON), on: key, number: number(name), at: at)
        case "remove_pending": fleet.removePending(event["identifiers"] as? [String], on: key, at: at)
        case "remove_delivered": fleet.removeDelivered(event["identifiers"] as? [String], on: key, at: at)
        case "crossed":
            fleet.crossed(event["region"] as! String, entering: event["entering"] as! Bool, on: key, at: at)
        case "finish":
            // First what is due: it may make requests.
            fleet.advance(to: at)
            let all = requests + fleet.requests
            let place = event["request"] as! Int
            let number = event["from_newest"] as! Bool ? all.count - 1 - place % 3 : place
            let endings: [String: EchoEnding] = ["new_data": .newData, "no_data": .noData, "failed": .failed]
            if all.indices.contains(number) {
                fleet.finished(all[number].id, endings[event["how"] as! String]!, at: at)
            }
        case let other: Issue.record("unknown event \(other)")
        }
    }

    private func trait(_ event: HistoryMaker.JSON) -> DeviceFleet.Trait {
        let value = event["value"]!
        func level() -> DeviceTraits.Level { DeviceTraits.Level.allCases.first { $0.name == value as! String }! }
        switch event["what"] as! String {
        case "online": return .online(value as? Bool)
        case "unlocked": return .unlocked(value as? Bool)
        case "app": return .app(DeviceTraits.AppState.allCases.first { $0.name == value as! String })
        case "platform": return .platform(DeviceModel.Platform(rawValue: value as! String))
        case "alert": return .level(.alert, level())
        case "sound": return .level(.sound, level())
        default: return .level(.badge, level())
        }
    }

    private func request(_ request: HistoryMaker.JSON) -> LocalRequest {
        let trigger = request["trigger"] as! HistoryMaker.JSON
        let repeats = trigger["repeats"] as! Bool
        let found: LocalRequest.Trigger
        switch trigger["kind"] as! String {
        case "interval": found = .interval(trigger["time"] as! UInt64, repeats: repeats)
        case "calendar":
            found = .calendar(
                CalendarTime(
                    month: trigger["month"] as? Int, day: trigger["day"] as? Int, weekday: trigger["weekday"] as? Int,
                    hour: trigger["hour"] as? Int, minute: trigger["minute"] as? Int,
                    second: trigger["second"] as? Int), repeats: repeats)
        default:
            found = .region(trigger["region"] as! String, entering: trigger["entering"] as! Bool, repeats: repeats)
        }
        var made = LocalRequest(
            identifier: request["identifier"] as! String, body: request["body"] as! String, trigger: found)
        made.title = request["title"] as! String
        made.category = request["category"] as! String
        made.hasSound = request["sound"] as! Bool
        made.badge = (request["badge"] as? Int).map { Int32($0) }
        return made
    }

    // MARK: What is seen

    private func orNull(_ value: (some Any)?) -> Any { value.map { $0 as Any } ?? NSNull() }

    private func check(at: UInt64) -> Any {
        fleet.advance(to: at)
        requests += fleet.requests
        reports += fleet.reports
        fleet.requests = []
        fleet.reports = []
        // By name: keys would be sorted as readers sort.
        func counted(_ counts: [(String, UInt64)]) -> [[Any]] {
            counts.filter { $0.1 > 0 }.sorted { $0.0 < $1.0 }.map { [$0.0, $0.1] }
        }
        var screens: HistoryMaker.JSON = [:]
        for name in HistoryMaker.devices {
            let screen = fleet.screen(of: key(name), at: at)
            screens[name] = [
                "badge": screen.badge,
                "notifications": screen.notifications.map {
                    [
                        $0.identifier, $0.thread, $0.title, $0.subtitle, $0.body, $0.category, $0.place, $0.shownAt,
                        orNull($0.ticket), $0.actions,
                    ]
                },
                "pending": screen.pending.map { [$0.identifier, orNull($0.firesAt)] },
            ]
        }
        func name(_ kind: DeviceReport.Kind) -> String {
            switch kind {
            case .outcome(let outcome): outcome.name
            case .content: "content"
            case .noContent: "no_content"
            }
        }
        return [
            "outcomes": counted(DeviceOutcome.allCases.map { ($0.name, fleet.counts[$0]) }),
            "events": counted(DeviceEvent.allCases.map { ($0.name, fleet.counts[$0]) }), "screens": screens,
            "requests": requests.map {
                [
                    $0.kind.rawValue, HistoryMaker.devices[Int($0.number)], orNull($0.ticket), $0.path, $0.notification,
                    $0.action, $0.text, $0.deadline,
                ]
            },
            "reports": reports.map { ($0.ticket, name($0.kind), $0.at) }.sorted { $0 < $1 }
                .map { [$0.0, $0.1, $0.2] as [Any] },
        ]
    }
}
