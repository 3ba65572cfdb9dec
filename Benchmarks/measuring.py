#!/usr/bin/env python3
"""What measuring costs: client CPU a push with the stages of every push timed and recorded, and without, in alternation
against one running mock.

Needs a release build (`make build`).

    Benchmarks/measuring.py [--pushes 1000000] [--rounds 7] [--rate 100000]
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile

from peers.common import BUILD, need, running_mock


def on_core(number):
    """Keeps the calling process to one core: moving between cores costs more than what is measured here."""
    cores = sorted(os.sched_getaffinity(0))
    if len(cores) > 1:
        os.sched_setaffinity(0, {cores[number % len(cores)]})


def cost(url, credentials, folder, options, *flags):
    done = subprocess.run(
        [f"{BUILD}/pushload", "run", "-n", str(options.pushes), "-m", "500", "--target", url, "--credentials",
         credentials, "--json", "--quiet", "--output", f"{folder}/runs", *flags,
         *(["--rate", options.rate] if options.rate else [])], capture_output=True, text=True,
        preexec_fn=lambda: on_core(1))
    if done.returncode != 0:
        sys.exit(f"pushload ended with {done.returncode}:\n{done.stderr}")
    figures = json.loads(done.stdout)["cost"]
    return figures["client_cpu_ns_per_push"], figures["measuring_ns_per_push"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pushes", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--rate", default=None)
    options = parser.parse_args()
    need()
    on, off, said = [], [], []
    with tempfile.TemporaryDirectory() as folder, running_mock(folder) as (mock, start, credentials):
        os.sched_setaffinity(mock.pid, {sorted(os.sched_getaffinity(0))[0]})
        for number in range(options.rounds):
            # A B B A: what drifts is shared.
            for measured in ([True, False] if number % 2 == 0 else [False, True]):
                cpu, printed = cost(
                    start["url"], credentials, folder, options, *([] if measured else ["--no-measure"]))
                (on if measured else off).append(cpu)
                if measured:
                    said.append(printed)
    shares = [(with_it - without) / with_it for with_it, without in zip(on, off)]
    print(f"{options.pushes} pushes, {options.rounds} rounds: {statistics.median(on):.0f} ns CPU a push measured, "
          f"{statistics.median(off):.0f} not; measuring is {statistics.median(shares) * 100:.1f} % "
          f"({min(shares) * 100:.1f} to {max(shares) * 100:.1f}); the result says {statistics.median(said):.0f} ns")


if __name__ == "__main__":
    main()
