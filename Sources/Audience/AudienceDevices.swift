import Payloads

/// An audience as what pushes are sent to: chosen registrations, in the file's order.
///
/// Cost of a push: the row of its rank, and its token copied from the mapped file.
package final class AudienceDevices: DeviceList, @unchecked Sendable {
    package let registrations: Registrations
    private let chosen: DeviceSelection
    /// For each of the file's templates, which of the mix's entries is made of it; the mix's first where a device has none.
    private let entries: [Int]

    /// - Parameter entries: empty: templates of the registrations' own are not used.
    package init(_ registrations: Registrations, _ rows: RowSet, entries: [Int] = []) {
        self.registrations = registrations
        chosen = rows.selection(of: registrations.rows)
        self.entries = entries
    }

    package override var count: UInt64 { registrations.count }
    package override var longestToken: Int { registrations.longestToken }
    package override var selection: DeviceSelection? { chosen }

    package override func writeToken(_ device: UInt64, into output: UnsafeMutablePointer<UInt8>) -> Int {
        registrations.writeToken(UInt32(truncatingIfNeeded: device), into: output)
    }

    package override func writeTag(_ device: UInt64, _ number: Int, into output: UnsafeMutablePointer<UInt8>) -> Int {
        registrations.writeTag(UInt32(truncatingIfNeeded: device), number, into: output)
    }

    package override var choosesEntry: Bool { !entries.isEmpty }

    package override func entry(_ device: UInt64) -> Int {
        guard let number = registrations.templateNumber(UInt32(truncatingIfNeeded: device)), number < entries.count
        else {
            return 0
        }
        return entries[number]
    }
}
