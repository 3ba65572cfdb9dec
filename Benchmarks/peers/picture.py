#!/usr/bin/env python3
"""Draws what a push costs each client, from the table of results/peers.md.

    Benchmarks/peers/picture.py results/peers.md docs/images/peers.svg
"""

import re
import sys

ROW = re.compile(r"\| (?P<client>[^|]+) \| (?P<server>mock-apns|nginx) \| [^|]+ \| (?P<cost>[\d.,]+) \(")
NAMES = {"pushload wire": "pushload", "pushload wire, read batch 50 us": "pushload --read-batch 50us",
         "pushload nghttp2": "pushload --engine nghttp2"}
LEFT, WIDTH, HEIGHT, BAR = 190, 420, 22, 14
# Bars of more than so many µs end there, torn off: else nothing would be seen of the others.
MOST = 100


def panel(top, server, rows):
    """The bars of one server, the cheapest first."""
    most = min(MOST, max(cost for _, cost in rows))
    torn = f" (torn: more than {MOST})" if rows[-1][1] > MOST else ""
    lines = [f'<text class="head" x="0" y="{top}">CPU of the client a push against {server}, µs{torn}</text>']
    for place, (client, cost) in enumerate(rows):
        y = top + 14 + place * HEIGHT
        own = ' class="own"' if client.startswith("pushload") else ' class="other"'
        lines.append(f'<text x="{LEFT - 8}" y="{y + 11}" text-anchor="end">{NAMES.get(client, client)}</text>')
        length = max(1, min(1, cost / most) * WIDTH)
        end, low = LEFT + length, y + BAR
        tear = f"L{end - 8} {y + BAR / 2} L{end} {low}" if cost > most else f"L{end:.1f} {low}"
        lines.append(f'<path{own} d="M{LEFT} {y} L{end:.1f} {y} {tear} L{LEFT} {low} Z"/>')
        lines.append(f'<text x="{end + 6:.1f}" y="{y + 11}">{cost:g}</text>')
    return lines, top + 14 + len(rows) * HEIGHT + 24


def main():
    source, target = sys.argv[1:]
    with open(source) as file:
        rows = [(found["server"], found["client"], float(found["cost"].replace(",", "")))
                for found in ROW.finditer(file.read())]
    if not rows:
        sys.exit(f"{source}: no row of a client against mock-apns or nginx; expected the table of compare.py")
    lines, top = [], 16
    for server in ("mock-apns", "nginx"):
        own = sorted(((client, cost) for name, client, cost in rows if name == server), key=lambda row: row[1])
        drawn, top = panel(top, server, own)
        lines += drawn
    style = ("text{font:12px sans-serif;fill:#24292f}.head{font-weight:bold}.own{fill:#0969da}.other{fill:#8c959f}"
             "@media(prefers-color-scheme:dark){text{fill:#e6edf3}.own{fill:#4493f8}.other{fill:#6e7681}}")
    with open(target, "w") as file:
        file.write(f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {LEFT + WIDTH + 60} {top - 10}" role="img">'
                   f"<title>CPU of the client a push</title><style>{style}</style>\n" + "\n".join(lines) + "\n</svg>\n")


if __name__ == "__main__":
    main()
