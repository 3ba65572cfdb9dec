import Foundation
import Payloads
import Settings
import Signing

/// Devices from a CSV file: one token a line, `token,tags` as pushload writes them, or what a header line names (`DeviceColumns`):
/// `token`, and as far as wanted `topic`, `environment`, `state` (registered, unregistered, expired, disabled, offline), `since`
/// (UNIX seconds) and `tags`, which are the client's. Empty lines at the end are no lines.
///
/// Memory: about 40 bytes a device. A file of at most 2 GiB, some twenty million devices.
public final class DeviceRegister: Sendable {
    private let places: [TokenKey: UInt32]
    /// Distinct records; devices of a kind share one.
    private let kinds: [DeviceRecord]
    public var count: Int { places.count }
    var hasUnreached: Bool { kinds.contains { $0.isUnreached } }

    /// - Parameter rules: say how many digits a token may have.
    /// - Throws: `file:line: …`
    public convenience init(path: String, rules: RequestRules = RequestRules()) throws(SettingsError) {
        let data = try FileContents.bytes(path, "device file", limit: 2 << 30)
        try self.init(parsing: data, file: path, rules: rules)
    }

    init(parsing data: Data, file: String, rules: RequestRules = RequestRules()) throws(SettingsError) {
        var places: [TokenKey: UInt32] = [:]
        var kinds: [DeviceRecord] = []
        var numbers: [DeviceRecord: UInt32] = [:]
        let columns: DeviceColumns
        let lines = Self.lines(data)
        do throws(PayloadError) {
            columns = try DeviceColumns(firstLine: lines.first.map { String(decoding: $0, as: UTF8.self) } ?? "")
        } catch { throw SettingsError("\(file):1: \(error)") }
        for (index, line) in lines.enumerated().dropFirst(columns.hasHeader ? 1 : 0) {
            let place = "\(file):\(index + 1)"
            let fields = String(decoding: line, as: UTF8.self).split(separator: ",", omittingEmptySubsequences: false)
                .map(String.init)
            if let problem = columns.problem(fields: fields.count) { throw SettingsError("\(place): \(problem)") }
            guard columns.tokenPlace < fields.count, !fields[columns.tokenPlace].isEmpty else {
                throw SettingsError("\(place): no device token on this line; expected hexadecimal digits")
            }
            let token = fields[columns.tokenPlace]
            if let problem = rules.problem(ofToken: token) {
                throw SettingsError("\(place): the device token \(TokenVerifier.quoted(token, most: 80)) \(problem)")
            }
            var record = DeviceRecord()
            for (column, value) in zip(columns.all, fields) where !value.isEmpty {
                switch column {
                case .token, .tags: break
                case .topic:
                    guard Array(value.utf8).withUnsafeBytes(RequestChecks.isTopic) else {
                        throw SettingsError("\(place): topic \"\(value)\": expected a bundle id, as in com.example.app")
                    }
                    record.topic = value
                case .environment:
                    do throws(SettingsError) { record.environment = try FaultText.environment(value) } catch {
                        throw SettingsError("\(place): \(error)")
                    }
                case .state: try Self.setState(value, of: &record, place)
                case .since:
                    guard let seconds = Int64(value), seconds >= 0, seconds < 1 << 40 else {
                        throw SettingsError("\(place): since \"\(value)\": expected UNIX seconds")
                    }
                    record.since = seconds * 1000
                }
            }
            let kind: UInt32
            if let known = numbers[record] {
                kind = known
            } else {
                kind = UInt32(kinds.count)
                kinds.append(record)
                numbers[record] = kind
            }
            if let before = places.updateValue(kind, forKey: TokenKey(token)), before != kind {
                throw SettingsError(
                    "\(place): this device was listed before, with another topic, environment, state or since")
            }
        }
        guard !places.isEmpty else { throw SettingsError("\(file): no device token in it; expected one a line") }
        self.places = places
        self.kinds = kinds
    }

    /// Without line ends, and without what is empty at the end.
    private static func lines(_ data: Data) -> [Data] {
        var lines = data.dropFirst(DeviceColumns.markLength(data)).split(
            separator: 0x0A, omittingEmptySubsequences: false
        )
        .map { $0.last == 0x0D ? $0.dropLast() : $0 }
        while lines.last?.isEmpty == true { lines.removeLast() }
        return lines
    }

    private static func setState(
        _ text: String, of record: inout DeviceRecord, _ place: String
    ) throws(SettingsError) {
        if text == "offline" {
            record.isOffline = true
        } else if let state = DeviceRecord.State(rawValue: text) {
            record.state = state
        } else {
            throw SettingsError(
                "\(place): state \"\(text)\"; expected \(DeviceRecord.State.names.joined(separator: ", ")) or offline")
        }
    }

    func record(_ key: TokenKey) -> DeviceRecord? { places[key].map { kinds[Int($0)] } }
}
