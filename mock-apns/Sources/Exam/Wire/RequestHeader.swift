import HTTP2

/// The header fields of a push that the exam looks at.
struct RequestHeader {
    var method = ""
    var path = ""
    var authorization: String?
    var apnsID: String?

    /// What is kept of a value, bytes: a longer path or token is wrong by its beginning too.
    private static let longest = 4096
    /// The same of a device token, characters; those of the exam have 64.
    private static let longestDevice = 128

    /// Decodes a whole header block; nil when it is not valid HPACK, and the connection is over.
    init?(_ block: [UInt8], _ decoder: HPACKDecoder) {
        let isValid = block.withUnsafeBufferPointer { bytes -> Bool in
            var nothing: UInt8 = 0
            return withUnsafePointer(to: &nothing) { empty in
                decoder.begin(bytes.baseAddress ?? empty, bytes.count)
                var field = HPACKField()
                while true {
                    switch decoder.next(&field) {
                    case .field: take(field)
                    case .end: return true
                    case .failed: return false
                    }
                }
            }
        }
        if !isValid { return nil }
    }

    private mutating func take(_ field: HPACKField) {
        let name = UnsafeBufferPointer(start: field.name, count: field.nameLength)
        var value: String {
            String(
                decoding: UnsafeBufferPointer(start: field.value, count: min(field.valueLength, Self.longest)),
                as: UTF8.self)
        }
        switch String(decoding: name.prefix(32), as: UTF8.self) {
        case ":method": method = value
        case ":path": path = value
        case "authorization": authorization = value
        case "apns-id": apnsID = value
        default: break
        }
    }

    /// The device token of `/3/device/<token>`, lower case; nil for any other request.
    var device: String? {
        let prefix = "/3/device/"
        guard method == "POST", path.hasPrefix(prefix) else { return nil }
        return path.dropFirst(prefix.count).prefix(Self.longestDevice).lowercased()
    }
}
