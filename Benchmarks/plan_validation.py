#!/usr/bin/env python3
"""What `pushload plan` predicts beside what runs do, on this machine, client and mock sharing its cores.

Nothing is measured before it was predicted and the prediction kept in a file (`--predictions`); a setting whose prediction was made
of other flags is not measured. What is arithmetic is predicted first of all, from a calibration (`--calibrations FOLDER`, made
where it is not there), and measured three times. What depends on CPU time is measured five times (what binds on it 15 or 21 times), and each time it is predicted just
before, from runs of its neighbours made just before that (`plan --from`): other connections and streams, or other rates. What such
rows say is the median of the rounds, and how far they are off the median of the rounds' ratios. So the machine's changing speed is in
both. No row is predicted from runs of its own setting. A run during which other programs took part of
the machine is run again (a neighbour's is not). All rows are written, misses too; the status is 1 when there are any: a prediction further off
than 10 %, of a 99th percentile than 20 %. Rows with loss take `tc netem` in a network namespace; where the system has none, the link
of lossy_link.py. Rows against other servers (nginx, which answers every push by itself, and nghttpd; one worker each) say what a push costs the
client; plan and run know nothing of the server but its address. Tables of their own: the echo of the devices, and one fan-out planned from runs against each
server.

    Benchmarks/plan_validation.py [--calibrations FOLDER] [--predictions FILE] [--runs FILE] [--write docs/planning.md]
                                  [--only ROW,ROW | --only echo | --only servers] [--rounds N] [--programs FOLDER]

Rows are called by their letter and number: r1 (rates), p1 (paced), m1 (memory and time to finish), l1 (loss), s1 (other servers).
"""

import argparse
import contextlib
import functools
import json
import os
import re
import shlex
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.parse

from peers import common, servers
from peers.common import ROOT
from tables import write

ALLOWED, ALLOWED_P99 = 0.10, 0.20
ROUNDS = 3
SECONDS, WARMUP = 3, 1
# Rounds of what is predicted from its neighbours, and how their runs are timed, seconds.
NEAR_ROUNDS = 5
NEAR_TIME = ["-D", "2.5s", "--warmup", "0.5s"]
# Rounds of what binds on CPU time, and their runs: the machine's speed changes from second to second, so that many short ones say more
# than few long ones. Not of engine nghttp2, whose first pushes cost more: a sixth of a short run. A round of it is off by 18 % (standard
# deviation), the median of 21 by a quarter of that; its run is as long as those of both neighbours.
SHORT_ROUNDS, SLOW_ROUNDS = 15, 21
SLOW_TIME = ["-D", "5s", "--warmup", "1s"]
SHORT_TIME = ["-D", "1.2s", "--warmup", "0.4s"]
# Of a paced row's rate.
NEAR_RATES = (0.7, 1.3)
# The same with answers that take times of their own, where they do: of a row with gathered pushes both gather.
NEAR_SPREAD = (0.8, 1.3)
# Share of the machine other programs may take during a run, and how often a run is made again.
FOREIGN, AGAIN = 0.04, 4

