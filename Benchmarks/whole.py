#!/usr/bin/env python3
"""What a push costs client and mock in all, and the client stage by stage, as `pushload run` says: two settings in turn, medians with the
least and the most.

    Benchmarks/whole.py [--rounds 7] [--pushes 4M] [--write docs/performance.md]
"""

import argparse
import json
import statistics
import subprocess
import tempfile

import tables
from peers.common import BUILD, need

SETTINGS = {
    "one thread each": [],
    "two threads each (`-c 2 -t 2 --mock-threads 2`)": ["-c", "2", "-t", "2", "--mock-threads", "2"],
}
STAGES = {
    "encode": "device token and payload", "sign": "provider token at hand", "tls": "TLS", "socket": "socket calls", "other": "the rest",
}


def spread(values):
    return f"{statistics.median(values):,.0f} ({min(values):,.0f}–{max(values):,.0f})"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--pushes", default="4M")
    parser.add_argument("--write", metavar="FILE", help="put the tables into this document")
    options = parser.parse_args()
    need()
    results = {name: [] for name in SETTINGS}
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(options.rounds):
            for name, flags in SETTINGS.items():
                run = subprocess.run(
                    [f"{BUILD}/pushload", "run", "--json", "--quiet", "--output", folder, "-n", options.pushes, *flags],
                    stdout=subprocess.PIPE, check=True)
                results[name].append(json.loads(run.stdout))
    lines = ["| | client, ns a push | mock, ns a push | pushes a second |", "| --- | --- | --- | --- |"]
    for name, runs in results.items():
        costs = [spread([run["cost"][f"{side}_cpu_ns_per_push"] for run in runs]) for side in ("client", "mock")]
        lines.append(f"| {name} | {' | '.join(costs)} | {spread([run['throughput']['accepted_per_second'] for run in runs])} |")
    lines += ["", "| stage of the client, one thread | ns a push |", "| --- | --- |"]
    for part, name in STAGES.items():
        parts = [run["generator"]["cpu_ns_per_push"][part] for run in results["one thread each"]]
        lines.append(f"| {name} | {spread(parts)} |")
    text = "\n".join(lines)
    print(text)
    if options.write:
        tables.write(options.write, "the whole", text, f"Benchmarks/whole.py --rounds {options.rounds} --pushes {options.pushes}")


if __name__ == "__main__":
    main()
