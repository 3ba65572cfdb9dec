#!/usr/bin/env python3
"""pushload's figures beside what they must be: each check has a truth that follows from its setting.

Needs a release build (`make build`) and a machine that does nothing else. Ends with status 1 when a check is missed.

    Benchmarks/truths.py [--only answer-time|pace|stall|search|false-alarms] [--seconds 60] [--runs 100]
"""

import argparse
import json
import re
import subprocess
import sys
import tempfile

from peers.common import BUILD, need

missed = []


def check(what, value, low, high, unit):
    held = low <= value <= high
    if not held:
        missed.append(what)
    print(f"{'held  ' if held else 'MISSED'}  {what}: {value:,.6g} {unit}, expected {low:,.6g} to {high:,.6g}", flush=True)


def run(*flags):
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            [f"{BUILD}/pushload", "run", "--json", "--quiet", "--output", folder, *flags], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"pushload ended with {done.returncode}:\n{done.stderr}")
    return json.loads(done.stdout)


def answer_time():
    """A mock that answers after 5 ms: the round trip's median is 5 ms, 1 % and 0.2 ms allowed."""
    result = run("--rate", "200", "--duration", "10s", "--mock-flags", "--latency=5ms")
    check("round trip p50 of a mock that takes 5 ms", result["latency_ns"]["round_trip"]["p50"] / 1e6, 4.95, 5.25, "ms")
    check("of it in the mock, p50", result["latency_ns"]["in_mock"]["p50"] / 1e6, 4.95, 5.25, "ms")


def pace(seconds):
    """20,000/s at constant distances: sent within 1 ms of their time (p99), answered at the rate asked for within 0.1 %."""
    result = run("--rate", "20k", "--duration", f"{seconds}s")
    check("20,000/s: due to written, p99", result["latency_ns"]["queue"]["p99"] / 1e6, 0, 1, "ms")
    check("20,000/s: answered a second", result["throughput"]["answered_per_second"], 19_980, 20_020, "pushes/s")


def stall():
    """A server that stands still for 2 s in 30: the queue of a fluid with arrivals at `rate` and service at `limit`.

    A push due t after the stall began is answered 2 s - t (1 - rate/limit) later, so the share x of all pushes that waited
    longest waited at least 2 s - x * 30 s * (1 - rate/limit).
    """
    rate, length, period, streams = 2000, 2.0, 30, 20
    limit = run("-n", "200k", "-m", str(streams))["throughput"]["answered_per_second"]
    flags = ["--rate", str(rate), "--duration", f"{period}s", "-m", str(streams), "--mock-flags", "--stall 2s/30s"]
    latency = run(*flags)["latency_ns"]
    for name, share in (("p99", 0.01), ("p99_9", 0.001)):
        expected = length - share * period * (1 - rate / limit)
        check(f"stalled mock, open loop: total {name}", latency["total"][name] / 1e9, expected * 0.97, expected * 1.03, "s")
    check("stalled mock: service p99.9 does not show it", latency["service"]["p99_9"] / 1e9, 0, 0.2, "s")
    closed = run("--duration", f"{period}s", "-m", str(streams), "--mock-flags", "--stall 2s/30s")
    check("stalled mock, closed loop: total p99.9 does not show it", closed["latency_ns"]["total"]["p99_9"] / 1e9, 0, 0.2, "s")


def search():
    """A link on which 100 streams answer 100 / 50 ms = 2,000 pushes a second: found within 5 %, three times."""
    for turn in range(3):
        done = subprocess.run(
            [f"{BUILD}/pushload", "search", "--goal", "p99 < 100ms && accepted >= 99.9%", "-m", "100", "--rtt", "50ms",
             "--from", "1k", "--probe", "3s"], capture_output=True, text=True)
        found = re.search(r"highest: ([\d,]+) pushes/s", done.stdout)
        if not found:
            sys.exit(f"search ended with {done.returncode}:\n{done.stdout}{done.stderr}")
        check(f"search, time {turn + 1}", float(found[1].replace(",", "")), 1900, 2100, "pushes/s")


def false_alarms(runs):
    """Runs of 3 s at 5 % of what this machine sends: at most 1 in 50 says that the generator was a limit. Doubts are counted, too."""
    most = run("--duration", "3s")["throughput"]["answered_per_second"]
    rate = max(100, round(most / 20))
    print(f"closed loop: {most:,.0f} pushes/s; {runs} runs at {rate:,}/s", flush=True)
    limited, doubted = 0, 0
    for turn in range(runs):
        result = run("--rate", str(rate), "--duration", "3s")
        reasons, doubts = result["generator"]["reasons"], (result["trust"] or {}).get("doubts", [])
        limited += bool(result["generator"]["limited"])
        doubted += bool(doubts)
        for line in [f"limit: {reason}" for reason in reasons] + [f"doubt: {doubt}" for doubt in doubts]:
            print(f"        run {turn + 1}: {line}", flush=True)
    check("runs at 5 % of the most that say the generator was a limit", limited, 0, runs / 50, f"of {runs}")
    print(f"        {doubted} of {runs} runs have a doubt", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", choices=["answer-time", "pace", "stall", "search", "false-alarms"])
    parser.add_argument("--seconds", type=int, default=60, help="length of the paced run")
    parser.add_argument("--runs", type=int, default=100, help="runs of false-alarms, 1 to 1,000")
    options = parser.parse_args()
    if not 1 <= options.runs <= 1000:
        parser.error("--runs: expected 1 to 1000")
    need()
    checks = {"answer-time": answer_time, "pace": lambda: pace(options.seconds), "stall": stall, "search": search,
              "false-alarms": lambda: false_alarms(options.runs)}
    for name, body in checks.items():
        if options.only in (None, name):
            body()
    sys.exit(f"missed: {', '.join(missed)}" if missed else 0)


main()
