#!/usr/bin/env python3
"""Each client against each server, in alternation: rate, CPU a push of both sides, and the ratios that matter.

Clients: h2load, pushload's engines, `wire` with `--read-batch` too, SwiftNIO with NIOSSL (nio-push, the stack under APNSwift and
AsyncHTTPClient), and hey (Go's net/http), which sends a tenth of the pushes. Servers: mock-apns with all its checks on, nginx (`return 200`) and nghttpd (an empty
file). All over TLS 1.3, one connection, the same payload and headers, one device token. Whole processes are compared.

Needs: a release build (`make build`), h2load and nghttpd (Debian: nghttp2-client, nghttp2-server) and nginx (Debian:
nginx-light). hey (Debian: hey) is left out unless it is there, and SwiftNIO unless it was built: `swift build -c release --package-path Benchmarks/peers/nio`.

    Benchmarks/peers/compare.py [--pushes 400000] [--rounds 5] [--streams 500] [--write results/peers.md]
"""

import argparse
import datetime
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

import tables
from common import BUILD, ROOT, cpu_of_command, cpu_of_process, h2load_headers, need, running_mock
from servers import nghttpd, nginx

# It sends one push of so many.
HEY = 10
NIO = os.path.join(ROOT, "Benchmarks", "peers", "nio", ".build", "release", "nio-push")


def h2load(options, url, path, flags, _):
    cpu, output = cpu_of_command(
        ["h2load", "-n", str(options.pushes), "-c", "1", "-t", "1", "-m", str(options.streams), *flags, url + path])
    if f"status codes: {options.pushes} 2xx" not in output:
        sys.exit(f"h2load did not get {options.pushes} answers of 200 from {url}:\n{output}")
    line = next(line for line in output.splitlines() if line.startswith("finished in"))
    return cpu, float(line.split(",")[1].split()[0])


def nio_push(options, url, path, flags, _):
    cpu, output = cpu_of_command([NIO, "-n", str(options.pushes), "-m", str(options.streams), *flags, url + path])
    return cpu, float(output.split(", ")[1].split()[0])


def hey(options, url, path, flags, _):
    # Its flags are h2load's, but for the payload's.
    own = [word.replace("-d", "-D", 1) if word == "-d" else word for word in flags]
    pushes = options.pushes // HEY
    cpu, output = cpu_of_command(
        ["hey", "-n", str(pushes), "-c", str(options.streams), "-h2", "-m", "POST", *own, url + path])
    if f"[200]\t{pushes} responses" not in output:
        sys.exit(f"hey did not get {pushes} answers of 200 from {url}:\n{output}")
    line = next(line for line in output.splitlines() if "Requests/sec" in line)
    return cpu, float(line.split()[1])


def pushload(executable, engine, *more):
    def run(options, url, path, flags, folder):
        cpu, output = cpu_of_command([
            executable, "run", "-n", str(options.pushes), "-c", "1", "-m", str(options.streams), "--engine", engine,
            "--target", url, "--credentials", f"{folder}/credentials", "--device-file", f"{folder}/devices", "--quiet",
            "--json", "--output", os.path.join(folder, "runs"), *more])
        return cpu, json.loads(output)["throughput"]["answered_per_second"]
    return run


def spread(values, digits=2):
    return f"{statistics.median(values):,.{digits}f} ({min(values):,.{digits}f}–{max(values):,.{digits}f})"


