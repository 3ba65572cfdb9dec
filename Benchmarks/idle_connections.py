#!/usr/bin/env python3
"""What idle connections cost mock-apns: memory held for them, and throughput taken from one connection that is busy.

Opens connections that finish TLS and HTTP/2's preface and then say nothing, and runs pushload over one more connection
with and without them, in alternation. Needs a release build (`make build`).

    Benchmarks/idle_connections.py [--connections 10000] [--pushes 500000] [--rounds 3]
"""

import argparse
import json
import os
import resource
import socket
import ssl
import statistics
import subprocess
import sys
import tempfile
import time

from peers.common import BUILD, need, resident, running_mock

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + bytes([0, 0, 0, 4, 0, 0, 0, 0, 0]) + bytes([0, 0, 0, 4, 1, 0, 0, 0, 0])


def throughput(url, credentials, folder, pushes):
    output = os.path.join(folder, "runs")
    done = subprocess.run(
        [f"{BUILD}/pushload", "run", "-n", str(pushes), "-m", "500", "--target", url, "--credentials", credentials,
         "--json", "--quiet", "--output", output], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"pushload ended with {done.returncode}:\n{done.stderr}")
    result = json.loads(done.stdout)
    return result["pushes"]["accepted"] / result["run"]["duration_seconds"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--connections", type=int, default=10_000)
    parser.add_argument("--pushes", type=int, default=500_000)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    need()
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    if hard != resource.RLIM_INFINITY and hard < options.connections + 100:
        sys.exit(f"only {hard} file descriptors are allowed here: raise the limit or give fewer --connections")
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    with tempfile.TemporaryDirectory() as folder, running_mock(folder) as (mock, start, credentials):
        host, port = "127.0.0.1", start["port"]
        context = ssl.create_default_context(cafile=f"{credentials}/ca.pem")
        context.set_alpn_protocols(["h2"])
        alone, beside, before, memory = [], [], [], []
        for _ in range(options.rounds):
            alone.append(throughput(start["url"], credentials, folder, options.pushes))
            before.append(resident(mock.pid))
            idle = []
            for _ in range(options.connections):
                connection = context.wrap_socket(
                    socket.create_connection((host, port)), server_hostname=host)
                connection.sendall(PREFACE)
                idle.append(connection)
            time.sleep(0.5)
            memory.append(resident(mock.pid))
            beside.append(throughput(start["url"], credentials, folder, options.pushes))
            for connection in idle:
                connection.close()
            time.sleep(0.5)
    # Later rounds have memory again that the first took.
    each = (memory[0] - before[0]) / options.connections
    ratios = [busy / free for busy, free in zip(beside, alone)]
    print(f"{options.connections} idle connections: mock-apns holds {max(memory) / 1e6:.0f} MB, "
          f"about {each / 1000:.1f} kB a connection")
    print(f"one busy connection: {statistics.median(alone):,.0f} pushes/s alone, "
          f"{statistics.median(beside):,.0f} beside them; ratio {statistics.median(ratios):.3f} "
          f"({min(ratios):.3f} to {max(ratios):.3f})")


if __name__ == "__main__":
    main()
