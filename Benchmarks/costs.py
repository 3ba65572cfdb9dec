#!/usr/bin/env python3
"""What a push costs client and mock once all connections are there, with one connection and with many, at rates, and with more workers:
CPU time from outside, over the seconds that a run measures, in alternation; each figure beside the first setting's of its round.

Needs a release build (`make build`). 10,000 connections need 20,100 file descriptors, and some 20 s until they are made.

    Benchmarks/costs.py [--rounds 5] [--seconds 8] [--only connections|rates|workers] [--write docs/performance.md]
    Benchmarks/costs.py --setting "FLAGS of pushload run" --setting "OTHER FLAGS"
"""

import argparse
import json
import re
import resource
import statistics
import subprocess
import sys
import tempfile
import time

import tables
from peers.common import BUILD, cpu_of_process, need

SETTINGS = {
    "connections": ["-c 1 -m 1000", "-c 1 -m 100", "-c 1000 -m 100", "-c 10000 -m 100"],
    # At a rate client and server wake up for a few pushes each time.
    "rates": ["-c 1 -m 1000", "-c 1 -m 1000 --rate 500k", "-c 1 -m 1000 --rate 100k", "-c 1 -m 1000 --rate 20k"],
    "workers": ["-c 8 -m 100 -t 1", "-c 8 -m 100 -t 2", "-c 8 -m 100 -t 4", "-c 8 -m 100 -t 8"],
}


def measure(flags, seconds, folder):
    """ns of client and mock a push, and pushes a second."""
    connections = int((re.search(r"-c (\d+)", flags) or [0, 1])[1])
    # Connections are made while others push already, some 500 a second.
    warmup = 3 + connections // 350
    run = subprocess.Popen(
        [f"{BUILD}/pushload", "run", "--json", "--quiet", "--output", f"{folder}/runs", "-D", f"{warmup + seconds}s",
         "--warmup", f"{warmup}s", *flags.split()], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    time.sleep(warmup + 1)
    children = subprocess.run(["pgrep", "-P", str(run.pid)], capture_output=True, text=True).stdout.split()
    if len(children) != 1:
        sys.exit(f"pushload run {flags}: no mock\n{run.communicate()[1]}")
    mock = int(children[0])
    begin, before = time.monotonic(), (cpu_of_process(run.pid), cpu_of_process(mock))
    time.sleep(seconds - 1.5)
    spent = [after - was for was, after in zip(before, (cpu_of_process(run.pid), cpu_of_process(mock)))]
    elapsed = time.monotonic() - begin
    output, error = run.communicate()
    if run.returncode != 0:
        sys.exit(f"pushload run {flags} ended with {run.returncode}:\n{error}")
    result = json.loads(output)
    rate = result["throughput"]["accepted_per_second"]
    # As fast as it goes, the streams of all connections are in use, once these are there.
    streams = connections * int((re.search(r"-m (\d+)", flags) or [0, 100])[1])
    in_use = max(point["in_flight"] for point in result["series"] if point["t"] <= warmup)
    if result["connections"]["opened"] != connections or ("--rate" not in flags and in_use < 0.9 * streams):
        sys.exit(f"{flags}: not all connections were there after {warmup} s, or some were made again")
    return [1e9 * each / elapsed / rate for each in spent] + [rate]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=int, default=8)
    parser.add_argument("--only", choices=SETTINGS)
    parser.add_argument("--setting", action="append")
    parser.add_argument("--write", metavar="FILE", help="put the tables into this document")
    options = parser.parse_args()
    need()
    limit = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (limit, limit))
    chosen = {None: options.setting} if options.setting else {
        name: SETTINGS[name] for name in SETTINGS if options.only in (None, name)}
    with tempfile.TemporaryDirectory() as folder:
        for name, settings in chosen.items():
            text = table(settings, [[measure(flags, options.seconds, folder) for flags in settings] for _ in range(options.rounds)])
            print(f"{text}\n", flush=True)
            if options.write and name:
                tables.write(options.write, f"cost by {name}", text,
                             f"Benchmarks/costs.py --rounds {options.rounds} --seconds {options.seconds} --only {name}")


def table(settings, rounds):
    lines = ["| flags | client, ns a push | ratio | mock, ns a push | ratio | pushes a second | ratio |",
             "| --- | ---: | --- | ---: | --- | ---: | --- |"]
    for place, flags in enumerate(settings):
        cells = []
        for figure in range(3):
            values = [one[place][figure] for one in rounds]
            ratios = [one[place][figure] / one[0][figure] for one in rounds]
            cells.append(f"{statistics.median(values):,.0f}")
            cells.append(f"{statistics.median(ratios):.2f} ({min(ratios):.2f}–{max(ratios):.2f})" if place else "1")
        lines.append(f"| `{flags}` | {' | '.join(cells)} |")
    return "\n".join(lines)


if __name__ == "__main__":
    main()
