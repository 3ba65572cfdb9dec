import Foundation

/// Debian's Chromium, if it is there, as a reader of pages.
enum Chromium {
    static let path = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"].first {
        FileManager.default.isExecutableFile(atPath: $0)
    }

    /// What the page of a file looks like after the browser has read it, and what its console says: one line a message.
    static func load(_ page: String) throws -> (document: String, console: [String]) {
        try load(address: URL(fileURLWithPath: page).absoluteString)
    }

    /// The same of an address.
    ///
    /// - Parameter flags: further ones, such as how long the page's scripts have.
    static func load(address: String, _ flags: [String] = []) throws -> (document: String, console: [String]) {
        let profile = OutputFolder()
        let finished = try Programs.run(
            path ?? "",
            [
                "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
                "--user-data-dir=\(profile.path)",
                "--enable-logging=stderr", "--v=0", "--dump-dom",
            ] + flags + [address])
        guard finished.status == 0, finished.output.contains("</html>") else {
            throw Running.Failure(description: "Chromium gave no page: \(finished)")
        }
        return (
            finished.output, finished.error.split(separator: "\n").map(String.init).filter { $0.contains(":CONSOLE") }
        )
    }
}
