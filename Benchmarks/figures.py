#!/usr/bin/env python3
"""Makes what documents show of measured commands anew.

    Benchmarks/figures.py [DOCUMENT …]      # without one: README.md and docs/*.md

Runs each command of a mark <!-- measured by: COMMAND -->, in an order drawn by lot so that no document has the quiet hours, with the
release build's programs on the path and an empty folder to work in. What it prints takes the place of the block below the mark, and
a line with the commit and the machine that of the line below the block. A command that fails changes nothing, and is named at the end.
"""

import glob
import os
import random
import re
import subprocess
import sys
import tempfile

from peers.common import BUILD, ROOT, need
from tables import made_by

MARK = re.compile(r"(<!-- measured by: (?P<command>.+?) -->\n```\w+\n(?:\$ [^\n]*\n)?)(?P<text>.*?)(\n```\n)(\nMade by [^\n]*\n)?", re.S)


def run(command):
    """What it prints; None when it failed."""
    environment = os.environ | {"PATH": f"{BUILD}:{ROOT}/Benchmarks:{os.environ['PATH']}", "COLUMNS": "160"}
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(["bash", "-o", "pipefail", "-c", command], cwd=folder, env=environment, stdout=subprocess.PIPE, text=True)
    return done.stdout.strip("\n") if done.returncode == 0 else None


def main():
    need()
    paths = sys.argv[1:] or [f"{ROOT}/README.md", *sorted(glob.glob(f"{ROOT}/docs/*.md"))]
    texts = {path: open(path).read() for path in paths}
    marks = [(path, found["command"]) for path, text in texts.items() for found in MARK.finditer(text)]
    failed = []
    for path, command in random.sample(marks, len(marks)):
        print(f"{os.path.relpath(path, ROOT)}: {command}", flush=True)
        printed = run(command)
        if printed is None:
            failed.append(command)
            continue

        def replaced(found):
            if found["command"] != command:
                return found[0]
            return f"{found[1]}{printed}{found[4]}\n{made_by(command)}\n"

        with open(path) as file:
            text = file.read()
        with open(path, "w") as file:
            file.write(MARK.sub(replaced, text))
    if failed:
        sys.exit("failed: " + "; ".join(failed))


if __name__ == "__main__":
    main()