# What limits it, connections, streams, threads, mock threads, round trip, further: (flag of plan, value, flags of the mock), and
# flags of the run. nghttp2 costs the client more than the mock spends: with a core
# each the client is the limit.
SLOW = ("--engine", "nghttp2")
RATES = [
    ("streams", 1, 500, 1, 1, "20ms", None, ()),
    ("streams", 4, 1000, 1, 1, "20ms", None, ()),
    ("streams", 10, 1000, 1, 1, "80ms", None, ()),
    ("streams", 4, 200, 1, 1, "5ms", None, ()),
    ("streams", 8, 250, 1, 1, "40ms", ("--server-time", "10ms", "--latency=10ms"), ()),
    ("streams", 4, 500, 1, 1, "20ms", ("--server-time", "lognormal 20ms 0.5", "--latency='lognormal 20ms 0.5'"), ()),
    ("streams", 8, 1000, 2, 2, "20ms", None, ()),
    ("the bend", 16, 1000, 1, 1, "20ms", None, ()),
    ("window", 2, 1000, 1, 1, "20ms", ("--window", "64KiB", "--connection-window 64KiB"), ()),
    ("window", 4, 1000, 1, 1, "40ms", ("--window", "128KiB", "--connection-window 128KiB"), ()),
    ("window", 8, 1000, 1, 1, "80ms", ("--window", "256KiB", "--connection-window 256KiB"), ()),
    ("link rate", 2, 1000, 1, 1, "20ms", ("--connection-bandwidth", "40Mbit", "--bandwidth 40Mbit/s"), ()),
    ("link rate", 8, 1000, 1, 1, "20ms", ("--connection-bandwidth", "100Mbit", "--bandwidth 100Mbit/s"), ()),
    ("link rate", 16, 1000, 1, 1, "80ms", ("--connection-bandwidth", "20Mbit", "--bandwidth 20Mbit/s"), ()),
    ("mock's CPU", 64, 1000, 1, 1, "20ms", None, ()),
    ("mock's CPU", 4, 500, 1, 1, "0ms", None, ()),
    ("mock's CPU", 64, 200, 1, 1, "0ms", None, ()),
    ("mock's CPU", 8, 500, 2, 1, "0ms", None, ()),
    ("all cores", 4, 500, 2, 2, "0ms", None, ()),
    ("all cores", 64, 1000, 2, 2, "20ms", None, ()),
    ("client's CPU", 2, 500, 1, 1, "0ms", None, SLOW),
    ("client's CPU", 8, 500, 1, 1, "0ms", None, SLOW),
    ("client's CPU", 32, 300, 1, 1, "0ms", None, SLOW),
    ("client's CPU", 64, 1000, 1, 1, "0ms", None, SLOW),
    ("client's CPU", 24, 1000, 1, 1, "5ms", None, SLOW),
    ("client's CPU", 100, 200, 1, 1, "0ms", None, SLOW),
    ("sent by and by", 8, 500, 1, 1, "20ms", ("--jitter", "2ms", "--jitter 2ms"), ()),
    ("GOAWAY", 4, 500, 1, 1, "20ms", ("--goaway-every", "10000", "--goaway-after 10000"), ()),
    ("sent again", 4, 500, 1, 1, "20ms", ("--sent-again", "10%", "--reject ServiceUnavailable=10%"), ("--retry", "5xx", "--expect-reasons", "ServiceUnavailable")),
    # One period within what counts of a run.
    ("fewer streams", 4, 500, 1, 1, "20ms", ("--fewer-streams", "100:1s/2s", f"--faults {ROOT}/Benchmarks/fewer_streams.yaml"), ()),
]

BINDS_ON_CPU = ("the bend", "mock's CPU", "all cores", "client's CPU")

# Pushes a second, connections, streams, round trip, further as above.
PACED = [
    (15_000, 2, 1000, "0ms", None),
    (30_000, 4, 500, "0ms", None),
    (80_000, 4, 1000, "0ms", None),
    (150_000, 8, 1000, "0ms", None),
    (300_000, 4, 1000, "0ms", None),
    (20_000, 4, 1000, "20ms", None),
    (100_000, 16, 1000, "40ms", None),
    (20_000, 4, 1000, "20ms", ("--server-time", "lognormal 20ms 0.5", "--latency='lognormal 20ms 0.5'")),
    (50_000, 8, 1000, "0ms", ("--answers", "single", "--answer-batching off")),
    (50_000, 8, 1000, "30ms", None),
    (150_000, 24, 1000, "80ms", None),
    (40_000, 8, 1000, "10ms", ("--server-time", "lognormal 10ms 0.3", "--latency='lognormal 10ms 0.3'")),
    (150_000, 16, 1000, "20ms", ("--server-time", "5ms", "--latency=5ms")),
    (5_000, 1, 1000, "20ms", ("--goaway-every", "1000", "--goaway-after 1000")),
    (20_000, 4, 1000, "20ms", ("--goaway-every", "5000", "--goaway-after 5000")),
]

# Pushes, connections, streams, round trip.
WHOLE = [
    (2_000_000, 8, 500, "0ms"),
    (1_000_000, 300, 100, "0ms"),
    (1_000_000, 50, 200, "20ms"),
    (1_000_000, 10, 1000, "80ms"),
]

