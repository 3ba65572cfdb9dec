import Foundation
import Settings

/// Devices from a CSV file with a header line: `token`, and as far as wanted `topic`, `environment`, `state` (registered,
/// unregistered, expired, offline) and `since` (UNIX seconds). Other columns are passed over, so that pushload's own device
/// files (`token,tags`) can be used; without a header line each line is a token.
///
/// Memory: about 40 bytes a device.
public final class DeviceRegister: Sendable {
    private let places: [TokenKey: UInt32]
    /// Distinct records; devices of a kind share one.
    private let kinds: [DeviceRecord]
    public var count: Int { places.count }
    var hasOffline: Bool { kinds.contains { $0.isOffline } }

    /// - Throws: `file:line: …`
    public convenience init(path: String) throws(SettingsError) {
        guard let data = FileManager.default.contents(atPath: path) else {
            throw SettingsError("cannot read the device file \(path)")
        }
        try self.init(parsing: data, file: path)
    }

    init(parsing data: Data, file: String) throws(SettingsError) {
        var places: [TokenKey: UInt32] = [:]
        var kinds: [DeviceRecord] = []
        var numbers: [DeviceRecord: UInt32] = [:]
        var columns: [String] = ["token"]
        var number = 0
        for line in data.split(separator: 0x0A, omittingEmptySubsequences: false) {
            number += 1
            let text = String(decoding: line.last == 0x0D ? line.dropLast() : line, as: UTF8.self)
            if text.isEmpty { continue }
            let fields = text.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
            if number == 1, fields.contains("token") {
                columns = fields
                continue
            }
            let place = "\(file):\(number)"
            guard let index = columns.firstIndex(of: "token"), index < fields.count else {
                throw SettingsError("\(place): no token")
            }
            guard Array(fields[index].utf8).withUnsafeBytes(RequestChecks.isWellFormedToken) else {
                throw SettingsError(
                    "\(place): \"\(fields[index].prefix(80))\" is not a device token; expected at least 64 hexadecimal digits"
                )
            }
            var record = DeviceRecord()
            for (column, value) in zip(columns, fields) where !value.isEmpty {
                switch column {
                case "topic": record.topic = value
                case "environment":
                    do throws(SettingsError) { record.environment = try FaultText.environment(value) } catch {
                        throw SettingsError("\(place): \(error)")
                    }
                case "state": try Self.setState(value, of: &record, place)
                case "since":
                    guard let seconds = Int64(value), seconds >= 0, seconds < 1 << 40 else {
                        throw SettingsError("\(place): since \"\(value)\": expected UNIX seconds")
                    }
                    record.since = seconds * 1000
                default: break
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
            places[TokenKey(fields[index])] = kind
        }
        guard !places.isEmpty else { throw SettingsError("\(file): no device token in it; expected one a line") }
        self.places = places
        self.kinds = kinds
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
                "\(place): state \"\(text)\"; expected registered, unregistered, expired or offline")
        }
    }

    func record(_ key: TokenKey) -> DeviceRecord? { places[key].map { kinds[Int($0)] } }
}
