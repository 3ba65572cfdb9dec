/// How registrations are written.
package enum SyntheticFormat: Sendable, Equatable, CaseIterable {
    case csv, ndjson

    /// By a file's ending: `.csv`, `.ndjson` or `.jsonl`; `-`, standard output, is CSV.
    ///
    /// - Throws: when it ends otherwise.
    package init(path: String) throws(AudienceError) {
        let name = path.lowercased()
        if path == "-" || name.hasSuffix(".csv") {
            self = .csv
        } else if name.hasSuffix(".ndjson") || name.hasSuffix(".jsonl") {
            self = .ndjson
        } else {
            throw AudienceError("\(path): expected a name that ends with .csv, .ndjson or .jsonl")
        }
    }

    /// A value as it stands in the file: quoted where CSV needs it (RFC 4180), always in JSON (RFC 8259, section 7).
    func quoted(_ text: String) -> [UInt8] {
        switch self {
        case .csv:
            let isPlain = text.utf8.allSatisfy { $0 != 0x22 && $0 != 0x2C && $0 != 0x0A && $0 != 0x0D }
            return Array((isPlain ? text : "\"\(text.replacing("\"", with: "\"\""))\"").utf8)
        case .ndjson:
            var bytes: [UInt8] = [0x22]
            for byte in text.utf8 {
                switch byte {
                case 0x22, 0x5C: bytes += [0x5C, byte]
                case 0..<0x20:
                    let digits = Array("0123456789abcdef".utf8)
                    bytes += Array("\\u00".utf8) + [digits[Int(byte >> 4)], digits[Int(byte & 15)]]
                default: bytes.append(byte)
                }
            }
            return bytes + [0x22]
        }
    }
}
