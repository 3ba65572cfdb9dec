#!/usr/bin/env python3
"""Makes the pictures in docs/images from fresh runs: `make screenshots`.

Reports are shown by a browser without a window, light and dark, at the widths of a desk and of a phone. What a terminal shows
becomes a page too (ANSI colours included) and is then taken like one: `Terminal` below. Needs chromium (installed where it is
missing) and Pillow (installed into .build/python), which makes the pictures small.
"""
import html
import os
import re
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
IMAGES = ROOT / "docs" / "images"
PROGRAM = Path(os.environ.get("PUSHLOAD", ROOT / ".build" / "release" / "pushload"))
MOST_BYTES = 200_000

# The run that is shown: every kind of stage, some pushes rejected, some never answered, thresholds held and crossed.
RUN = [
    "run", "--name", "evening-news",
    "--stages", "ramp 500 4k 4s, hold 4k 4s, burst 3k, pause 2s, sine 2k 1k 2s 4s", "--warmup", "1s",
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


@dataclass
class Terminal:
    """What a command prints on a terminal of so many columns; RUN stands for the run's folder."""
    name: str
    columns: int
    command: list


REPORTS = [
    Page("report", 1100, 1560),
    Page("report-dark", 1100, 1560, dark=True),
    Page("report-phone", 390, 1500),
    Page("report-phone-dark", 390, 1500, dark=True),
]
TERMINALS = [
    Terminal("report-terminal", 80, ["report", "RUN", "--format", "terminal"]),
]


def install():
    if not shutil.which("chromium"):
        sudo = [] if os.geteuid() == 0 else ["sudo"]
        subprocess.run(sudo + ["apt-get", "update", "-qq"], check=True)
        subprocess.run(
            sudo + ["env", "DEBIAN_FRONTEND=noninteractive", "apt-get", "install", "-y", "-qq", "chromium"], check=True,
            stdout=subprocess.DEVNULL)
    try:
        import PIL  # noqa: F401
    except ImportError:
        python = ROOT / ".build" / "python" / "bin" / "python"
        if not python.exists():
            subprocess.run([sys.executable, "-m", "venv", str(python.parent.parent)], check=True)
        if Path(sys.prefix) == python.parent.parent:
            subprocess.run([python, "-m", "pip", "install", "-q", "--disable-pip-version-check", "pillow"], check=True)
        else:
            os.execv(python, [str(python), __file__] + sys.argv[1:])


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
    for colours in (128, 64, 32):
        image.quantize(colours, dither=Image.Dither.NONE).save(target, optimize=True)
        if target.stat().st_size <= MOST_BYTES:
            break
    else:
        sys.exit(f"{target}: {target.stat().st_size} bytes, more than {MOST_BYTES}")
    print(f"{target.relative_to(ROOT)}: {picture.width} x {picture.height}, {target.stat().st_size // 1000} kB")


COLOURS = ["#3b3b3b", "#f85149", "#3fb950", "#d29922", "#58a6ff", "#bc8cff", "#39c5cf", "#d0d7de"]


def ansi(text: str) -> str:
    """Text with ANSI's colours and bold (SGR 0, 1, 2, 22, 30-37, 39, 90-97) as HTML."""
    result, style = "", {}
    for part in re.split(r"(\x1b\[[0-9;?]*[A-Za-z])", text):
        if not part.startswith("\x1b"):
            css = ";".join(f"{name}:{value}" for name, value in style.items())
            result += f'<span style="{css}">{html.escape(part)}</span>' if css and part else html.escape(part)
        elif part.endswith("m"):
            for code in (int(number or 0) for number in part[2:-1].split(";")):
                if code == 0:
                    style = {}
                elif code == 1:
                    style["font-weight"] = "bold"
                elif code == 2:
                    style["opacity"] = "0.65"
                elif code == 22:
                    style.pop("font-weight", None)
                    style.pop("opacity", None)
                elif code == 39:
                    style.pop("color", None)
                elif 30 <= code <= 37 or 90 <= code <= 97:
                    style["color"] = "#8b949e" if code == 90 else COLOURS[code % 10]
    return result


def terminal(name: str, text: str, columns: int, folder: Path):
    """A picture of what stands on a terminal: the text as it was written to it, lines no longer than `columns`."""
    lines = text.rstrip("\n").split("\n")
    page = folder / f"{name}-text.html"
    page.write_text(
        '<!DOCTYPE html><meta charset="utf-8"><style>body{margin:0;background:#0d1117;color:#e6edf3}pre{margin:0;padding:12px;'
        'font:14px/18px "DejaVu Sans Mono",monospace}</style><pre>' + ansi("\n".join(lines)) + "</pre>")
    # A character of this font is 0.602 of its size wide.
    take(page, Page(name, int(columns * 14 * 0.602) + 26, len(lines) * 18 + 24, dark=True), folder)


def run(arguments, columns=80):
    environment = {**os.environ, "COLUMNS": str(columns), "LC_ALL": "C.UTF-8"}
    return subprocess.run([PROGRAM] + arguments, cwd=ROOT, env=environment, capture_output=True, text=True)


def main():
    if not PROGRAM.exists():
        sys.exit(f"{PROGRAM} is not there: make build, or PUSHLOAD=path/of/pushload")
    install()
    IMAGES.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        finished = run(RUN + ["--output", str(folder / "runs")])
        runs = sorted((folder / "runs").iterdir()) if (folder / "runs").exists() else []
        if not runs:
            sys.exit(f"the run left no result: {finished.stderr}")
        page = folder / "report-of-run.html"
        made = run(["report", str(runs[0]), "-o", str(page)])
        if made.returncode != 0:
            sys.exit(f"no report: {made.stderr}")
        for picture in REPORTS:
            take(page, picture, folder)
        for shown in TERMINALS:
            text = run([str(runs[0]) if word == "RUN" else word for word in shown.command], shown.columns).stdout
            terminal(shown.name, text, shown.columns, folder)


if __name__ == "__main__":
    main()
