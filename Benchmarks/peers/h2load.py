#!/usr/bin/env python3
"""Client CPU a push of pushload beside h2load's CPU a request, against one running mock-apns.

Both send the same payload to the same mock over TLS, one connection, 500 streams, in alternation; the medians of the
rounds are compared. Needs: a release build (`make build`) and h2load (Debian: nghttp2-client).

    Benchmarks/peers/h2load.py [--pushes 300000] [--rounds 5] [--engine wire --engine nghttp2]
"""

import argparse
import os
import statistics
import sys
import tempfile

from common import BUILD, cpu_of_command, h2load_headers, need, running_mock


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pushes", type=int, default=300_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--streams", type=int, default=500)
    parser.add_argument("--engine", action="append", default=None)
    options = parser.parse_args()
    engines = options.engine or ["wire", "nghttp2"]
    need(("h2load", "nghttp2-client"))
    costs = {"h2load": [], **{engine: [] for engine in engines}}
    ratios = {engine: [] for engine in engines}
    # h2load never looks at SETTINGS again, so that it must be allowed all streams from the start.
    with tempfile.TemporaryDirectory() as folder, \
            running_mock(folder, "--all-streams-at-once") as (_, start, credentials):
        flags, path = h2load_headers(folder, credentials)
        h2load = ["h2load", "-n", str(options.pushes), "-c", "1", "-t", "1", "-m", str(options.streams), *flags,
                  start["url"] + path]
        for _ in range(options.rounds):
            cpu, output = cpu_of_command(h2load)
            if f"status codes: {options.pushes} 2xx" not in output:
                sys.exit(f"h2load did not get {options.pushes} answers of 200:\n{output}")
            base = cpu / options.pushes * 1e6
            costs["h2load"].append(base)
            for engine in engines:
                cpu, _ = cpu_of_command([
                    f"{BUILD}/pushload", "run", "-n", str(options.pushes), "-c", "1", "-m", str(options.streams),
                    "--engine", engine, "--target", start["url"], "--credentials", credentials, "--quiet", "--output",
                    os.path.join(folder, "runs")])
                cost = cpu / options.pushes * 1e6
                costs[engine].append(cost)
                ratios[engine].append(cost / base)

    print(f"{options.pushes} pushes, 1 connection, {options.streams} streams, {options.rounds} rounds; "
          "whole-process CPU a push, us")
    print(f"{'client':<20}{'median':>8}{'min':>8}{'max':>8}{'ratio to h2load (median, min, max)':>38}")
    for client, values in costs.items():
        line = f"{client if client == 'h2load' else 'pushload ' + client:<20}" \
               f"{statistics.median(values):>8.2f}{min(values):>8.2f}{max(values):>8.2f}"
        if client != "h2load":
            spread = ratios[client]
            line += f"{statistics.median(spread):>20.2f}{min(spread):>9.2f}{max(spread):>9.2f}"
        print(line)


if __name__ == "__main__":
    main()