# Loss, round trip of the namespace's loopback, connections, streams.
LOSSES = [("0.05%", "20ms", 4, 500), ("0.2%", "20ms", 8, 500), ("1%", "20ms", 16, 500), ("0.1%", "80ms", 16, 1000),
          ("0.5%", "20ms", 16, 500), ("0.2%", "40ms", 16, 500)]

# Server, pushes a second (None: as fast as it goes), connections, streams.
OTHERS = [
    ("nginx", None, 4, 500), ("nginx", None, 32, 100), ("nginx", 20_000, 4, 1000), ("nginx", 50_000, 8, 500),
    ("nghttpd", None, 4, 500), ("nghttpd", None, 32, 100), ("nghttpd", 20_000, 4, 1000), ("nghttpd", 50_000, 8, 500),
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
    done = subprocess.run([*prefix, f"{common.BUILD}/pushload", *arguments], capture_output=True, text=True)
    if done.returncode not in (0, 99):
        sys.exit(f"pushload {' '.join(arguments)} ended with {done.returncode}:\n{done.stderr}")
    return done.stdout


def rate_row(cores, row):
    _, connections, streams, threads, mock_threads, rtt, special, both = row
    plan = ["--connections", str(connections), "--streams", str(streams), "--cores", str(threads), "--machines", "1",
            "--mock-threads", str(mock_threads), "--shared-cores", str(cores), "--rtt", rtt]
    run = ["-c", str(connections), "-m", str(streams), "-t", str(threads), "--mock-threads", str(mock_threads),
           *timing(row)[2], *both]
    return plan + (list(special[:2]) if special else []), run + link(rtt, special)


def timing(row):
    """Rounds of a rate's row that binds on CPU time, how its neighbours' runs are timed and how its own."""
    whole = ["-D", f"{SECONDS}s", "--warmup", f"{WARMUP}s"]
    if row[0] not in BINDS_ON_CPU:
        return ROUNDS, None, whole
    return (SLOW_ROUNDS, NEAR_TIME, SLOW_TIME) if row[7] == SLOW else (SHORT_ROUNDS, SHORT_TIME, SHORT_TIME)


def link(rtt, special):
    return (["--rtt", rtt] if rtt != "0ms" else []) + (["--mock-flags", special[2]] if special else [])


def neighbours(connections, streams, *flags, most=None):
    """Flags of runs with fewer and more connections, and fewer streams; with `most` streams allowed, of the second with more."""
    return [["-c", str(near), "-m", str(round(part)), *flags]
            for near, part in ((max(1, connections // 2), 0.8 * streams),
                               (1 + connections * 5 // 4, min(1.25 * streams, most) if most else 0.8 * streams))]


def load_row(count, seconds, connections, streams, rtt, special, cores):
    """What plans a load with a mock on this machine."""
    return ["--devices", str(count), "--within", f"{seconds}s", "--connections", str(connections), "--streams", str(streams),
            "--cores", "1", "--machines", "1", "--mock-threads", "1", "--shared-cores", str(cores), "--rtt", rtt,
            *(special[:2] if special else [])]


def rows(cores):
    """All settings: name -> kind, flags of the plan, flags of the run, name of the calibration; `rate` is the plan's."""
    settings = {}
    for number, row in enumerate(RATES, 1):
        plan, run = rate_row(cores, row)
        settings[f"r{number}"] = {"kind": "rate", "plan": plan, "run": run}
        rounds, near_time, _ = timing(row)
        if near_time:
            settings[f"r{number}"]["rounds"] = rounds
            settings[f"r{number}"]["near"] = neighbours(
                row[1], row[2], *near_time, "-t", str(row[3]), "--mock-threads", str(row[4]), *link(row[5], row[6]), *row[7],
                most=1000 if row[7] == SLOW else None)
    for number, (rate, connections, streams, rtt, special) in enumerate(PACED, 1):
        plan = load_row(rate * SECONDS, SECONDS, connections, streams, rtt, special, cores)
        run = ["-c", str(connections), "-m", str(streams), "-D", f"{SECONDS}s", "--warmup", f"{WARMUP}s", *link(rtt, special)]
        # What the server takes is not in a push's cost, but that answers come one by one.
        flags = ["-c", str(connections), "-m", str(round(0.8 * streams)), *NEAR_TIME]
        near = [*flags, *link(rtt, special if rtt == "0ms" else None)]
        spread = NEAR_SPREAD if special and "lognormal" in special[1] else ()
        # What a connection costs that is made anew is known from others that are.
        ended = [f"--goaway-after {round(share * int(special[1]))}" for share in NEAR_RATES] if special and special[0] == "--goaway-every" else []
        settings[f"p{number}"] = {
            "kind": "paced", "plan": plan, "run": run,
            "near": [near, *([*near, "--rate", str(round(share * rate))] for share in NEAR_RATES),
                     *([*flags, *link(rtt, special), "--rate", str(round(share * rate))] for share in spread),
                     *([*flags, *link(rtt, None), "--mock-flags", mock] for mock in ended)]}
    for number, (count, connections, streams, rtt) in enumerate(WHOLE, 1):
        plan = load_row(count, 60, connections, streams, rtt, None, cores)
        run = ["-c", str(connections), "-m", str(streams), "-n", str(count), *link(rtt, None)]
        settings[f"m{number}"] = {"kind": "whole", "plan": plan, "run": run, "near": neighbours(connections, streams, "-n", str(2 * count), *link(rtt, None))}
    for number, (loss, rtt, connections, streams) in enumerate(LOSSES, 1):
        plan = ["--connections", str(connections), "--streams", str(streams), "--cores", "1", "--machines", "1", "--rtt", rtt,
                "--loss", loss, "--window", "1MiB"]
        # A window's saw has teeth of seconds.
        run = ["-c", str(connections), "-m", str(streams), "-D", f"{8 * SECONDS}s", "--warmup", f"{8 * WARMUP}s"]
        settings[f"l{number}"] = {"kind": "loss", "plan": plan, "run": run, "link": [loss, rtt]}
    for number, (server, rate, connections, streams) in enumerate(OTHERS, 1):
        plan = ["--devices", str((rate or 10_000) * SECONDS), "--within", f"{SECONDS}s", "--connections", str(connections),
                "--streams", str(streams), "--cores", "1", "--machines", "1", "--rtt", "0"]
        run = ["-c", str(connections), "-m", str(streams), "-D", f"{SECONDS}s", "--warmup", f"{WARMUP}s"]
        near = ["-c", str(connections), "-m", str(round(0.8 * streams)), *NEAR_TIME]
        settings[f"s{number}"] = {
            "kind": "paced" if rate else "cost", "plan": plan, "run": run, "server": server,
            "near": [near, *([*near, "--rate", str(round(share * rate))] for share in NEAR_RATES)] if rate
            else neighbours(connections, streams, *NEAR_TIME)}
    return settings


@contextlib.contextmanager
def target(setting):
    """Flags of runs against the setting's server; none where it is the bundled mock, or the link's."""
    if "server" not in setting:
        yield []
        return
    with tempfile.TemporaryDirectory() as folder:
        # The mock makes the credentials.
        with common.running_mock(folder) as (_, _, credentials):
            _, path = common.h2load_headers(folder, credentials)
        with open(f"{folder}/devices", "w") as file:
            file.write(path.rsplit("/", 1)[1] + "\n")
        made = servers.nginx(folder, credentials) if setting["server"] == "nginx" else servers.nghttpd(folder, credentials, path)
        with made as (_, url):
            yield ["--target", url, "--credentials", credentials, "--device-file", f"{folder}/devices"]


def predict(prefix, calibrations, setting):
    """What the plan says, and how the run has to be made for it."""
    file = f"{calibrations}/usual.json"
    if not os.path.exists(file):
        call(prefix, "plan", "--connections", "1", "--machines", "1", "--rtt", "0", "--calibration", file)
    return predicted(setting, "--calibration", file)


def predict_near(prefix, setting):
    """The same from runs of the neighbours."""
    with tempfile.TemporaryDirectory() as folder, target(setting) as further:
        for flags in setting["near"]:
            call(prefix, "run", "--quiet", "--output", folder, *flags, *further)
        return predicted(setting, "--from", folder)


def flags_of(setting):
    """What a prediction and its runs are of."""
    return [setting["plan"], setting["run"], setting.get("near"), setting.get("server")]


def predicted(setting, *source):
    plan = json.loads(call([], "plan", "--json", *source, *setting["plan"]))
    figures, latency = {}, plan["simulation"]["total_ns"]
    if setting["kind"] in ("rate", "loss"):
        figures["formula"] = plan["bounds"][0]["per_second"]["value"]
        figures["simulation"] = plan["simulation"]["simulated_per_second"]
        figures["binds"] = plan["bounds"][0]["name"]
    elif setting["kind"] == "paced":
        figures["rate"] = plan["needed"]["per_second"]
        figures["client CPU a push, ns"] = plan["measured"]["paced_client_cpu_ns_per_push"]["value"]
        # No latency: the plan says that what is due waits ever longer.
        figures["p50, us"], figures["p99, us"] = (latency[part] / 1e3 if latency else float("inf") for part in ("p50", "p99"))
    elif setting["kind"] == "cost":
        figures["client CPU a push, ns"] = plan["measured"]["client_cpu_ns_per_push"]["value"]
    else:
        figures["client memory, MB"] = plan["needed"]["memory_bytes"]["value"] / 1e6
        figures["time to finish, s"] = plan["needed"]["shortest_ns"]["value"] / 1e9
    return {"flags": flags_of(setting), "figures": figures, "at": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())}


def measure(prefix, setting, prediction):
    """The same figures of one run, and the share of the machine that others took."""
    flags = list(setting["run"])
    if setting["kind"] == "paced":
        flags += ["--rate", str(round(prediction["figures"]["rate"]))]
    with tempfile.TemporaryDirectory() as folder, target(setting) as further:
        script = [*prefix, sys.executable, __file__, "--programs", common.BUILD, "--one", folder, *flags, *further]
        if "link" in setting:
            script = over_link(*setting["link"]) + script
        done = subprocess.run(script, capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit(f"{' '.join(script)} ended with {done.returncode}:\n{done.stderr}")
        run = json.loads(done.stdout)
        longer = re.search(r"round trip longer by ([0-9.]+)%", done.stderr)
        if longer:
            # The link is a program, and was late itself.
            run["foreign"] = float(longer.group(1)) / 100
        return run


def over_link(loss, rtt):
    """A command's beginning: its network delays by half the round trip and loses packets, each way."""
    if not has_netem():
        return [f"{os.path.dirname(os.path.abspath(__file__))}/lossy_link.py", "--rtt", rtt, "--loss", loss, "--"]
    return in_namespace(f"delay {float(rtt.removesuffix('ms')) / 2}ms loss {loss}")


def in_namespace(netem):
    script = f'sysctl -qw net.ipv4.tcp_congestion_control=reno && ip link set lo up mtu 1500 gso_max_segs 1 && tc qdisc add dev lo root netem limit 1000000 {netem} && exec "$@"'
    return ["unshare", "-n", "sh", "-c", script, "sh"]


@functools.cache
def has_netem():
    return subprocess.run([*in_namespace("delay 1ms"), "true"], capture_output=True).returncode == 0


def one(folder, flags):
    """One run, in a process of its own so that a prefix holds for the readings of the machine too."""
    beyond = os.environ.get("LINK_BEYOND")
    if beyond:
        with common.running_mock(folder, "--host", "0.0.0.0", "--threads", "1", "--san", beyond) as (_, start, credentials):
            url = f"https://{beyond}:{urllib.parse.urlsplit(start['url']).port}"
            return one_run(folder, [*flags, "--target", url, "--allow-target", beyond, "--credentials", credentials], None)
    # What another server takes is not in the result.
    one_run(folder, flags, None if "--target" in flags else machine_time())


def one_run(folder, flags, before):
    result = json.loads(call([], "run", "--json", "--quiet", "--output", folder, *flags))
    answered = result["pushes"]["accepted"] + result["pushes"]["rejected"]
    cost, latency = result["cost"], result["latency_ns"]["total"]
    foreign = 0  # of a link made by a program: its work is a part of the setting
    if before:
        (used, total), (used_after, total_after) = before, machine_time()
        own = answered * (cost["client_cpu_ns_per_push"] + cost["mock_cpu_ns_per_push"]) / 1e9 * os.sysconf("SC_CLK_TCK")
        foreign = max(0, used_after - used - own) / (total_after - total)
    print(json.dumps({
        "rate": result["throughput"]["accepted_per_second"], "foreign": foreign,
        "client CPU a push, ns": cost["client_cpu_ns_per_push"], "p50, us": latency["p50"] / 1e3,
        "p99, us": latency["p99"] / 1e3, "client memory, MB": cost["client_max_rss_bytes"] / 1e6,
        "time to finish, s": result["run"]["duration_seconds"]}))


NAMES = {"streams": "streams", "window": "window", "connection_bandwidth": "link rate", "client_cpu": "client's CPU",
         "server_cpu": "mock's CPU", "shared_cores": "all cores", "loss": "loss"}
HEADERS = {
    "rate": """| | limit meant | connections × streams | threads, client + mock | round trip | besides | limit by formula | formula, pushes/s | simulation | measured, median (least–most) | formula off | simulation off |
| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |""",
    "figures": """| | run | figure | predicted | measured, median (least–most) | off |
| --- | --- | --- | --- | --- | --- |""",
}


def spread(values, written):
    return f"{written(statistics.median(values))} ({written(min(values))}–{written(max(values))})"


def rate_line(name, row, rounds):
    """A row of a table, and how far each prediction is off."""
    what, connections, streams, threads, mock_threads, rtt, special, both = row
    offs = [(off(rounds, part, "rate"), ALLOWED) for part in ("formula", "simulation")]
    besides = " ".join([*(special[:2] if special else ()), *both]).replace("--", "")
    cells = [name, what, f"{connections} × {streams:,}", f"{threads} + {mock_threads}", rtt.replace("ms", " ms"), besides,
             NAMES[rounds[0][0]["binds"]], *(f"{middle(rounds, part):,.0f}" for part in ("formula", "simulation")),
             spread([run["rate"] for _, run in rounds], lambda rate: f"{rate:,.0f}"), *(f"{off * 100:+.1f} %" for off, _ in offs)]
    return [f"| {' | '.join(cells)} |"], offs


def middle(rounds, figure):
    """What was predicted."""
    return statistics.median(figures[figure] for figures, _ in rounds)


def off(rounds, figure, measured):
    """The median of the rounds' ratios of prediction and run, less 1; where all have one prediction, that beside the runs' median."""
    if len({figures[figure] for figures, _ in rounds}) == 1:
        return rounds[0][0][figure] / statistics.median(run[measured] for _, run in rounds) - 1
    return statistics.median(figures[figure] / run[measured] for figures, run in rounds) - 1


def figure_lines(name, setting, rounds):
    lines, offs = [], []
    flags = (f"{setting['server']}: " if "server" in setting else "") + shlex.join(setting["run"] + (["--rate", str(round(middle(rounds, "rate")))] if setting["kind"] == "paced" else []))
    if "link" in setting:
        flags += f", {setting['link'][1]} with a loss of {setting['link'][0]} each way"
    for figure in rounds[0][0]:
        if figure in ("binds", "rate"):
            continue
        measured = "rate" if figure in ("formula", "simulation") else figure
        predicted, values = middle(rounds, figure), [run[measured] for _, run in rounds]
        offs.append((off(rounds, figure, measured), ALLOWED_P99 if "p99" in figure else ALLOWED))
        label = f"pushes/s, {figure}" if figure in ("formula", "simulation") else figure
        written = (lambda value: f"{value:,.0f}") if predicted >= 100 else (lambda value: f"{value:.2f}")
        lines.append(f"| {name} | `{flags}` | {label} | {written(predicted)} | {spread(values, written)} | {offs[-1][0] * 100:+.1f} % |")
    return lines, offs


# Blocks of the document, and the letters of their rows.
BLOCKS = {"validation": "rpml", "other servers": "s"}

# Runs against each server, of whose costs one fan-out is planned: connections, streams, pushes a second (None: as fast as it goes).
SERVER_RUNS = [(4, 1000, None), (32, 100, None), (16, 500, None), (4, 1000, 20_000), (4, 1000, 50_000)]
FAN_OUT = ["--devices", "100M", "--within", "60s", "--rtt", "80ms", "--cores", "16"]


def of_servers():
    """The table of what a push costs the client by the server, and what that makes of a plan."""
    lines = ["| server of the runs | client CPU a push, busy, ns | client cores |", "| --- | ---: | ---: |"]
    for name, setting, flags in (("the bundled mock", {}, []), ("nghttpd", {"server": "nghttpd"}, []),
                                 ("the mock with `--answer-batching off`", {},
                                  ["--mock-flags", "--answer-batching off"]), ("nginx", {"server": "nginx"}, [])):
        with tempfile.TemporaryDirectory() as folder, target(setting) as further:
            for connections, streams, rate in 2 * SERVER_RUNS:
                call([], "run", "--quiet", "--output", folder, "-c", str(connections), "-m", str(streams), *NEAR_TIME,
                     *(["--rate", str(rate)] if rate else []), *flags, *further)
            plan = json.loads(call([], "plan", "--json", "--from", folder, *FAN_OUT))
        cpu, cores = plan["measured"]["client_cpu_ns_per_push"]["value"], plan["needed"]["cores"]
        lines.append(f"| {name} | {cpu:,.0f} | {cores['value']:.1f} ({cores['low']:.1f}–{cores['high']:.1f}) |")
        print(lines[-1], flush=True)
    return "\n".join(lines)


ECHO_HEADER = """| | profile | pushes/s for 10 s | device model | peak, predicted | measured, median (least–most) | off | requests while pushing, predicted | measured | off |
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
            sums.append(until(result["series"], echo["spread_ns"] / 1e9))
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


def until(series, seconds):
    """Requests until then; those of a point are spread evenly over its time."""
    count = last = 0
    for point in series:
        part = min(1, max(0, (seconds - last) / (point["t"] - last))) if point["t"] > last else 1
        count, last = count + part * point["requests"], point["t"]
    return round(count)


def kept(path):
    if path and os.path.exists(path):
        with open(path) as file:
            return json.load(file)
    return {}


def keep(path, what):
    if path:
        with open(path, "w") as file:
            json.dump(what, file, indent=1)


def measured(prefix, name, setting, prediction):
    tries = [measure(prefix, setting, prediction)]
    while tries[-1]["foreign"] > FOREIGN and len(tries) < AGAIN:
        tries.append(measure(prefix, setting, prediction))
    run = min(tries, key=lambda run: run["foreign"])
    if run["foreign"] > FOREIGN:
        what = "the link was late by {:.0f} % of its round trip" if "link" in setting else "others took {:.0f} % of the machine"
        print(f"{name}: {what.format(run['foreign'] * 100)}, at least, in {AGAIN} runs", file=sys.stderr, flush=True)
    return run


def rounds_of(prefix, name, setting, options, predictions, runs):
    """What was predicted and what was measured, of each round."""
    near = "near" in setting
    if near and len(predictions.get(name, [])) < len(runs.get(name, [])):
        sys.exit(f"{name}: measured before it was predicted; take it out of {options.runs}")
    for number in range(len(runs.get(name, [])), options.rounds or setting.get("rounds", NEAR_ROUNDS) if near else ROUNDS):
        if near:
            made = predictions.setdefault(name, [])
            if len(made) <= number:
                made.append(predict_near(prefix, setting))
                keep(options.predictions, predictions)
        prediction = predictions[name][number] if near else predictions[name]
        runs.setdefault(name, []).append(measured(prefix, name, setting, prediction))
        keep(options.runs, runs)
    return [((predictions[name][number] if near else predictions[name])["figures"], run) for number, run in enumerate(runs[name])]


def validate(prefix, folder, options, settings):
    """The text for the document, and the rows that were missed."""
    chosen = list(settings)
    calibrations = options.calibrations or folder
    os.makedirs(calibrations, exist_ok=True)
    predictions, runs = kept(options.predictions), kept(options.runs)
    for name in chosen:
        known = predictions.get(name)
        if any(one["flags"] != flags_of(settings[name]) for one in (known if isinstance(known, list) else [known] if known else [])):
            sys.exit(f"{name}: predicted for other flags; take it out of {options.predictions} and {options.runs}")
        if not known and "near" not in settings[name]:
            if runs.get(name):
                sys.exit(f"{name}: measured before it was predicted; take it out of {options.runs}")
            predictions[name] = predict(prefix, calibrations, settings[name])
            keep(options.predictions, predictions)
    tables = {"rate": [], "figures": []}
    missed = []
    for name in chosen:
        setting = settings[name]
        rounds = rounds_of(prefix, name, setting, options, predictions, runs)
        if setting["kind"] == "rate":
            lines, offs = rate_line(name, RATES[int(name[1:]) - 1], rounds)
        else:
            lines, offs = figure_lines(name, setting, rounds)
        tables["rate" if setting["kind"] == "rate" else "figures"] += lines
        print("\n".join(lines), flush=True)
        if any(abs(off) > allowed for off, allowed in offs):
            missed.append(name)
    text = "\n\n".join(f"{HEADERS[kind]}\n" + "\n".join(lines) for kind, lines in tables.items() if lines)
    text += (f"\n\n{len(chosen) - len(missed)} of {len(chosen)} settings with all their figures within {ALLOWED * 100:.0f} %, a p99 "
             f"within {ALLOWED_P99 * 100:.0f} %." + (f" Missed: {', '.join(missed)}." if missed else ""))
    if not has_netem():
        text += " The link with loss was that of Benchmarks/lossy_link.py: this system has no netem."
    return text, missed


def main():
    if "--one" in sys.argv:
        place = sys.argv.index("--one")
        common.BUILD = sys.argv[place - 1]
        return one(sys.argv[place + 1], sys.argv[place + 2:])
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--calibrations", metavar="FOLDER", help="of files of calibrations, made when they are not there")
    parser.add_argument("--predictions", metavar="FILE", help="keep what was predicted here; what is there is not predicted again")
    parser.add_argument("--runs", metavar="FILE", help="keep what was measured here; what is there is not measured again")
    parser.add_argument("--write", metavar="FILE", help="put the tables into this document")
    parser.add_argument("--only", help="rows, such as r3,p1, or echo, or servers")
    parser.add_argument("--rounds", type=int, help="of what is predicted from its neighbours")
    parser.add_argument("--programs", metavar="FOLDER", default=common.BUILD, help="of pushload and mock-apns")
    parser.add_argument("--prefix", default="", help="command to put before each run")
    options = parser.parse_args()
    common.BUILD = os.path.abspath(options.programs)
    common.need()
    prefix = shlex.split(options.prefix)
    missed = []
    with tempfile.TemporaryDirectory() as folder:
        if options.only in (None, "echo"):
            calibration = f"{options.calibrations or folder}/usual.json"
            if not os.path.exists(calibration):
                os.makedirs(os.path.dirname(calibration), exist_ok=True)
                call(prefix, "plan", "--connections", "1", "--machines", "1", "--rtt", "0", "--calibration", calibration)
            print(ECHO_HEADER, flush=True)
            heard, missed = echoes(prefix, folder, calibration)
            if options.write:
                write(options.write, "echo validation", f"{ECHO_HEADER}\n" + "\n".join(heard),
                      "Benchmarks/plan_validation.py --only echo")
        if options.only in (None, "servers"):
            text = of_servers()
            print(text, flush=True)
            if options.write:
                write(options.write, "cost of servers", text, "Benchmarks/plan_validation.py --only servers")
        settings = rows(os.cpu_count())
        for block, kinds in BLOCKS.items():
            chosen = [name for name in settings if name[0] in kinds and (not options.only or name in options.only.split(","))]
            if not chosen:
                continue
            text, rows_missed = validate(prefix, folder, options, {name: settings[name] for name in chosen})
            missed += rows_missed
            print(f"\n{text}")
            if options.write:
                further = f" --only {options.only}" if options.only else ""
                further += f" --rounds {options.rounds}" if options.rounds else ""
                write(options.write, block, text, f"Benchmarks/plan_validation.py{further}")
    if missed:
        sys.exit(f"missed: {', '.join(missed)}")


if __name__ == "__main__":
    main()
