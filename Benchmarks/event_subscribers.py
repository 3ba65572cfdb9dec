#!/usr/bin/env python3
"""What attached event streams (simulated devices) cost mock-apns: memory a subscriber, and whether each gets its push.

Needs a release build (`make build`).

    Benchmarks/event_subscribers.py [--subscribers 10000]
"""

import argparse
import os
import resource
import socket
import subprocess
import sys
import tempfile
import time
import urllib.parse

from peers.common import BUILD, need, resident, running_mock


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--subscribers", type=int, default=10_000)
    options = parser.parse_args()
    need()
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    with tempfile.TemporaryDirectory() as folder, \
            running_mock(folder, "--admin-port", "0", "--devices", str(options.subscribers)) as (mock, start, credentials):
        tokens = subprocess.run(
            [f"{BUILD}/pushload", "device-token", "0", "--count", str(options.subscribers)], capture_output=True, text=True,
            check=True).stdout.split()
        admin = urllib.parse.urlparse(start["endpoints"]["admin"])
        before = resident(mock.pid)
        streams = []
        for token in tokens:
            stream = socket.create_connection((admin.hostname, admin.port))
            stream.sendall(f"GET /events?token={token} HTTP/1.1\r\nHost: mock\r\n\r\n".encode())
            streams.append(stream)
        for stream in streams:
            received = b""
            while b": ready\n\n" not in received:
                received += stream.recv(4096)
        each = (resident(mock.pid) - before) / options.subscribers
        begun = time.monotonic()
        subprocess.run(
            [f"{BUILD}/pushload", "run", "-n", str(options.subscribers), "--devices", str(options.subscribers),
             "--target", start["url"], "--credentials", credentials, "--quiet", "--output", f"{folder}/runs"],
            check=True, stdout=subprocess.DEVNULL)
        served = 0
        for stream, token in zip(streams, tokens):
            stream.settimeout(10)
            received = b""
            while b"\n\n" not in received:
                received += stream.recv(8192)
            served += f'"token":"{token}"'.encode() in received
        print(f"{options.subscribers} subscribers: {each:,.0f} bytes each; {served} got the push to their device, "
              f"{time.monotonic() - begun:.1f} s for all")


if __name__ == "__main__":
    main()
