#!/usr/bin/env python3
"""What the device model costs: the mock's CPU a push with devices beside that without, and its memory for a million devices.

    Benchmarks/devices.py [--programs .build/release] [--rounds 7] [--pushes 1M]

The two are run in turn; a ratio is of one round. Times are of this machine.
"""
import argparse
import json
import os
import subprocess
import tempfile


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
    print(f"{profile} to {devices} devices: {median(without):.0f} ns without, {median(with_devices):.0f} ns with devices, "
          f"ratio {median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f})", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--programs", default=".build/release")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--pushes", default="1M")
    options = parser.parse_args()
    pushload = os.path.join(options.programs, "pushload")
    with tempfile.TemporaryDirectory(prefix="pushload-devices-") as folder:
        print(f"mock's CPU a push, {options.pushes} pushes a run, medians of {options.rounds} alternated rounds (ratio: least to most)")
        for profile in ["alert", "silent"]:
            for devices in ["1k", "100k", "1M"]:
                compare(pushload, folder, options.pushes, options.rounds, devices, profile)
        # Ten pushes a device leave one in 20,000 untouched. Devices that only count what they get keep nothing else.
        model = os.path.join(folder, "model.yaml")
        with open(model, "w") as file:
            file.write("online: {share: 100%}\nsilent: {per_hour: unlimited, fetches: 0%}\n")
        memory = ["-n", "10M", "--profile", "silent", "--devices", "1M"]
        for name, flags in [("without devices", []), ("with devices, touched", ["--mock-flags", f"--device-model {model}"]),
                            ("with the bundled model, whose devices hold a push each", ["--mock-flags", "--device-model on"])]:
            most = run(pushload, folder, *memory, *flags)["cost"]["mock_max_rss_bytes"]
            print(f"memory, 10M silent pushes to 1M devices, {name}: {most / 1e6:.0f} MB", flush=True)


main()
