/// What devices did with each push, as a mock writes it while it runs: who sent the pushes joins it with the times at which it meant
/// to send them.
///
/// Layout, little-endian: `PUSHDEVS`, a length (8 bytes) and so many bytes of outcomes' names, joined by commas in the order of their
/// codes; then records of 16 bytes: sequence << 16 | run's place << 8 | code, and a time (nanoseconds of the machine's monotonic
/// clock; 0: it had not become so by the end).
///
/// | code | says |
/// | --- | --- |
/// | 0…199 | the push's last outcome, by its place among the names; with time 0 the one that it had at the end |
/// | 200 | its content (fetched, decrypted, attached) was there |
/// | 201 | it had content that did not come, or had not by the end |
/// | 254 | the log is complete; in place of a time: pushes that are not in it, for want of a trace tag or of a place for their run |
/// | 255 | run table: the sequence is the run's place, in place of a time its id; before any record of that run |
///
/// A push has one outcome, and at most one of 200 and 201. Records of different pushes are in no order.
package enum DeviceLog {
    static let magic = Array("PUSHDEVS".utf8)
    static let recordLength = 16
    static let contentCode: UInt8 = 200
    static let noContentCode: UInt8 = 201
    static let endCode: UInt8 = 254
    static let runCode: UInt8 = 255
    /// Bytes that names may take.
    static let longestNames = 16_384

    /// The highest sequence that a record has room for: 48 bits.
    package static let highestSequence: UInt64 = 1 << 48 - 1

    package enum Event: Sendable, Hashable {
        /// By its place among the names, 0 to 199.
        case outcome(Int)
        case content
        case noContent

        var code: UInt8 {
            switch self {
            case .outcome(let place): UInt8(place)
            case .content: DeviceLog.contentCode
            case .noContent: DeviceLog.noContentCode
            }
        }
    }

    package struct Failure: Error, CustomStringConvertible, Sendable {
        package let description: String
    }
}
