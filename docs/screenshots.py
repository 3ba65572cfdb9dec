#!/usr/bin/env python3
"""Makes the pictures in docs/images from fresh runs: `make screenshots`.

Two runs on terminals of 80 and 60 columns show the live view, as it is when it goes, and the summary that comes after it. A
browser without a window shows the first one's report, light and dark, at the widths of a desk and of a phone, and takes the
terminals' pictures too: their screens, as an emulator has them, become pages. `fan-out` and `echo [RUN]` make these alone. PUSHLOAD names another program than that of
`make build`. Needs chromium, pyte and Pillow, which `make screenshots` installs.
"""
import html
import itertools
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

import pyte

ROOT = Path(__file__).resolve().parent.parent
sys.path.append(str(ROOT / "Tests/EndToEndTests/Python"))
from terminal import Session, characters  # noqa: E402

IMAGES = ROOT / "docs" / "images"
PROGRAM = Path(os.environ.get("PUSHLOAD", ROOT / ".build" / "release" / "pushload"))
MOST_BYTES = 200_000

# The run that is shown: every kind of stage, some pushes rejected, some never answered, thresholds held and crossed.
RUN = [
    "run", "--name", "evening-news",
    "--stages", "ramp 500 4k 4s, hold 4k 4s, burst 500, pause 2s, sine 2k 1k 2s 4s", "--warmup", "1s",
    "--rtt", "20ms", "--timeout", "2s", "--mock-flags", "--reject ServiceUnavailable=0.5% --silent 0.2% --fault-seed 7",
    "--expect-reasons", "ServiceUnavailable", "--threshold", "p99 < 250ms", "--threshold", "p99{stage=hold} < 80ms",
]


@dataclass
class Page:
    """A part of a page, from its top."""
    name: str
    width: int
    height: int
    dark: bool = False


REPORTS = [
    Page("report", 1100, 1560),
    Page("report-dark", 1100, 1560, dark=True),
    Page("report-phone", 390, 1500),
    Page("report-phone-dark", 390, 1500, dark=True),
]
COLUMNS = [80, 60]
ROWS = 24


def take(page: Path, picture: Page, folder: Path):
    """Takes a picture of a page. A browser's window has a least width, so that a narrow page stands in a frame."""
    frame = folder / f"{picture.name}.html"
    frame.write_text(
        f'<!DOCTYPE html><meta name="color-scheme" content="light dark"><body style="margin:0">'
        f'<iframe src="{page.as_uri()}" style="border:0;width:{picture.width}px;height:{picture.height}px"></iframe>')
    taken = folder / f"{picture.name}.png"
    # Blink's preferred colour scheme: 0 is dark, 1 is light.
    subprocess.run(
        ["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--allow-file-access-from-files",
         f"--blink-settings=preferredColorScheme={0 if picture.dark else 1}", f"--screenshot={taken}",
         f"--window-size={max(picture.width, 600)},{picture.height + 100}", frame.as_uri()],
        check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=120)
    shrink(taken, picture)


def shrink(taken: Path, picture: Page):
    """Cut to size and to as few colours as make it small enough."""
    from PIL import Image

    image = Image.open(taken).convert("RGB").crop((0, 0, picture.width, picture.height))
    target = IMAGES / f"{picture.name}.png"
    for colours in (256, 128, 64, 32):
        image.quantize(colours, method=Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE).save(target, optimize=True)
        if target.stat().st_size <= MOST_BYTES:
            break
    else:
        sys.exit(f"{target}: {target.stat().st_size} bytes, more than {MOST_BYTES}")
    print(f"{target.relative_to(ROOT)}: {picture.width} x {picture.height}, {target.stat().st_size // 1000} kB")


# As pyte names those of ECMA-48's SGR 30 to 37.
COLOURS = {
    "black": "#3b3b3b", "red": "#f85149", "green": "#3fb950", "brown": "#d29922", "blue": "#58a6ff", "magenta": "#bc8cff",
    "cyan": "#39c5cf", "white": "#d0d7de",
}


def terminal(name: str, rows: list, folder: Path):
    """A picture of a screen, without the empty rows at its top and end."""
    columns = len(rows[0])
    lines = [spans(row) for row in rows]
    while not lines[0].strip():
        lines.pop(0)
    while not lines[-1].strip():
        lines.pop()
    page = folder / f"{name}-text.html"
    page.write_text(
        '<!DOCTYPE html><meta charset="utf-8"><style>body{margin:0;background:#0d1117;color:#e6edf3}pre{margin:0;padding:12px;'
        'font:14px/17px "DejaVu Sans Mono",monospace}</style><pre>' + "\n".join(lines) + "</pre>")
    # A character of this font is 0.602 of its size wide.
    take(page, Page(name, int(columns * 14 * 0.602) + 26, len(lines) * 17 + 24, dark=True), folder)


