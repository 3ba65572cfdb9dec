import Settings

/// The columns of a device file, which both programs read: what its header line names, in that order; without a header line
/// token and tags.
public struct DeviceColumns: Sendable, Equatable {
    public enum Column: String, CaseIterable, Sendable {
        case token
        /// Separated by semicolons.
        case tags
        /// A bundle id.
        case topic
        /// production or development.
        case environment
        /// registered, unregistered, expired or offline.
        case state
        /// UNIX seconds.
        case since
    }

    public private(set) var all: [Column] = [.token, .tags]
    /// The first line names the columns and is no device.
    public private(set) var hasHeader = false
    /// Which of them the token is in.
    public let tokenPlace: Int

    /// - Parameter firstLine: without its line end.
    /// - Throws: what is wrong with it as a header line, if it is meant as one: its first field is not of hexadecimal digits, and
    ///   one of its fields is a column's name, or near one.
    public init(firstLine: String) throws(PayloadError) {
        let names = Column.allCases.map(\.rawValue)
        let fields = firstLine.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
        let isDevice = !fields[0].isEmpty && fields[0].allSatisfy { $0.isASCII && $0.isHexDigit }
        if !isDevice, fields.contains(where: { NearestName.of($0, among: names) != nil }) {
            hasHeader = true
            all = []
            for field in fields {
                guard let column = Column(rawValue: field) else {
                    throw PayloadError("unknown column \"\(field.prefix(80))\"" + NearestName.hint(field, among: names))
                }
                guard !all.contains(column) else { throw PayloadError("column \"\(field)\" is named twice") }
                all.append(column)
            }
        }
        guard let place = all.firstIndex(of: .token) else {
            throw PayloadError("no column \"token\"; this line names \(all.map(\.rawValue).joined(separator: ", "))")
        }
        tokenPlace = place
    }

    /// The bytes of the mark that some spreadsheets begin a text in UTF-8 with; 0 when there is none.
    public static func markLength(_ bytes: some Collection<UInt8>) -> Int {
        bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0
    }

    /// What is wrong with a line of so many fields; nil when it has no more than there are columns.
    public func problem(fields: Int) -> String? {
        if fields <= all.count { return nil }
        let names = all.map(\.rawValue).joined(separator: ",")
        return "\(fields) fields; "
            + (hasHeader ? "the header line names \(names)" : "without a header line there are \(names)")
    }
}
