#!/usr/bin/env python3
"""Merging the shards of many workers: time, memory and the size of what comes out.

One run against a mock of its own gives one worker's result, with two stages and their breakdown. Copies of it are the shards of a
run of `--workers` workers, in a folder as `pushload run --rendezvous` makes it, and `pushload merge` makes the whole of them. Ends
with status 1 when that takes longer, or more memory, than is allowed. Needs a release build (`make build`).

    Benchmarks/merge.py [--workers 1000] [--seconds 60] [--rate 2k] [--most-seconds 10] [--most-memory 500]
"""

import argparse
import copy
import glob
import json
import os
import subprocess
import sys
import tempfile
import time

from peers.common import BUILD, need, running_mock

MB = 1_000_000
RUN = "00000000000000ab"


def shard(folder, seconds, rate):
    """The result of one real run."""
    with running_mock(folder) as (_, start, credentials):
        half = f"{seconds / 2:g}s"
        done = subprocess.run(
            [f"{BUILD}/pushload", "run", "--stages", f"hold {rate} {half}, hold {rate} {half}", "--quiet", "--target",
             start["url"], "--credentials", credentials, "--output", f"{folder}/runs"], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"pushload ended with {done.returncode}:\n{done.stderr}")
    with open(glob.glob(f"{folder}/runs/*/result.json")[0]) as file:
        return json.load(file)


def write(path, document):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w") as file:
        json.dump(document, file, indent=2, sort_keys=True)


def rendezvous(folder, result, workers):
    """The folder of a run whose workers have all brought this result home. Returns a shard's size, bytes."""
    now = time.time()
    write(f"{folder}/run.json", {"id": RUN, "workers": workers, "created": now, "scenario": result["scenario"]})
    write(f"{folder}/start.json", {"at": now, "clock_of": 0, "written": now, "without": [], "seen": []})
    for worker in range(workers):
        own = copy.copy(result)
        own["run"] = result["run"] | {"id": RUN}
        own["environment"] = result["environment"] | {"host": f"n{worker // 2}"}
        write(f"{folder}/worker-{worker}/result.json", own)
        write(f"{folder}/worker-{worker}/begun-1.json",
              {"host": f"n{worker // 2}", "positions": [0], "planned": result["pushes"]["planned"], "begun": 0})
        write(f"{folder}/worker-{worker}/shard.json", {"attempt": 1})
    return os.path.getsize(f"{folder}/worker-0/result.json")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--workers", type=int, default=1000)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--rate", default="2k")
    parser.add_argument("--most-seconds", type=float, default=10)
    parser.add_argument("--most-memory", type=float, default=500)
    options = parser.parse_args()
    need()
    with tempfile.TemporaryDirectory() as folder:
        result = shard(folder, options.seconds, options.rate)
        size = rendezvous(f"{folder}/run", result, options.workers)
        out = f"{folder}/merged.json"
        began = time.monotonic()
        merge = subprocess.Popen(
            [f"{BUILD}/pushload", "merge", f"{folder}/run", "--output", out], stdout=subprocess.PIPE, text=True)
        text = merge.stdout.read()
        _, status, usage = os.wait4(merge.pid, 0)
        seconds = time.monotonic() - began
        if status != 0:
            sys.exit(f"pushload merge ended with {os.waitstatus_to_exitcode(status)}:\n{text}")
        with open(out) as file:
            merged = json.load(file)
        planned = options.workers * result["pushes"]["planned"]
        if merged["pushes"]["planned"] != planned or len(merged["workers"]) != options.workers:
            sys.exit(f"merged {merged['pushes']['planned']} pushes of {planned}")
        cpu = usage.ru_utime + usage.ru_stime
        memory = usage.ru_maxrss * 1024 / MB
        print(f"{options.workers} shards of {size / 1000:.0f} kB ({len(result['series'])} points, "
              f"{len(result['histograms'])} histograms): {seconds:.1f} s, {cpu:.1f} s CPU, {memory:.0f} MB; "
              f"the whole: {os.path.getsize(out) / 1000:.0f} kB")
    if seconds > options.most_seconds or memory > options.most_memory:
        sys.exit(f"more than {options.most_seconds:g} s or {options.most_memory:g} MB")


if __name__ == "__main__":
    main()
