#!/usr/bin/env python3
"""What hostile clients cost mock-apns: memory, and throughput taken from a client that behaves.

For each kind of hostility opens connections that go as far with it as they are let, twice over, and then holds them: ten a
second go on, and are made again where the mock has ended them. Without them and beside them pushload sends, in alternation, once the
mock has worked off what all of them sent at first; a rate is the median of `--runs` runs. (Hostile clients that do without pause what
good ones do, such as handshakes, have their share of the processor; that is not measured.) Needs a release build (`make build`).

    Benchmarks/hostile_clients.py [--connections 10000] [--pushes 300000] [--runs 5] [--rounds 2] [--kinds unread,...]
"""

import argparse
import functools
import json
import multiprocessing
import os
import resource
import socket
import ssl
import statistics
import subprocess
import sys
import tempfile
import time

from peers.common import BUILD, need, running_mock

LARGEST = (2**31 - 1).to_bytes(4, "big")


def frame(kind, flags=0, stream=0, payload=b""):
    return len(payload).to_bytes(3, "big") + bytes([kind, flags]) + stream.to_bytes(4, "big") + payload


def text(value):
    return bytes([len(value)]) + value.encode()


PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
PUSH = b"\x83\x86\x04" + text("/3/device/" + "0a" * 32) + b"\x01" + text("a")
GET = b"\x82\x86\x84"
DATA, HEADERS, RESET, SETTINGS, PING, WINDOW, CONTINUATION = 0, 1, 3, 4, 6, 8, 9
OPEN, SHUT = (frame(SETTINGS, payload=b"\x00\x04" + size) for size in (LARGEST, bytes(4)))


def unread(streams):
    """Requests whose answers are never read, by a client whose windows are as wide as can be."""
    return (OPEN + frame(WINDOW, payload=(2**31 - 1 - 65_535).to_bytes(4, "big")),
            b"".join(frame(HEADERS, 5, stream, GET) for stream in streams))


def half_requests(streams):
    """Requests whose payloads never end."""
    return frame(SETTINGS), b"".join(
        frame(HEADERS, 4, stream, PUSH) + frame(DATA, 0, stream, b" " * 100) for stream in streams)


def half_headers(streams):
    """A header block of 30 KB that never ends."""
    return frame(SETTINGS), frame(HEADERS, 0, streams[0], PUSH + b"\x00" + text("x") + b"\x7f\x81\x7e" + b"x" * 16_000) + (
        frame(CONTINUATION, 0, streams[0], b"x" * 14_000))


def shut_windows(streams):
    """Requests whose answers wait for a window of 0."""
    return SHUT, b"".join(frame(HEADERS, 5, stream, GET) for stream in streams)


def resets(streams):
    """Streams that are opened and reset at once."""
    return frame(SETTINGS), b"".join(
        frame(HEADERS, 4, stream, PUSH) + frame(RESET, 0, stream, bytes(4)) for stream in streams)


def pings(streams):
    """PING whose answers are never read."""
    return frame(SETTINGS), frame(PING, payload=bytes(8)) * len(streams)


def admin(streams):
    """Requests to the admin port: most of a megabyte of a fault plan that never ends, and pages that are never read."""
    if streams[0] % 4 == 1:
        return b"", b"PUT /faults HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000\r\n\r\n" + b" " * 900_000
    return b"", b"GET /metrics HTTP/1.1\r\nHost: a\r\n\r\n" * 20


KINDS = [unread, half_requests, half_headers, shut_windows, resets, pings, admin]
# Streams whose requests one connection sends at a time.
BATCH = 500