def spans(row: list) -> str:
    """Characters with their colours as HTML."""
    result = ""
    for (colour, is_bold), part in itertools.groupby(row, lambda character: (character.fg, character.bold)):
        text = html.escape("".join(character.data for character in part))
        style = f"color:{COLOURS[colour]};" if colour in COLOURS else ""
        style += "font-weight:bold" if is_bold else ""
        result += f'<span style="{style}">{text}</span>' if style else text
    return result


def after(text: str, columns: int) -> list:
    """The screen of a terminal high enough for all of a text."""
    screen = pyte.Screen(columns, 200)
    pyte.Stream(screen).feed(text)
    return characters(screen)


def session(arguments: list, columns: int, rows: int = ROWS, meet: str | None = None) -> Session:
    environment = {key: value for key, value in os.environ.items() if key not in ("NO_COLOR", "COLUMNS")}
    environment |= {"TERM": "xterm-256color", "LC_ALL": "C.UTF-8"}
    return Session(columns, rows, [str(PROGRAM)] + arguments, environment=environment, meet=meet)


# Breaking news overtakes a newsletter, and is overtaken itself.
SENDS = [
    "{name: newsletter, audience: '*', priority: 5}",
    "{name: breaking news, audience: follows_RedSox || follows_Cardinals, start: 3s, priority: 10, profile: rich}",
    "{name: stadium, audience: (follows_RedSox || follows_Cardinals) && location_Boston, start: 6s, priority: 10}",
]


def fan_out(folder: Path):
    """The section of a report that shows how several sends reached their audiences."""
    people, run = str(folder / "people.csv"), folder / "sends"
    subprocess.run([PROGRAM, "audience", "make", people, "-n", "100k", "--seed", "7"], check=True, capture_output=True)
    sends = [word for send in SENDS for word in ("--send", send)]
    subprocess.run(
        [PROGRAM, "run", "--registrations", people, "--environment", "any", "--rate", "12k", "-o", str(run), *sends], check=True, capture_output=True)
    section(next(run.iterdir()), "Fan-out", Page("fan-out", 900, 800), folder)


def echo(folder: Path, run: str | None):
    """The section that shows the wave of pushes going out and that of requests coming back: of `run`, or of a run of its own."""
    runs = folder / "echo"
    if run is None:
        subprocess.run(
            [PROGRAM, "run", "-n", "100k", "--profile", "rich-push", "--rate", "4k", "-o", str(runs), "--device-model",
             str(ROOT / "scenarios/models/awake.yaml")], check=True, capture_output=True)
    section(Path(run) if run else next(runs.iterdir()), "Echo: what devices asked of their backend", Page("echo", 900, 900), folder)


def section(run: Path, title: str, picture: Page, folder: Path):
    """A picture of one section of a run's report."""
    page = folder / f"{picture.name}-of-run.html"
    subprocess.run([PROGRAM, "report", str(run), "-o", str(page)], check=True, capture_output=True)
    text = page.read_text()
    place = text.index(f">{title}<")
    begin, end = text.rindex("<section", 0, place), text.index("</section>", place)
    page.write_text(text[:text.index("<body")] + "<body><main>" + text[begin:end] + "</section></main></body></html>")
    take(page, picture, folder)


def main():
    if not PROGRAM.exists():
        sys.exit(f"{PROGRAM} is not there: make build, or PUSHLOAD=path/of/pushload")
    IMAGES.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        os.chdir(folder)
        if sys.argv[1:2] != ["echo"]:
            fan_out(folder)
        if sys.argv[1:2] != ["fan-out"]:
            echo(folder, sys.argv[2] if len(sys.argv) > 2 else None)
        if sys.argv[1:]:
            return
        for columns in COLUMNS:
            shown = session(RUN + ["--live"], columns, meet=r" 9[0-5]% of ")
            if not shown.met:
                sys.exit(f"the run showed no live view: {shown.raw}")
            terminal(f"live-{columns}", shown.met, folder)
            terminal(f"summary-{columns}", after(shown.raw.split("\x1b[?1049l")[-1], columns), folder)
        run = str(sorted((folder / "results/runs").iterdir())[0])
        page = folder / "report-of-run.html"
        made = session(["report", run, "-o", str(page)], 80)
        if made.status != 0:
            sys.exit(f"no report: {made.raw}")
        for picture in REPORTS:
            take(page, picture, folder)
        terminal("report-terminal", session(["report", run, "--format", "terminal"], 80, 200).main, folder)


if __name__ == "__main__":
    main()
