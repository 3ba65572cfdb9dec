import Settings

/// A device's screen as a page to look at: HTML and CSS only, nothing is loaded or run. It is asked for anew every 2 s.
enum LockScreenPage {
    static func html(_ screen: ScreenDocument) -> String {
        let isShown = screen.notifications.filter { $0.place != "in_app" }
        let state =
            (screen.isUnlocked ? "unlocked" : "locked") + ", " + (screen.isOnline ? "online" : "offline")
            + ", app " + screen.app.replacing("_", with: " ")
        let badge = screen.badge > 0 ? "<span class=\"badge\">\(screen.badge)</span>" : ""
        let list =
            isShown.isEmpty
            ? "<p class=\"none\">No notifications</p>"
            : isShown.map { notification($0, at: screen.time / 1000) }.joined(separator: "\n")
        return """
            <!DOCTYPE html>
            <html lang="en">
            <head>
            <meta charset="utf-8">
            <meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
            <meta http-equiv="refresh" content="2">
            <meta name="viewport" content="width=device-width, initial-scale=1">
            <title>\(screen.platform) \(screen.token.prefix(8))</title>
            <style>
            \(style)
            </style>
            </head>
            <body>
            <main class="\(screen.isUnlocked ? "unlocked" : "locked")">
            <header>
            <h1>\(clock(screen.time / 1000))</h1>
            <p>UTC · \(screen.platform), \(state)</p>
            <p class="app">App\(badge)</p>
            </header>
            \(list)
            <footer>\(screen.pending.count) pending · \(screen.token.prefix(16))…</footer>
            </main>
            </body>
            </html>

            """
    }

    private static func notification(_ shown: ScreenDocument.Notification, at time: Int64) -> String {
        func line(_ name: String, _ text: String) -> String {
            text.isEmpty ? "" : "<p class=\"\(name)\" dir=\"auto\">\(HTMLText.escape(text))</p>\n"
        }
        let buttons = shown.actions.map { "<span>\(HTMLText.escape($0))</span>" }.joined()
        return "<article>\n<p class=\"when\">\(age(time - Int64(clamping: shown.shownAt)))</p>\n"
            + line("title", shown.title) + line("subtitle", shown.subtitle) + line("body", shown.body)
            + (buttons.isEmpty ? "" : "<p class=\"actions\">\(buttons)</p>\n") + "</article>"
    }

    /// 09:41 of a UNIX second.
    private static func clock(_ seconds: Int64) -> String {
        let minute = (seconds % 86_400 + 86_400) % 86_400 / 60
        func two(_ number: Int64) -> String { number < 10 ? "0\(number)" : "\(number)" }
        return two(minute / 60) + ":" + two(minute % 60)
    }

    private static func age(_ seconds: Int64) -> String {
        switch seconds {
        case ..<60: "now"
        case ..<3600: "\(seconds / 60) min ago"
        case ..<86_400: "\(seconds / 3600) h ago"
        default: "\(seconds / 86_400) d ago"
        }
    }

    private static let style = """
        body { margin: 0; min-height: 100vh; display: grid; place-items: center; background: #e8eaed;
          font: 15px/1.35 system-ui, sans-serif; }
        main { box-sizing: border-box; width: 23rem; height: 46rem; max-height: 100vh; overflow-y: auto; padding: 2.5rem 0.8rem 1rem;
          border: 0.5rem solid #111; border-radius: 2.5rem; color: #fff;
          background: linear-gradient(160deg, #16324f, #2b5876 45%, #6d5a7c); }
        main.unlocked { background: linear-gradient(160deg, #1f5673, #2f6f7e 45%, #5b6b5a); }
        header { text-align: center; margin-bottom: 1.4rem; }
        h1 { margin: 0; font-size: 4.2rem; font-weight: 300; line-height: 1; }
        header p { margin: 0.3rem 0; font-size: 0.85rem; }
        p.app { position: relative; display: inline-block; padding: 0.5rem 0.7rem; border-radius: 0.8rem;
          background: rgba(255, 255, 255, 0.25); }
        span.badge { position: absolute; top: -0.5rem; right: -0.8rem; min-width: 1.2rem; padding: 0 0.25rem; border-radius: 1rem;
          background: #d32f2f; font-size: 0.75rem; line-height: 1.3rem; }
        article { position: relative; margin: 0 0 0.6rem; padding: 0.7rem 0.9rem; border-radius: 1.1rem;
          background: rgba(246, 246, 248, 0.92); color: #111; overflow-wrap: anywhere; }
        article p { margin: 0; white-space: pre-wrap; }
        p.when { float: right; margin-left: 0.8rem; color: #555; font-size: 0.75rem; }
        p.title { font-weight: 600; }
        p.subtitle { font-weight: 500; }
        p.actions { margin-top: 0.5rem; }
        p.actions span { display: inline-block; margin: 0 0.4rem 0.2rem 0; padding: 0.15rem 0.7rem; border-radius: 0.8rem;
          background: #d6dbe2; font-size: 0.85rem; }
        p.none { text-align: center; }
        footer { margin-top: 1rem; text-align: center; font-size: 0.75rem; opacity: 0.8; }
        """
}
