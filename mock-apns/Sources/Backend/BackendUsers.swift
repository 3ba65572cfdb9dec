import Foundation
import Settings

/// Who may ask, by HTTP Basic (RFC 7617).
package struct BackendUsers: Sendable {
    /// nil: anybody whose password is the user's name, as in the sample of Notification Hubs.
    private let passwords: [String: String]?

    package init() { passwords = nil }

    /// Reads a file with `name:password` a line; empty lines and those that begin with `#` say nothing.
    ///
    /// - Throws: `file:line: …`
    package init(file: String) throws(SettingsError) {
        try self.init(parsing: try FileContents.text(file, "file of users", limit: 2 << 30, orPipe: true), file: file)
    }

    init(parsing text: String, file: String) throws(SettingsError) {
        var passwords: [String: String] = [:]
        // The end of a line may be one character, \r\n.
        let lines = text.split(omittingEmptySubsequences: false) { $0 == "\n" || $0 == "\r\n" }
        for (index, line) in lines.enumerated() {
            if line.isEmpty || line.hasPrefix("#") { continue }
            guard let colon = line.firstIndex(of: ":"), colon > line.startIndex else {
                throw SettingsError("\(file):\(index + 1): expected a user as name:password")
            }
            let name = String(line[..<colon])
            guard passwords[name] == nil else {
                throw SettingsError("\(file):\(index + 1): user \"\(name)\" is there already")
            }
            passwords[name] = String(line[line.index(after: colon)...])
        }
        guard !passwords.isEmpty else { throw SettingsError("\(file): no user in it; expected name:password a line") }
        self.passwords = passwords
    }

    /// Who an Authorization header is of; nil when it is nobody's.
    func user(_ authorization: String?) -> String? {
        guard let authorization, authorization.utf8.prefix(6).elementsEqual("Basic ".utf8, by: { $0 | 32 == $1 | 32 }),
            let data = Data(base64Encoded: String(authorization.dropFirst(6))),
            let text = String(data: data, encoding: .utf8), let colon = text.utf8.firstIndex(of: 0x3A),
            colon > text.startIndex
        else { return nil }
        let name = String(text[..<colon])
        let password = String(text[text.index(after: colon)...])
        guard let passwords else { return password == name ? name : nil }
        return passwords[name] == password ? name : nil
    }
}
