import Settings

/// One self-contained page of one or several results: no script, nothing from a network; the page's own policy forbids both.
package enum HTMLReport {
    /// - Parameters:
    ///   - runs: at least one; several are laid over each other and put side by side.
    ///   - beside: sections of these runs, after those they share.
    package static func page(_ runs: [ReportedRun], beside: [ReportSection] = []) -> String {
        page(ReportContent.title(runs), ReportContent.subtitle(runs), ReportContent.sections(runs, beside))
    }

    /// Any sections as such a page.
    ///
    /// - Parameter refresh: seconds after which a browser reads it again; nil: never.
    package static func page(
        _ title: String, _ subtitle: String, _ sections: [ReportSection], refresh: Int? = nil
    ) -> String {
        let title = HTMLText.escape(title)
        let renewal = refresh.map { "<meta http-equiv=\"refresh\" content=\"\($0)\">\n" } ?? ""
        return """
            <!DOCTYPE html>
            <html lang="en">
            <head>
            <meta charset="utf-8">
            <meta name="viewport" content="width=device-width, initial-scale=1">
            <meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
            \(renewal)<title>\(title) - pushload</title>
            <style>
            \(HTMLStyle.text)
            </style>
            </head>
            <body>
            <main>
            <header>
            <h1>\(title)</h1>
            <p>\(HTMLText.escape(subtitle))</p>
            </header>
            \(sections.map(HTMLBlocks.section).joined())</main>
            </body>
            </html>

            """
    }
}
