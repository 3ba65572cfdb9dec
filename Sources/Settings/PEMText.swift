/// PEM whose line ends were lost or changed on the way: through an environment variable, a secret's form or a YAML file.
package enum PEMText {
    /// The same with a line end where one belongs: for `\n` written as two characters, for blanks in their place, and without the
    /// blanks that lines begin or end with. Anything else is as it was, and so is text that has no such block.
    ///
    /// - Parameter bytes: of a file, or of what a program was given.
    package static func mended(_ bytes: [UInt8]) -> [UInt8] {
        guard let text = String(validating: bytes, as: UTF8.self), text.contains(begin) else { return bytes }
        let plain = text.replacing("\\r", with: "").replacing("\\n", with: "\n")
        var blocks: [String] = []
        var isWrong = plain.count != text.count
        var rest = plain[...]
        while let start = rest.range(of: begin) {
            guard let label = rest[start.upperBound...].range(of: dashes),
                case let name = rest[start.upperBound..<label.lowerBound],
                let finish = rest[label.upperBound...].range(of: "-----END \(name)-----")
            else { return bytes }
            let body = rest[label.upperBound..<finish.lowerBound]
            // Headers of an old encrypted key have lines of their own.
            guard !body.contains(":") else { return bytes }
            isWrong = isWrong || isWrongBody(body) || rest[..<start.lowerBound].last.map { !$0.isNewline } == true
            blocks.append(block(name, body))
            rest = rest[finish.upperBound...]
        }
        return isWrong ? Array(blocks.joined().utf8) : bytes
    }

    private static let begin = "-----BEGIN "
    private static let dashes = "-----"
    /// Of a line, as RFC 7468 has them.
    private static let width = 64

    /// One has lines of its own, without blanks at their ends; what follows may be of any length.
    private static func isWrongBody(_ body: Substring) -> Bool {
        guard body.first?.isNewline == true, body.last?.isNewline == true, !body.contains(where: { $0 == "\r" }) else {
            return true
        }
        return body.split(whereSeparator: \.isNewline).contains { $0.contains(where: \.isWhitespace) }
    }

    private static func block(_ name: Substring, _ body: Substring) -> String {
        let letters = body.filter { !$0.isWhitespace }
        var lines: [Substring] = []
        var rest = letters[...]
        while !rest.isEmpty {
            lines.append(rest.prefix(width))
            rest = rest.dropFirst(width)
        }
        return "\(begin)\(name)\(dashes)\n\(lines.joined(separator: "\n"))\n-----END \(name)\(dashes)\n"
    }
}
