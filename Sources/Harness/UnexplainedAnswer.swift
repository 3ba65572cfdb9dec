/// An answer that rejects a push without a `reason` that APNs would give: its status, and how its body begins.
struct UnexplainedAnswer: Sendable, CustomStringConvertible {
    /// Of HTTP.
    let status: UInt16
    /// The first `most` bytes. A stranger's: printable ASCII, white space as one blank, a question mark for each other byte.
    let body: String

    static let most = 200

    /// - Parameter body: what is kept of the answer's.
    init(status: UInt16, body: UnsafeBufferPointer<UInt8>) {
        self.status = status
        let isBlank: (UInt8) -> Bool = { $0 == 0x20 || (0x09...0x0D).contains($0) }
        self.body = body.prefix(Self.most).split(whereSeparator: isBlank).map { word in
            String(decoding: word.map { (0x21...0x7E).contains($0) ? $0 : 0x3F }, as: UTF8.self)
        }.joined(separator: " ")
    }

    /// `503, "<html>No server is available</html>"`.
    var description: String { body.isEmpty ? "\(status), without a body" : "\(status), \"\(body)\"" }
}
