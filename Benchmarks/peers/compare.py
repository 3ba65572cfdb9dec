#!/usr/bin/env python3
"""Each client against each server, in alternation: rate, CPU a push of both sides, and the ratios that matter.

Clients: h2load, pushload's engines, `wire` with `--read-batch` too, and five that send a 25th of the pushes: SwiftNIO
with NIOSSL (nio-push, the stack under APNSwift and AsyncHTTPClient), hey, aioapns (Python), Go's net/http and Java's
java.net.http. Servers: mock-apns with all its checks on, nginx (`return 200`) and nghttpd (an empty file). All over TLS
1.3, one connection (hey begins with many), the same payload and headers, one device token. Whole processes are
compared.

Needs: a release build (`make build`), h2load and nghttpd (Debian: nghttp2-client, nghttp2-server) and nginx (Debian:
nginx-light). The others are left out, and named, unless they are there: hey (Debian: hey), Go and Java, which are
compiled first (golang-go, default-jdk-headless), aioapns (`make .build/python/installed`) and SwiftNIO
(`swift build -c release --package-path Benchmarks/peers/nio`).

    Benchmarks/peers/compare.py [--pushes 1000000] [--rounds 5] [--streams 500] [--write results/peers.md]
"""

import argparse
import datetime
import os
import statistics
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

import tables
from clients import SHARE, SLOW, VERSIONS, available
from common import ROOT, cpu_of_process, h2load_headers, need, running_mock
from servers import nghttpd, nginx


def spread(values, digits=2):
    return f"{statistics.median(values):,.{digits}f} ({min(values):,.{digits}f}–{max(values):,.{digits}f})"


def versions(clients):
    first = lambda command: subprocess.run(
        command, shell=True, capture_output=True, text=True).stdout.strip().splitlines()[0]
    tools = ["h2load --version", "nginx -v 2>&1", "nghttpd --version", "openssl version"]
    tools += [command for client, command in VERSIONS.items() if client in clients]
    return "; ".join([f"{tables.machine()}; commit {tables.commit()}, {datetime.date.today()}", *map(first, tools)])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pushes", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--streams", type=int, default=500)
    parser.add_argument("--write", metavar="FILE", help="write the tables to this file")
    options = parser.parse_args()
    need(("h2load", "nghttp2-client"), ("nginx", "nginx-light"), ("nghttpd", "nghttp2-server"))
    figures = {}
    # h2load never looks at SETTINGS again, so that it must be allowed all streams from the start.
    with tempfile.TemporaryDirectory() as folder, \
            running_mock(folder, "--all-streams-at-once", "--devices", "1M") as (mock, start, credentials):
        clients = available(folder)
        flags, path = h2load_headers(folder, credentials)
        with open(f"{folder}/devices", "w") as file:
            file.write(path.rsplit("/", 1)[1] + "\n")
        with nginx(folder, credentials) as other, nghttpd(folder, credentials, path) as third:
            servers = {"mock-apns": (mock.pid, start["url"]), "nginx": other, "nghttpd": third}
            for number in range(options.rounds):
                for server, (pid, url) in servers.items():
                    for client, run in clients.items():
                        sent = options.pushes // SHARE if client in SLOW else options.pushes
                        before = cpu_of_process(pid)
                        cpu, rate = run(sent, options.streams, url, path, flags, folder)
                        own = figures.setdefault((client, server), {"rate": [], "client": [], "server": []})
                        own["rate"].append(rate / 1000)
                        own["client"].append(cpu / sent * 1e6)
                        own["server"].append((cpu_of_process(pid) - before) / sent * 1e6)
                print(f"round {number + 1} of {options.rounds}", file=sys.stderr)

    def ratio(kind, above, below):
        return spread([a / b for a, b in zip(figures[above][kind], figures[below][kind])])

    slow = ", ".join(client for client in clients if client in SLOW)
    lines = [
        "# Beside its peers", "",
        f"`{os.path.relpath(os.path.abspath(__file__), ROOT)} --pushes {options.pushes} --rounds {options.rounds} "
        f"--streams {options.streams}` (`make bench-peers`): one connection (hey begins with many), {options.streams} "
        "streams, "
        f"{options.pushes:,} pushes a run, client and server share the machine. Medians of {options.rounds} alternated "
        "rounds, least and most in brackets. pushload generates, signs, measures and accounts for every push; the "
        "others send one and the same"
        + (f"; {options.pushes // SHARE:,} a run: {slow}" if slow else "")
        + (". Much of what Java takes for so few is its compiler's" if "Java HttpClient" in clients else "")
        + ". mock-apns checks every push; nginx and nghttpd answer anything.", "",
        versions(clients) + ".", "",
        "| client | server | 1,000 pushes/s | client CPU a push, µs | server CPU a push, µs |",
        "| --- | --- | --- | --- | --- |"]
    for (client, server), own in figures.items():
        lines.append(f"| {client} | {server} | {spread(own['rate'], 0)} | {spread(own['client'])} | "
                     f"{spread(own['server'])} |")
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
