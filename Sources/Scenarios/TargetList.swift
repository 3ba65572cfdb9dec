import Settings

/// The URLs that a run is sent to, at least one. As JSON one is a text and several are a list.
public struct TargetList: Codable, Sendable, Equatable, ExpressibleByStringLiteral {
    public let urls: [String]

    public init(_ url: String) { urls = [url] }
    public init(stringLiteral url: String) { urls = [url] }

    /// - Returns: nil for none.
    package init?(_ urls: [String]) {
        guard !urls.isEmpty else { return nil }
        self.urls = urls
    }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if let url = try? container.decode(String.self) {
            urls = [url]
            return
        }
        urls = try container.decode([String].self)
        guard !urls.isEmpty else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "expected at least one target")
        }
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        if urls.count == 1 { try container.encode(urls[0]) } else { try container.encode(urls) }
    }

    /// All of them on one line; of more than three the first, and how many more there are.
    package var shown: String {
        urls.count <= 3 ? urls.joined(separator: ", ") : "\(urls[0]) and \(urls.count - 1) more"
    }

    /// Reads what was given: URLs, and for `@FILE` those of the file, one a line; what follows # there is a comment.
    static func read(_ texts: [String]) throws(SettingsError) -> TargetList {
        var urls: [String] = []
        for text in ScenarioKey.words(texts) {
            if text.hasPrefix("@") { urls += try listed(String(text.dropFirst())) } else { urls.append(text) }
        }
        guard let list = TargetList(urls) else { throw SettingsError("expected a URL, such as https://127.0.0.1:2197") }
        return list
    }

    private static func listed(_ path: String) throws(SettingsError) -> [String] {
        guard !path.isEmpty else { throw SettingsError("\"@\": expected @ and the file that lists the targets") }
        let lines = try FileContents.text(path, "file of targets")
            .split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
        var urls: [String] = []
        for (number, line) in lines.enumerated() {
            let words = (line.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false).first ?? "")
                .split(whereSeparator: \.isWhitespace)
            if words.isEmpty { continue }
            let text = words.joined(separator: " ")
            guard words.count == 1 else {
                throw SettingsError("\(path):\(number + 1): \"\(text)\": expected one URL a line")
            }
            let lower = text.lowercased()
            guard lower.hasPrefix("https://") || lower.hasPrefix("http://") else {
                throw SettingsError("\(path):\(number + 1): \"\(text)\": expected a URL such as https://127.0.0.1:2197")
            }
            urls.append(text)
        }
        guard !urls.isEmpty else { throw SettingsError("\(path): no target in it; expected a URL a line") }
        return urls
    }
}
