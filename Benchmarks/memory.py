#!/usr/bin/env python3
"""Anonymous memory of pushload and its bundled mock: does it grow with the time or the pushes of a run?

Holds a rate and reads RssAnon of both processes early and late in the same run; then sends a small and a large number of
pushes as fast as they go, and compares the most of each. Ends with status 1 when the client's differs by more than is
allowed: 1 MB for the time, and for the pushes 1 bit each (the ledger) and 2.5 MB. Needs a release build (`make build`).

    Benchmarks/memory.py [--rate 2k] [--early 120] [--late 600] [--few 1M] [--many 100M]
                         [--write docs/performance.md]
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time

import tables
from peers.common import BUILD, need

MB = 1_000_000
UNITS = {"k": 1_000, "M": 1_000_000}


def number(text):
    return int(float(text[:-1]) * UNITS[text[-1]]) if text[-1] in UNITS else int(text)


def anonymous(pid):
    """Anonymous memory of a process, bytes; 0 when it has ended."""
    try:
        with open(f"/proc/{pid}/status") as file:
            for line in file:
                if line.startswith("RssAnon:"):
                    return int(line.split()[1]) * 1024
    except OSError:
        pass
    return 0


def child(pid):
    """The bundled mock: the only child of any of the process's threads."""
    try:
        for thread in os.listdir(f"/proc/{pid}/task"):
            with open(f"/proc/{pid}/task/{thread}/children") as file:
                children = file.read().split()
            if children:
                return int(children[0])
    except OSError:
        pass
    return 0


class Run:
    """A run of pushload, in a folder of its own."""

    def __init__(self, *flags):
        self.folder = tempfile.TemporaryDirectory()
        self.began = time.monotonic()
        self.process = subprocess.Popen(
            [f"{BUILD}/pushload", "run", "--quiet", "--output", self.folder.name, *flags], stderr=subprocess.PIPE,
            text=True)

    def read(self):
        """Anonymous memory of client and mock."""
        return anonymous(self.process.pid), anonymous(child(self.process.pid))

    def read_at(self, seconds):
        """The same, as the mean of ten seconds' readings around that time of the run: from one to the next they are up to 1.5 MB apart."""
        readings = []
        around = min(5, seconds / 3)
        while (now := time.monotonic() - self.began) < seconds + around:
            if self.process.poll() is not None:
                sys.exit(f"the run ended after {now:.0f} s:\n{self.process.stderr.read()}")
            if now > seconds - around:
                readings.append(self.read())
            time.sleep(0.1)
        return [sum(part) / len(part) for part in zip(*readings)]

    def most(self):
        """The most seen until the run ends: of the client while there is a mock, so that the end's own work is left out."""
        most = (0, 0)
        while self.process.poll() is None:
            client, mock = self.read()
            if mock:
                most = (max(most[0], client), max(most[1], mock))
            time.sleep(0.02)
        if self.process.returncode != 0:
            sys.exit(f"the run ended with {self.process.returncode}:\n{self.process.stderr.read()}")
        return most

    def log_size(self):
        """Bytes of the run's interval log so far."""
        for folder, _, files in os.walk(self.folder.name):
            if "latency.hlog" in files:
                return os.path.getsize(os.path.join(folder, "latency.hlog"))
        return 0

    def end(self):
        self.process.terminate()
        self.process.wait()
        self.folder.cleanup()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rate", default="2k")
    parser.add_argument("--early", type=float, default=120)
    parser.add_argument("--late", type=float, default=600)
    parser.add_argument("--few", default="1M")
    parser.add_argument("--many", default="100M")
    parser.add_argument("--write", metavar="FILE", help="put the table into this document")
    options = parser.parse_args()
    need()
    run = Run("--rate", options.rate, "-D", f"{options.late + 60:.0f}s")
    early = run.read_at(options.early)
    late = run.read_at(options.late)
    a_week = run.log_size() / options.late * 604_800
    run.end()
    most = []
    for pushes in (options.few, options.many):
        run = Run("-n", pushes)
        most.append(run.most())
        run.end()
    few, many = most
    lines = ["| | client, MB | mock, MB |", "| --- | ---: | ---: |"]
    for name, (client, mock) in ((f"`--rate {options.rate}` after {options.early:.0f} s", early), (f"after {options.late:.0f} s", late),
                                 (f"`-n {options.few}`, the most", few), (f"`-n {options.many}`, the most", many)):
        lines.append(f"| {name} | {client / MB:.2f} | {mock / MB:.2f} |")
    text = "\n".join(lines) + f"\n\n`latency.hlog` at that rate: {a_week / MB:,.0f} MB a week."
    print(text, flush=True)
    if options.write:
        tables.write(options.write, "memory over time", text,
                     f"Benchmarks/memory.py --rate {options.rate} --early {options.early:.0f} --late {options.late:.0f} "
                     f"--few {options.few} --many {options.many}")
    allowed = (number(options.many) - number(options.few)) / 8 + 2.5 * MB
    if late[0] - early[0] > MB or many[0] - few[0] > allowed:
        sys.exit("the client's memory grows with the run")


if __name__ == "__main__":
    main()