def versions():
    first = lambda command: subprocess.run(
        command, shell=True, capture_output=True, text=True).stdout.strip().splitlines()[0]
    return (f"{tables.machine()}; commit {tables.commit()}, {datetime.date.today()}; {first('h2load --version')}; "
            f"{first('nginx -v 2>&1')}; {first('nghttpd --version')}; {first('openssl version')}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pushes", type=int, default=400_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--streams", type=int, default=500)
    parser.add_argument("--write", metavar="FILE", help="write the tables to this file")
    options = parser.parse_args()
    need(("h2load", "nghttp2-client"), ("nginx", "nginx-light"), ("nghttpd", "nghttp2-server"))
    clients = {"h2load": h2load, "pushload wire": pushload(f"{BUILD}/pushload", "wire"),
               "pushload wire, read batch 50 us": pushload(f"{BUILD}/pushload", "wire", "--read-batch", "50us"),
               "pushload nghttp2": pushload(f"{BUILD}/pushload", "nghttp2")}
    if os.access(NIO, os.X_OK):
        clients["SwiftNIO"] = nio_push
    if shutil.which("hey"):
        clients["hey"] = hey
    figures = {}
    # h2load never looks at SETTINGS again, so that it must be allowed all streams from the start.
    with tempfile.TemporaryDirectory() as folder, \
            running_mock(folder, "--all-streams-at-once", "--devices", "1M") as (mock, start, credentials):
        flags, path = h2load_headers(folder, credentials)
        with open(f"{folder}/devices", "w") as file:
            file.write(path.rsplit("/", 1)[1] + "\n")
        with nginx(folder, credentials) as other, nghttpd(folder, credentials, path) as third:
            servers = {"mock-apns": (mock.pid, start["url"]), "nginx": other, "nghttpd": third}
            for number in range(options.rounds):
                for server, (pid, url) in servers.items():
                    for client, run in clients.items():
                        before = cpu_of_process(pid)
                        cpu, rate = run(options, url, path, flags, folder)
                        own = figures.setdefault((client, server), {"rate": [], "client": [], "server": []})
                        own["rate"].append(rate / 1000)
                        sent = options.pushes // HEY if client == "hey" else options.pushes
                        own["client"].append(cpu / sent * 1e6)
                        own["server"].append((cpu_of_process(pid) - before) / sent * 1e6)
                print(f"round {number + 1} of {options.rounds}", file=sys.stderr)

    def ratio(kind, above, below):
        return spread([a / b for a, b in zip(figures[above][kind], figures[below][kind])])

    lines = [
        "# Beside its peers", "",
        f"`{os.path.relpath(os.path.abspath(__file__), ROOT)} --pushes {options.pushes} --rounds {options.rounds} "
        f"--streams {options.streams}` (`make bench-peers`): one connection, {options.streams} streams, "
        f"{options.pushes:,} pushes a run, client and server share the machine. Medians of {options.rounds} alternated "
        "rounds, least and most in brackets. pushload generates, signs, measures and accounts for every push; h2load, SwiftNIO and "
        f"hey send one and the same; hey sends {options.pushes // HEY:,}. mock-apns checks every push; nginx and nghttpd answer anything.", "",
        versions() + ".", "",
        "| client | server | 1,000 pushes/s | client CPU a push, µs | server CPU a push, µs |", "| --- | --- | --- | --- | --- |"]
    for (client, server), own in figures.items():
        lines.append(f"| {client} | {server} | {spread(own['rate'], 0)} | {spread(own['client'])} | {spread(own['server'])} |")
    lines += ["", "| ratio | median (least–most) |", "| --- | --- |"]
    for client in list(clients)[1:]:
        for server in servers:
            lines.append(f"| client CPU, {client} to h2load, against {server} | "
                         f"{ratio('client', (client, server), ('h2load', server))} |")
    for server in ("nginx", "nghttpd"):
        lines.append(f"| server CPU, mock-apns to {server}, under h2load | "
                     f"{ratio('server', ('h2load', 'mock-apns'), ('h2load', server))} |")
    lines.append("| throughput, pushload wire with mock-apns to h2load with nginx | "
                 f"{ratio('rate', ('pushload wire', 'mock-apns'), ('h2load', 'nginx'))} |")
    text = "\n".join(lines) + "\n"
    print(text)
    if options.write:
        with open(options.write, "w") as file:
            file.write(text)


if __name__ == "__main__":
    main()
