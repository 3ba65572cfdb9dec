#!/usr/bin/env python3
"""What the device model costs: the mock's CPU a push with devices beside that without, and its memory for a million devices.

    Benchmarks/devices.py [--rounds 7] [--pushes 1M] [--filled 10M] [--write docs/performance.md]

The two are run in turn; a ratio is of one round. Times are of this machine.
"""
import argparse
import json
import os
import subprocess
import tempfile

import tables
from peers.common import BUILD, need


def run(program, folder, *arguments):
    """The result of one run."""
    command = [program, "run", "--json", "-o", os.path.join(folder, "runs"), *arguments]
    finished = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=True)
    return json.loads(finished.stdout)


def median(values):
    return sorted(values)[len(values) // 2]


def compare(program, folder, pushes, rounds, devices, profile):
    """CPU a push without and with devices, ns, and their ratio round by round."""
    wanted = ["-n", pushes, "--devices", devices, "--profile", profile]
    without, with_devices = [], []
    for _ in range(rounds):
        without.append(run(program, folder, *wanted)["cost"]["mock_cpu_ns_per_push"])
        result = run(program, folder, *wanted, "--mock-flags", "--device-model on")
        with_devices.append(result["cost"]["mock_cpu_ns_per_push"])
    ratios = [a / b for a, b in zip(with_devices, without)]
    return (f"| `{profile}` to {devices} devices | {median(without):,.0f} | {median(with_devices):,.0f} | "
            f"{median(ratios):.2f} ({min(ratios):.2f}–{max(ratios):.2f}) |")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--pushes", default="1M")
    parser.add_argument("--filled", default="10M", help="pushes to a million devices, for the mock's memory")
    parser.add_argument("--write", metavar="FILE", help="put the tables into this document")
    options = parser.parse_args()
    need()
    pushload = os.path.join(BUILD, "pushload")
    lines = ["| | without devices, ns of the mock's CPU a push | with | ratio |", "| --- | ---: | ---: | --- |"]
    with tempfile.TemporaryDirectory(prefix="pushload-devices-") as folder:
        for profile in ["alert", "silent"]:
            for devices in ["1k", "100k", "1M"]:
                lines.append(compare(pushload, folder, options.pushes, options.rounds, devices, profile))
                print(lines[-1], flush=True)
        # Ten pushes a device leave one in 20,000 untouched. Devices that only count what they get keep nothing else.
        model = os.path.join(folder, "model.yaml")
        with open(model, "w") as file:
            file.write("online: {share: 100%}\nsilent: {per_hour: unlimited, fetches: 0%}\n")
        memory = ["-n", options.filled, "--profile", "silent", "--devices", "1M"]
        lines += ["", f"| {options.filled} silent pushes to a million devices | the mock's peak memory, MB |", "| --- | ---: |"]
        for name, flags in [("without devices", []), ("devices that only count them", ["--mock-flags", f"--device-model {model}"]),
                            ("the bundled model, whose devices hold a push each", ["--mock-flags", "--device-model on"])]:
            most = run(pushload, folder, *memory, *flags)["cost"]["mock_max_rss_bytes"]
            lines.append(f"| {name} | {most / 1e6:.0f} |")
            print(lines[-1], flush=True)
    if options.write:
        tables.write(options.write, "cost of devices", "\n".join(lines),
                     f"Benchmarks/devices.py --rounds {options.rounds} --pushes {options.pushes} --filled {options.filled}")


main()
