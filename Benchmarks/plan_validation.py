#!/usr/bin/env python3
"""What `pushload plan` predicts beside what runs do, on this machine, client and mock sharing its cores.

Predictions come from a calibration (`--calibration`, made when it is not there) whose settings are not among those validated.
Each setting is run three times, and a run during which other programs took part of the machine is run again. Ends with
status 1 when a prediction is further off than 10 %. The echo of the devices is a table of its own: what the bundled backend
is asked for in runs at a rate, with other devices than those that the plan simulated.

    Benchmarks/plan_validation.py [--calibration FILE] [--write docs/planning.md] [--only 1-6 | --only echo] [--runs FILE]
"""

import argparse
import json
import os
import re
import shlex
import statistics
import subprocess
import sys
import tempfile
import time

from peers.common import BUILD, need

ALLOWED = 0.10
ROUNDS = 3
SECONDS, WARMUP = 3, 1
# Share of the machine other programs may take during a run, and how often a run is made again.
FOREIGN, AGAIN = 0.04, 4

# What limits it, connections, streams, threads, mock threads, round trip, and further: (flag of plan, value, flags of the mock).
SETTINGS = [
    ("streams", 1, 500, 1, 1, "20ms", None),
    ("streams", 4, 1000, 1, 1, "20ms", None),
    ("streams", 10, 1000, 1, 1, "80ms", None),
    ("streams", 4, 200, 1, 1, "5ms", None),
    ("streams", 8, 250, 1, 1, "40ms", ("--server-time", "10ms", "--latency=10ms")),
    ("streams", 4, 500, 1, 1, "20ms", ("--server-time", "lognormal 20ms 0.5", "--latency='lognormal 20ms 0.5'")),
    ("streams", 8, 1000, 2, 2, "20ms", None),
    ("the bend", 16, 1000, 1, 1, "20ms", None),
    ("window", 2, 1000, 1, 1, "20ms", ("--window", "64KiB", "--connection-window 64KiB")),
    ("window", 4, 1000, 1, 1, "40ms", ("--window", "128KiB", "--connection-window 128KiB")),
    ("window", 8, 1000, 1, 1, "80ms", ("--window", "256KiB", "--connection-window 256KiB")),
    ("link rate", 2, 1000, 1, 1, "20ms", ("--connection-bandwidth", "40Mbit", "--bandwidth 40Mbit/s")),
    ("link rate", 8, 1000, 1, 1, "20ms", ("--connection-bandwidth", "100Mbit", "--bandwidth 100Mbit/s")),
    ("link rate", 16, 1000, 1, 1, "80ms", ("--connection-bandwidth", "20Mbit", "--bandwidth 20Mbit/s")),
    ("mock's CPU", 64, 1000, 1, 1, "20ms", None),
    ("mock's CPU", 4, 500, 1, 1, "0ms", None),
    ("mock's CPU", 64, 200, 1, 1, "0ms", None),
    ("mock's CPU", 8, 500, 2, 1, "0ms", None),
    ("all cores", 4, 500, 2, 2, "0ms", None),
    ("all cores", 64, 1000, 2, 2, "20ms", None),
]

# Profile, pushes a second, and the device model: on, or what a file says.
ECHOES = [
    ("silent", 2000, "on"),
    ("silent", 5000, "on"),
    ("rich-push", 2000, "on"),
    ("alert", 5000, "reaction: {opens: 40%, dismisses: 0%, delay: {median: 3s, sigma: 0.8}}\nunlocked: {share: 50%, dwell: 3s}\n"),
]
ECHO_SECONDS = 10


def machine_time():
    """CPU time of all cores: used, and in all, in clock ticks."""
    with open("/proc/stat") as file:
        ticks = [int(word) for word in file.readline().split()[1:9]]
    return sum(ticks) - ticks[3] - ticks[4], sum(ticks)


def call(prefix, *arguments):
    done = subprocess.run([*prefix, f"{BUILD}/pushload", *arguments], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"pushload {' '.join(arguments)} ended with {done.returncode}:\n{done.stderr}")
    return done.stdout


def run_flags(setting):
    _, connections, streams, threads, mock_threads, rtt, special = setting
    flags = ["-c", str(connections), "-m", str(streams), "-t", str(threads), "--mock-threads", str(mock_threads)]
    if rtt != "0ms":
        flags += ["--rtt", rtt]
    return flags + (["--mock-flags", special[2]] if special else [])


