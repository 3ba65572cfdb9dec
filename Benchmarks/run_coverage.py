#!/usr/bin/env python3
"""How often the 95 % intervals of a run's percentiles hold the truth: runs Benchmarks/Sources/RunCoverage.

    Benchmarks/run_coverage.py [DRAWS] [--write DOCUMENT]      --write: puts the table between the marks of the document
"""

import argparse
import os
import re
import subprocess

HERE = os.path.dirname(os.path.abspath(__file__))
MARKS = re.compile(r"(<!-- coverage: begin -->\n).*?(<!-- coverage: end -->)", re.S)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("draws", nargs="?", type=int, default=10_000)
    parser.add_argument("--write", metavar="DOCUMENT")
    arguments = parser.parse_args()
    program = os.path.join(HERE, ".build/release/run-coverage")
    table = subprocess.run([program, str(arguments.draws)], check=True, capture_output=True, text=True).stdout
    print(table, end="")
    if not arguments.write:
        return
    with open(arguments.write) as file:
        text = file.read()
    if not MARKS.search(text):
        raise SystemExit(f"{arguments.write}: no marks <!-- coverage: begin --> and <!-- coverage: end -->")
    with open(arguments.write, "w") as file:
        file.write(MARKS.sub(lambda found: found[1] + table + found[2], text))


if __name__ == "__main__":
    main()
