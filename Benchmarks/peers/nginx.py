#!/usr/bin/env python3
"""Server CPU a push of mock-apns, with all its checks on, beside nginx' (`return 200`, HTTP/2 and TLS), under the same
h2load command, in alternation.

Needs: a release build (`make build`), h2load (Debian: nghttp2-client) and nginx (Debian: nginx-light).

    Benchmarks/peers/nginx.py [--pushes 200000] [--rounds 5]
"""

import argparse
import os
import socket
import statistics
import subprocess
import sys
import tempfile
import time

from common import cpu_of_command, cpu_of_process, h2load_headers, need, running_mock

CONFIGURATION = """
daemon off;
worker_processes 1;
pid {folder}/nginx.pid;
error_log {folder}/error.log;
events {{ worker_connections 1024; }}
http {{
    access_log off;
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
    keepalive_requests 1000000000;
    http2_max_concurrent_streams 1000;
    server {{
        listen 127.0.0.1:{port} ssl http2;
        ssl_certificate {credentials}/server.pem;
        ssl_certificate_key {credentials}/server.key;
        location / {{ return 200; }}
    }}
}}
"""


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def worker_of(master):
    """The pid of nginx' one worker."""
    for _ in range(500):
        with open(f"/proc/{master}/task/{master}/children") as file:
            children = file.read().split()
        if children:
            return int(children[0])
        time.sleep(0.01)
    sys.exit("nginx did not start a worker")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pushes", type=int, default=200_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--streams", type=int, default=500)
    options = parser.parse_args()
    need(("h2load", "nghttp2-client"), ("nginx", "nginx-light"))
    costs = {"nginx": [], "mock-apns": []}
    with tempfile.TemporaryDirectory() as folder, \
            running_mock(folder, "--all-streams-at-once", "--devices", "1M") as (mock, start, credentials):
        flags, path = h2load_headers(folder, credentials)
        port = free_port()
        with open(f"{folder}/nginx.conf", "w") as file:
            file.write(CONFIGURATION.format(folder=folder, port=port, credentials=credentials))
        nginx = subprocess.Popen(["nginx", "-c", f"{folder}/nginx.conf"], stderr=subprocess.DEVNULL)
        try:
            servers = {"nginx": (worker_of(nginx.pid), f"https://127.0.0.1:{port}"),
                       "mock-apns": (mock.pid, start["url"])}
            for _ in range(options.rounds):
                for name, (pid, url) in servers.items():
                    before = cpu_of_process(pid)
                    _, output = cpu_of_command(
                        ["h2load", "-n", str(options.pushes), "-c", "1", "-t", "1", "-m", str(options.streams), *flags,
                         url + path])
                    if f"status codes: {options.pushes} 2xx" not in output:
                        sys.exit(f"{name} did not give {options.pushes} answers of 200:\n{output}")
                    costs[name].append((cpu_of_process(pid) - before) / options.pushes * 1e6)
        finally:
            nginx.terminate()
            nginx.wait()
    ratios = [ours / theirs for ours, theirs in zip(costs["mock-apns"], costs["nginx"])]
    print(f"{options.pushes} pushes by h2load, 1 connection, {options.streams} streams, {options.rounds} rounds; "
          "server CPU a push, us")
    print(f"{'server':<12}{'median':>8}{'min':>8}{'max':>8}")
    for name, values in costs.items():
        print(f"{name:<12}{statistics.median(values):>8.2f}{min(values):>8.2f}{max(values):>8.2f}")
    print(f"ratio mock-apns to nginx: {statistics.median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f})")


if __name__ == "__main__":
    main()