def measure(prefix, setting):
    """Pushes begun a second after the warm-up, and the share of the machine that others took."""
    with tempfile.TemporaryDirectory() as folder:
        script = [*prefix, sys.executable, __file__, "--one", folder, *run_flags(setting)]
        done = subprocess.run(script, capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit(f"{' '.join(script)} ended with {done.returncode}:\n{done.stderr}")
        return json.loads(done.stdout)


def one(folder, flags):
    """One run, in a process of its own so that a prefix holds for the readings of the machine too."""
    used, total = machine_time()
    result = json.loads(
        call([], "run", "--json", "--quiet", "--output", folder, "-D", f"{SECONDS}s", "--warmup", f"{WARMUP}s", *flags))
    used_after, total_after = machine_time()
    answered = result["pushes"]["accepted"] + result["pushes"]["rejected"]
    cost = result["cost"]
    own = answered * (cost["client_cpu_ns_per_push"] + cost["mock_cpu_ns_per_push"]) / 1e9 * os.sysconf("SC_CLK_TCK")
    foreign = max(0, used_after - used - own) / (total_after - total)
    print(json.dumps({"rate": result["throughput"]["answered_per_second"], "foreign": foreign}))


def predict(calibration, cores, setting):
    _, connections, streams, threads, mock_threads, rtt, special = setting
    flags = ["--connections", str(connections), "--streams", str(streams), "--cores", str(threads), "--machines", "1",
             "--mock-threads", str(mock_threads), "--shared-cores", str(cores), "--rtt", rtt]
    if special:
        flags += [special[0], special[1]]
    return json.loads(call([], "plan", "--json", "--calibration", calibration, *flags))


NAMES = {"streams": "streams", "window": "window", "connection_bandwidth": "link rate", "client_cpu": "client's CPU",
         "server_cpu": "mock's CPU", "shared_cores": "all cores"}


def row(number, setting, plan, runs):
    measured = statistics.median(run["rate"] for run in runs)
    formula, simulated = plan["bounds"][0]["per_second"]["value"], plan["simulation"]["simulated_per_second"]
    what, connections, streams, threads, mock_threads, rtt, special = setting
    off = formula / measured - 1
    cells = [
        number, what, f"{connections} × {streams:,}", f"{threads} + {mock_threads}", rtt.replace("ms", " ms"),
        " ".join(special[:2]).replace("--", "") if special else "", NAMES[plan["bounds"][0]["name"]], f"{formula:,.0f}",
        f"{simulated:,.0f}", f"{measured:,.0f} ({min(r['rate'] for r in runs):,.0f}–{max(r['rate'] for r in runs):,.0f})",
        f"{off * 100:+.1f} %", f"{(simulated / measured - 1) * 100:+.1f} %",
    ]
    return off, simulated / measured - 1, f"| {' | '.join(str(cell) for cell in cells)} |"


ECHO_HEADER = """| | profile | pushes/s for 10 s | device model | peak, predicted | measured, median of 3 (least–most) | off | requests while pushing, predicted | measured | off |
| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |"""


def echoes(prefix, folder, calibration):
    """The lines of the table, and the settings that are further off than allowed."""
    lines, missed = [], []
    for number, (profile, rate, model) in enumerate(ECHOES, 1):
        name = model
        if model != "on":
            name = f"{folder}/model.yaml"
            with open(name, "w") as file:
                file.write(model)
        count = str(rate * ECHO_SECONDS)
        echo = json.loads(call(
            [], "plan", "--json", "--calibration", calibration, "--devices", count, "--within", f"{ECHO_SECONDS}s", "--rtt", "0",
            "--profile", profile, "--device-model", name, "--seed", "77", "--at", time.strftime("%H:%M", time.gmtime())))["echo"]
        sent = next(point["requests"] for point in echo["wave"] if point["at_ns"] >= echo["spread_ns"])
        peaks, sums = [], []
        for seed in range(1, ROUNDS + 1):
            with tempfile.TemporaryDirectory() as output:
                result = json.loads(call(
                    prefix, "run", "--json", "--quiet", "--output", output, "--rate", str(rate), "-n", count, "--warmup", "0s",
                    "--profile", profile, "--device-model", name, "--seed", str(seed), "--device-wait", "5s"))["echo"]
            peaks.append(result["peak_per_second"])
            sums.append(sum(point["requests"] for point in result["series"] if point["t"] <= ECHO_SECONDS))
        offs, cells = [], [number, profile, f"{rate:,}", "`on`" if model == "on" else "`" + "`, `".join(model.split("\n")[:-1]) + "`"]
        for predicted, measured in ((echo["peak_per_second"]["value"], peaks), (sent, sums)):
            offs.append(predicted / statistics.median(measured) - 1)
            cells += [f"{predicted:,.0f}", f"{statistics.median(measured):,.0f} ({min(measured):,}–{max(measured):,})",
                      f"{offs[-1] * 100:+.1f} %"]
        lines.append(f"| {' | '.join(str(cell) for cell in cells)} |")
        print(lines[-1], flush=True)
        if max(map(abs, offs)) > ALLOWED:
            missed.append(f"echo {number}")
    return lines, missed


HEADER = """| | limit meant | connections × streams | threads, client + mock | round trip | besides | limit by formula | formula, pushes/s | simulation | measured, median of 3 (least–most) | formula off | simulation off |
| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |"""


def chosen(text):
    if not text:
        return range(1, len(SETTINGS) + 1)
    first, _, last = text.partition("-")
    return range(int(first), int(last or first) + 1)


def write(path, table, name="validation"):
    """Puts the table between the marks of the document."""
    with open(path) as file:
        text = file.read()
    begin, end = f"<!-- {name} -->\n", f"<!-- end of {name} -->"
    if begin not in text or end not in text:
        sys.exit(f"{path}: the marks {begin.strip()} and {end} are missing")
    text = re.sub(re.escape(begin) + ".*?" + re.escape(end), lambda _: begin + table + "\n" + end, text, flags=re.S)
    with open(path, "w") as file:
        file.write(text)


def main():
    if sys.argv[1:2] == ["--one"]:
        return one(sys.argv[2], sys.argv[3:])
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--calibration", help="file of a calibration, made when it is not there")
    parser.add_argument("--write", metavar="FILE", help="put the table into this document")
    parser.add_argument("--only", help="settings by number, such as 3 or 1-6, or echo")
    parser.add_argument("--runs", metavar="FILE", help="keep what was measured here; what is there is not measured again")
    parser.add_argument("--prefix", default="", help="command to put before each run")
    options = parser.parse_args()
    need()
    prefix = shlex.split(options.prefix)
    cores = os.cpu_count()
    lines, missed = [], []
    with tempfile.TemporaryDirectory() as folder:
        calibration = options.calibration or f"{folder}/calibration.json"
        if not os.path.exists(calibration):
            call(prefix, "plan", "--connections", "1", "--machines", "1", "--calibration", calibration)
        kept = {}
        if options.runs and os.path.exists(options.runs):
            with open(options.runs) as file:
                kept = json.load(file)
        if options.only in (None, "echo"):
            print(ECHO_HEADER, flush=True)
            heard, missed = echoes(prefix, folder, calibration)
            if options.write:
                write(options.write, f"{ECHO_HEADER}\n" + "\n".join(heard), "echo validation")
        if options.only != "echo":
            print(HEADER, flush=True)
        for number in [] if options.only == "echo" else chosen(options.only):
            setting = SETTINGS[number - 1]
            plan = predict(calibration, cores, setting)
            runs = kept.get(str(number), [])
            for _ in range(ROUNDS - len(runs)):
                tries = [measure(prefix, setting)]
                while tries[-1]["foreign"] > FOREIGN and len(tries) < AGAIN:
                    tries.append(measure(prefix, setting))
                runs.append(min(tries, key=lambda run: run["foreign"]))
            if options.runs:
                kept[str(number)] = runs
                with open(options.runs, "w") as file:
                    json.dump(kept, file)
            off, simulated, line = row(number, setting, plan, runs)
            worst = max(run["foreign"] for run in runs)
            if worst > FOREIGN:
                print(f"setting {number}: others took {worst * 100:.0f} % of the machine", file=sys.stderr, flush=True)
            lines.append(line)
            print(line, flush=True)
            if abs(off) > ALLOWED or abs(simulated) > ALLOWED:
                missed.append(number)
    if options.only == "echo":
        sys.exit(f"missed: {', '.join(missed)}" if missed else 0)
    summary = f"{len(lines) - sum(isinstance(number, int) for number in missed)} of {len(lines)} settings within {ALLOWED * 100:.0f} % by formula and simulation"
    print(f"\n{summary}")
    if options.write:
        write(options.write, f"{HEADER}\n" + "\n".join(lines) + f"\n\n{summary}.")
    if missed:
        sys.exit(f"missed: {', '.join(str(number) for number in missed)}")


if __name__ == "__main__":
    main()
