import PlainHTTP

/// `GET /`: the pushes as they come, to look at in a browser. One file that loads nothing: it asks `/pushes` for what is new, with the
/// filters of its own query, and writes only texts into the page, so that nothing a push brings is run. `#ID` at the end of its address
/// opens that push; with `follow=no` it shows what there is and asks no more.
enum LivePage {
    static func answer(hasDevices: Bool) -> PlainResponse {
        var random = SystemRandomNumberGenerator()
        let nonce = String(random.next(), radix: 36) + String(random.next(), radix: 36)
        var response = PlainResponse(
            status: 200, type: "text/html; charset=utf-8", body: Array(html(nonce, hasDevices: hasDevices).utf8))
        // Scripts but the page's own are refused, whatever came into it.
        response.fields = [
            "content-security-policy: default-src 'none'; style-src 'nonce-\(nonce)'; script-src 'nonce-\(nonce)'; "
                + "connect-src 'self'; frame-src 'self'; base-uri 'none'; form-action 'none'",
            "cache-control: no-store",
        ]
        return response
    }

    private static func html(_ nonce: String, hasDevices: Bool) -> String {
        """
        <!DOCTYPE html>
        <html lang="en">
        <head>
        <meta charset="utf-8">
        <meta name="viewport" content="width=device-width, initial-scale=1">
        <title>mock-apns</title>
        <style nonce="\(nonce)">
        \(style)
        </style>
        </head>
        <body data-devices="\(hasDevices)">
        <header><h1>mock-apns</h1><p id="state">waiting for pushes</p>
        <label><input type="checkbox" id="hold"> hold</label> <button id="clear">clear</button></header>
        <main>
        <table><thead><tr><th>#</th><th>time</th><th>verdict</th><th>topic</th><th>type</th><th>device</th><th>says</th></tr></thead>
        <tbody id="pushes"></tbody></table>
        <aside id="detail"><p>Choose a push to see its headers, its payload and what became of it.</p></aside>
        </main>
        <script nonce="\(nonce)">
        \(script)
        </script>
        </body>
        </html>

        """
    }

    private static let style = """
        body { margin: 0; font: 14px/1.4 system-ui, sans-serif; color: #1c1c1e; background: #f4f5f7; }
        header { display: flex; gap: 1rem; align-items: baseline; padding: 0.6rem 1rem; background: #1f3a56; color: #fff; }
        h1 { margin: 0; font-size: 1.1rem; }
        header p { margin: 0; flex: 1; opacity: 0.85; }
        main { display: flex; align-items: flex-start; }
        table { flex: 3; border-collapse: collapse; background: #fff; }
        th, td { padding: 0.25rem 0.6rem; text-align: left; border-bottom: 1px solid #e3e5e8; white-space: nowrap; }
        td:last-child { white-space: normal; overflow-wrap: anywhere; }
        tbody tr { cursor: pointer; }
        tbody tr:hover, tr.chosen { background: #e8f0fa; }
        td.accepted { color: #1b6e3a; }
        td.rejected { color: #b3261e; }
        td.device { font-family: ui-monospace, monospace; }
        aside { flex: 2; min-width: 22rem; max-width: 46rem; padding: 0 1rem 1rem; box-sizing: border-box; }
        aside h2 { margin: 1rem 0 0.3rem; font-size: 0.95rem; }
        pre { margin: 0; padding: 0.6rem; background: #fff; border: 1px solid #e3e5e8; white-space: pre-wrap; overflow-wrap: anywhere; }
        iframe { width: 25rem; height: 48rem; border: 0; }
        """

    /// Newest first; the last thousand.
    private static let script = #"""
        "use strict";
        const most = 1000;
        const list = document.getElementById("pushes");
        const detail = document.getElementById("detail");
        const state = document.getElementById("state");
        const hold = document.getElementById("hold");
        const filters = new URLSearchParams(location.search);
        const follows = filters.get("follow") !== "no";
        filters.delete("follow");
        let last = 0;
        let count = 0;

        function element(name, text, kind) {
          const made = document.createElement(name);
          if (text !== undefined) made.textContent = text;
          if (kind) made.className = kind;
          return made;
        }

        function says(payload) {
          try {
            const alert = JSON.parse(payload).aps.alert;
            if (typeof alert === "string") return alert;
            return [alert.title, alert.subtitle, alert.body].filter((part) => typeof part === "string").join(" · ");
          } catch { return ""; }
        }

        function pretty(payload) {
          try { return JSON.stringify(JSON.parse(payload), null, 2); } catch { return payload; }
        }

        function section(title, text) {
          detail.append(element("h2", title), element("pre", text));
        }

        async function choose(row, push) {
          for (const other of list.querySelectorAll(".chosen")) other.className = "";
          row.className = "chosen";
          detail.replaceChildren(element("h2", "push " + push.id));
          section("verdict", verdict(push));
          section("headers", push.headers.map(([name, value]) => name + ": " + value).join("\n"));
          section("payload", pretty(push.payload));
          const answer = await fetch("/unique/" + push.unique_id);
          if (!answer.ok || row.className !== "chosen") return;
          const log = (await answer.json()).log;
          section("what became of it", log.map((entry) =>
            clock(entry.time) + " " + entry.event + (entry.outcome ? " (" + entry.outcome + ")" : "")).join("\n"));
          if (document.body.dataset.devices !== "true" || push.status !== 200) return;
          const screen = element("iframe");
          screen.title = "what the device shows";
          screen.src = "/devices/" + push.token + "/screen.html";
          detail.append(element("h2", screen.title), screen);
        }

        function verdict(push) {
          return push.unanswered ?? push.status + (push.reason ? " " + push.reason : "");
        }

        function clock(time) { return new Date(time).toISOString().slice(11, 23); }

        function add(push) {
          const row = element("tr");
          row.append(
            element("td", push.id), element("td", clock(push.time)),
            element("td", verdict(push), push.status === 200 ? "accepted" : "rejected"),
            element("td", push.topic), element("td", push.push_type), element("td", push.token.slice(0, 12), "device"),
            element("td", says(push.payload)));
          row.addEventListener("click", () => { history.replaceState(null, "", "#" + push.id); choose(row, push); });
          list.prepend(row);
          if (location.hash === "#" + push.id) choose(row, push);
          while (list.rows.length > most) list.deleteRow(most);
        }

        async function follow() {
          for (;;) {
            try {
              const query = new URLSearchParams(filters);
              query.set("after", last);
              if (follows) query.set("wait", "20s");
              const answer = await fetch("/pushes?" + query);
              if (!answer.ok) {
                state.textContent = await answer.text();
                if (answer.status === 400 || !follows) return;
                // No push has come for its namespace yet.
                if (answer.status === 404) continue;
                throw new Error(answer.status);
              }
              for (const push of await answer.json()) {
                while (hold.checked) await new Promise((done) => setTimeout(done, 200));
                add(push);
                last = push.id;
                count += 1;
              }
              state.textContent = count + (count === 1 ? " push" : " pushes");
              if (!follows) return;
            } catch {
              state.textContent = "the mock does not answer";
              await new Promise((done) => setTimeout(done, 1000));
            }
          }
        }

        document.getElementById("clear").addEventListener("click", () => list.replaceChildren());
        follow();
        """#
}
