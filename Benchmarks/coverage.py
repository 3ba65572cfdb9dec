#!/usr/bin/env python3
"""How often intervals hold the truth and verdicts are wrong, by drawing figures of which the truth is known.

    Benchmarks/coverage.py [--draws 10000] [--only runs|sweeps|run] [--write]      # --write: puts the tables into the documents

`runs`: what `compare`, `ab`, `history` and `sweep` say of several runs (Benchmarks/Coverage), in docs/comparing.md; `sweeps`: how often points
that are as good as the best are told from it, in docs/sweeps.md. `run`: what a
run says of its own percentiles (Benchmarks/Sources/RunCoverage), in docs/judging.md. 10,000 draws take some hours of a core.
"""

import argparse
import os
import subprocess

from peers.common import ROOT
from tables import write

PROGRAMS = {"runs": (".build/release/coverage", [], "docs/comparing.md"),
            "sweeps": (".build/release/coverage", ["sweeps"], "docs/sweeps.md"),
            "run": (".build/release/run-coverage", [], "docs/judging.md")}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--draws", type=int, default=10_000)
    parser.add_argument("--only", choices=PROGRAMS)
    parser.add_argument("--write", action="store_true", help="put the tables into the documents")
    options = parser.parse_args()
    for name, (program, words, document) in PROGRAMS.items():
        if options.only not in (None, name):
            continue
        text = subprocess.run(
            [os.path.join(ROOT, program), str(options.draws), *words], check=True, stdout=subprocess.PIPE, text=True).stdout
        print(text, flush=True)
        if options.write:
            write(os.path.join(ROOT, document), "coverage", text,
                  f"Benchmarks/coverage.py --draws {options.draws} --only {name}")


if __name__ == "__main__":
    main()
