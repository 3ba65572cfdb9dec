#!/usr/bin/env python3
"""Client CPU a push of pushload beside h2load's CPU a request, against one running mock-apns.

Both send the same payload to the same mock over TLS, one connection, 500 streams, in alternation; the medians of the
rounds are compared. Needs: a release build (`make build`) and h2load (Debian: nghttp2-client).

    Benchmarks/peers/h2load.py [--pushes 300000] [--rounds 5] [--engine wire --engine nghttp2]
"""

import argparse
import json
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = os.path.join(ROOT, ".build", "release")


def cpu_of(command):
    """Runs a command; returns its own user and system CPU seconds."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode != 0:
        sys.exit(f"{command[0]} ended with {done.returncode}:\n{done.stdout}{done.stderr}")
    return (after.ru_utime - before.ru_utime) + (after.ru_stime - before.ru_stime), done.stdout


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pushes", type=int, default=300_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--streams", type=int, default=500)
    parser.add_argument("--engine", action="append", default=None)
    options = parser.parse_args()
    engines = options.engine or ["wire", "nghttp2"]
    if shutil.which("h2load") is None:
        sys.exit("h2load is missing: install nghttp2-client")
    for name in ("pushload", "mock-apns"):
        if not os.access(os.path.join(BUILD, name), os.X_OK):
            sys.exit(f"{name} is missing in .build/release: run make build")

    with tempfile.TemporaryDirectory() as folder:
        credentials = os.path.join(folder, "credentials")
        mock = subprocess.Popen(
            [f"{BUILD}/mock-apns", "--port", "0", "--json", "--credentials", credentials],
            stdout=subprocess.PIPE, text=True)
        try:
            url = json.loads(mock.stdout.readline())["url"]
            token = subprocess.run(
                [f"{BUILD}/pushload", "token", "--credentials", credentials], capture_output=True, text=True,
                check=True).stdout.strip()
            device = subprocess.run(
                [f"{BUILD}/pushload", "device-token", "0"], capture_output=True, text=True, check=True).stdout.strip()
            payload = os.path.join(folder, "payload.json")
            # The same length and keys as a payload of the `alert` profile.
            with open(payload, "w") as file:
                file.write(
                    '{"aps":{"alert":{"title":"Breaking news","subtitle":"follows_RedSox","body":"Late goal decides '
                    'the final: story 123456. Tap to read more."},"badge":42,"sound":"default","thread-id":"news",'
                    '"interruption-level":"active","relevance-score":0.75},"story":{"id":123456,"device":123456},'
                    '"pushload-trace":"0123456789abcdef-123456"}')
            h2load = [
                "h2load", "-n", str(options.pushes), "-c", "1", "-t", "1", "-m", str(options.streams), "-d", payload,
                "-H", f"authorization: {token}", "-H", "apns-topic: com.example.pushload", "-H",
                "apns-push-type: alert", "-H", "apns-priority: 10", f"{url}/3/device/{device}"]
            costs = {"h2load": []}
            ratios = {engine: [] for engine in engines}
            for engine in engines:
                costs[engine] = []
            for _ in range(options.rounds):
                cpu, output = cpu_of(h2load)
                if f"status codes: {options.pushes} 2xx" not in output:
                    sys.exit(f"h2load did not get {options.pushes} answers of 200:\n{output}")
                base = cpu / options.pushes * 1e6
                costs["h2load"].append(base)
                for engine in engines:
                    cpu, _ = cpu_of([
                        f"{BUILD}/pushload", "run", "-n", str(options.pushes), "-c", "1", "-m", str(options.streams),
                        "--engine", engine, "--target", url, "--credentials", credentials, "--quiet", "--output",
                        os.path.join(folder, "runs")])
                    cost = cpu / options.pushes * 1e6
                    costs[engine].append(cost)
                    ratios[engine].append(cost / base)
        finally:
            mock.terminate()
            mock.wait()

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
