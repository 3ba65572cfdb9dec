import Payloads

/// An audience as what pushes are sent to: chosen registrations, in the file's order.
///
/// Cost of a push: the row of its rank, and its token copied from the mapped file.
package final class AudienceDevices: DeviceList, @unchecked Sendable {
    package let registrations: Registrations
    private let chosen: DeviceSelection
    /// The file and its column of tokens, for every push.
    private let base: UnsafePointer<UInt8>
    private let size: Int
    private let longest: Int
    private let tokens: UnsafeBufferPointer<UInt64>
    /// For each of the file's templates, which of the mix's entries is made of it; the mix's first where a device has none.
    private let entries: [Int]

    /// - Parameter entries: empty: templates of the registrations' own are not used.
    package init(_ registrations: Registrations, _ rows: RowSet, entries: [Int] = []) {
        self.registrations = registrations
        chosen = rows.selection(of: registrations.rows)
        self.entries = entries
        longest = registrations.longestToken
        (base, size, tokens) = (registrations.file.base, registrations.file.size, registrations.tokens)
    }

    package override var count: UInt64 { registrations.count }
    package override var longestToken: Int { registrations.longestToken }
    package override var selection: DeviceSelection? { chosen }
    package override var writtenFile: String? { registrations.isUnwritten ? nil : registrations.path }

    package override func writeToken(_ device: UInt64, into output: UnsafeMutablePointer<UInt8>) -> Int {
        let row = Int(truncatingIfNeeded: device)
        guard row < tokens.count else { return 0 }
        let (start, length) = (IndexPlace.start(tokens[row]), IndexPlace.length(tokens[row]))
        // What APNs hands out today, which is copied in one go.
        guard length == 64, longest >= 64, start <= size - 64 else {
            return registrations.writeToken(UInt32(truncatingIfNeeded: device), into: output)
        }
        UnsafeMutableRawPointer(output).storeBytes(
            of: UnsafeRawPointer(base + start).loadUnaligned(as: SIMD64<UInt8>.self), as: SIMD64<UInt8>.self)
        return 64
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
