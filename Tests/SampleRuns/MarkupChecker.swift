/// Whether tags are closed in the order they were opened; enough of HTML for our own pages.
package enum MarkupChecker {
    private static let void: Set<String> = ["meta", "br", "hr", "img", "link", "input"]

    /// - Returns: what is wrong, nil when nothing is.
    package static func problem(_ page: String) -> String? {
        var open: [String] = []
        var rest = Substring(page)
        while let start = rest.firstIndex(of: "<") {
            guard let end = rest[start...].firstIndex(of: ">") else { return "a tag that does not end" }
            let tag = rest[rest.index(after: start)..<end]
            rest = rest[rest.index(after: end)...]
            if tag.contains("<") { return "a < within <\(tag)>" }
            if tag.hasPrefix("!") { continue }
            if tag.count(where: { $0 == "\"" }) % 2 != 0 { return "an open quotation in <\(tag)>" }
            if tag.hasPrefix("/") {
                guard let last = open.popLast(), last == tag.dropFirst() else { return "<\(tag)> closes \(open)" }
            } else if !tag.hasSuffix("/") {
                let name = String(tag.prefix { $0 != " " })
                if !void.contains(name) { open.append(name) }
            }
        }
        return open.isEmpty ? nil : "never closed: \(open)"
    }
}
