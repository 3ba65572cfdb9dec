#!/usr/bin/env python3
"""What an audience costs: ten million registrations made, indexed, opened, counted, streamed and pushed to.

    Benchmarks/audience.py [--rows 10M]

Writes to a temporary folder (2.3 GB for ten million), which it removes. Times are of this machine; ratios are to a scan of the
same rows (grep for the tags, from the page cache) in the same minutes.
"""
import argparse
import json
import os
import resource
import subprocess
import tempfile
import time

from peers.common import BUILD, need

EXPRESSION = "(follows_RedSox || follows_Cardinals) && location_Boston"


def run(*command, **options):
    started = time.monotonic()
    finished = subprocess.run(command, capture_output=True, text=True, check=True, **options)
    return time.monotonic() - started, finished.stdout


def first_line(*command):
    """Seconds until the first line is there."""
    started = time.monotonic()
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    process.stdout.readline()
    seconds = time.monotonic() - started
    process.stdout.close()
    process.wait()
    return seconds


def client_cpu(program, folder, *arguments):
    """The client's CPU a push, ns."""
    output = os.path.join(folder, "runs")
    _, text = run(program, "run", "-n", "1M", "--json", "-o", output, *arguments)
    return json.loads(text)["cost"]["client_cpu_ns_per_push"]


def median(values):
    return sorted(values)[len(values) // 2]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", default="10M")
    options = parser.parse_args()
    need()
    pushload = os.path.join(BUILD, "pushload")
    with tempfile.TemporaryDirectory(prefix="pushload-audience-") as folder:
        path = os.path.join(folder, "registrations.csv")
        made, _ = run(pushload, "audience", "make", path, "-n", options.rows, "--seed", "7")
        indexed, _ = run(pushload, "audience", "count", "*", "--registrations", path)
        peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
        print(f"{options.rows} registrations, {os.path.getsize(path) / 1e9:.2f} GB: made in {made:.1f} s, "
              f"indexed in {indexed:.1f} s, peak memory {peak:.0f} MiB")
        question = ["--registrations", path]
        opened = median([run(pushload, "audience", "count", "*", *question)[0] for _ in range(5)])
        counted = []
        for _ in range(9):
            _, text = run(pushload, "audience", "explain", EXPRESSION, "--json", *question)
            counted.append(json.loads(text)["milliseconds"])
        begun = median([first_line(pushload, "audience", "list", EXPRESSION, *question) for _ in range(5)])
        run("grep", "-c", "location_Boston", path)
        scan, _ = run("grep", "-cE", "follows_(RedSox|Cardinals)", path)
        print(f"opened from its index in {opened * 1e3:.0f} ms (whole process)")
        print(f"{EXPRESSION}: counted in {median(counted):.2f} ms (least {min(counted):.2f}, most {max(counted):.2f}); "
              f"a scan for two of its tags takes {scan * 1e3:.0f} ms: ratio {median(counted) / scan / 1e3:.5f}")
        print(f"first token {begun * 1e3:.0f} ms after the process was started: ratio to the scan {begun / scan:.3f}")
        audience = ["--registrations", path, "--audience", "*", "--environment", "any"]
        # The first reads the file's pages.
        client_cpu(pushload, folder, *audience)
        ratios = []
        for _ in range(7):
            ratios.append(client_cpu(pushload, folder, *audience) / client_cpu(pushload, folder, "--devices", options.rows))
        print(f"client CPU a push, an audience to a synthetic population: {median(ratios):.2f} "
              f"({min(ratios):.2f} to {max(ratios):.2f}), a million pushes each, 7 alternated rounds")


main()