def attack(kind, ports, count, authority, ready, stop):
    """Holds `count` connections open, and goes on with what it does on each in turn; see above."""
    is_admin = kind is admin
    # A kind's requests are the same on all connections.
    said = functools.lru_cache(lambda stream: kind(range(stream, stream + 2 * BATCH, 2))[1])
    context = ssl.create_default_context(cafile=authority)
    context.set_alpn_protocols(["h2"])
    connections = {}

    def connect(number):
        connection = socket.socket()
        # What a client's own kernel holds is not the mock's, but on one host both draw on the same memory.
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 16_384)
        connection.connect(("127.0.0.1", ports[is_admin]))
        if not is_admin:
            connection = context.wrap_socket(connection, server_hostname="127.0.0.1")
            connection.sendall(PREFACE + kind(range(1, 2))[0])
        connection.setblocking(False)
        connections[number] = [connection, 1 + 2 * (number % 4), b""]

    steps = 0
    while not stop.is_set():
        number = steps % count
        steps += 1
        if steps > 2 * count:
            ready.set()
            time.sleep(0.1)
        try:
            if number not in connections:
                if count < steps <= 2 * count:
                    continue
                connect(number)
            connection, stream, rest = connections[number]
            if not rest:
                rest = said(stream)
                connections[number][1] = stream + 2 * BATCH
            sent = connection.send(rest)
            connections[number][2] = rest[sent:]
        except (BlockingIOError, ssl.SSLWantWriteError, ssl.SSLWantReadError):
            pass
        except OSError:
            if number in connections:
                connections.pop(number)[0].close()


def throughput(url, credentials, folder, options):
    return statistics.median(rate(url, credentials, folder, options.pushes) for _ in range(options.runs))


def rate(url, credentials, folder, pushes):
    done = subprocess.run(
        [f"{BUILD}/pushload", "run", "-n", str(pushes), "-m", "500", "--target", url, "--credentials", credentials,
         "--json", "--quiet", "--output", os.path.join(folder, "runs")], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"pushload ended with {done.returncode}:\n{done.stderr}")
    result = json.loads(done.stdout)
    return result["pushes"]["accepted"] / result["run"]["duration_seconds"]


def settle(pid):
    """Waits until a process uses less than a quarter of a core."""
    def used():
        with open(f"/proc/{pid}/stat") as file:
            return sum(int(ticks) for ticks in file.read().rsplit(")", 1)[1].split()[11:13])
    before = used()
    for _ in range(300):
        time.sleep(1)
        now = used()
        if now - before < os.sysconf("SC_CLK_TCK") / 4:
            return
        before = now
    sys.exit("the mock is still busy after 300 s")


def measure(kind, options):
    """Pushes a second alone and beside the hostile clients, and the most memory of the mock."""
    alone, beside = [], []
    with tempfile.TemporaryDirectory() as folder, running_mock(folder, "--admin-port", "0") as (mock, start, credentials):
        ports = [start["port"], int(start["endpoints"]["admin"].rsplit(":", 1)[1])]
        for _ in range(options.rounds):
            settle(mock.pid)
            alone.append(throughput(start["url"], credentials, folder, options))
            ready, stop = multiprocessing.Event(), multiprocessing.Event()
            hostile = multiprocessing.Process(
                target=attack, args=(kind, ports, options.connections, f"{credentials}/ca.pem", ready, stop), daemon=True)
            hostile.start()
            if not ready.wait(300):
                sys.exit(f"{kind.__name__}: the connections are not there after 300 s")
            settle(mock.pid)
            beside.append(throughput(start["url"], credentials, folder, options))
            stop.set()
            hostile.join()
        with open(f"/proc/{mock.pid}/status") as file:
            peak = next(int(line.split()[1]) * 1024 for line in file if line.startswith("VmHWM:"))
    return alone, beside, peak


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--connections", type=int, default=10_000)
    parser.add_argument("--pushes", type=int, default=300_000)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--kinds", default=",".join(kind.__name__ for kind in KINDS))
    options = parser.parse_args()
    need()
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    if hard != resource.RLIM_INFINITY and hard < options.connections + 100:
        sys.exit(f"only {hard} file descriptors are allowed here: raise the limit or give fewer --connections")
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    print("| hostile clients | most memory of the mock | good client alone | beside them | ratio |")
    print("| --- | --- | --- | --- | --- |")
    for kind in KINDS:
        if kind.__name__ not in options.kinds.split(","):
            continue
        alone, beside, peak = measure(kind, options)
        ratio = statistics.median(busy / free for busy, free in zip(beside, alone))
        print(f"| {kind.__name__} | {peak / 1e6:.0f} MB | {statistics.median(alone):,.0f}/s "
              f"| {statistics.median(beside):,.0f}/s | {ratio:.2f} |", flush=True)


if __name__ == "__main__":
    main()
