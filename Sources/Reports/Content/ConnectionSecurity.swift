import Results

extension ResultDocument {
    /// TLS version and cipher, or that there was none.
    var security: String {
        if let tls = run.tls { return tls }
        let isPlain = scenario["plaintext"] == .bool(true) || run.target.hasPrefix("http://")
        return isPlain ? "plaintext" : "TLS"
    }
}
