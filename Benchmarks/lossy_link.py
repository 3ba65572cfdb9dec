#!/usr/bin/env python3
"""Runs a command in a network namespace with a link that delays and loses packets, where the system has no netem.

    Benchmarks/lossy_link.py --rtt 20ms --loss 0.1% [--congestion reno] [--seed 1] -- COMMAND …

What the command sends to 10.99.0.2 comes back to 10.99.0.1, the namespace's own address, half a round trip later, as if 10.99.0.2
had sent it: a server on any address of the namespace is reached over the link as 10.99.0.2, which LINK_BEYOND tells the command. Each packet, of either direction, is lost
with the chance asked for; there is no limit to the rate, and nothing overtakes. TCP on both ends is the system's, with the congestion control asked for: BBR hardly minds loss, and Reno is allowed everywhere. Packets go through a
TUN device whose two addresses are exchanged, which leaves the checksums of IP and TCP as they were. Ends with the status of the
command; needs the right to make a network namespace.
"""

import argparse
import collections
import ctypes
import fcntl
import os
import random
import select
import struct
import subprocess
import sys
import time

TUNSETIFF, IFF_TUN, IFF_NO_PI = 0x400454CA, 0x0001, 0x1000
CLONE_NEWNET = 0x40000000
HERE, BEYOND, MTU = "10.99.0.1", "10.99.0.2", 1500


def share(text):
    value = float(text.removesuffix("%")) / 100
    if not text.endswith("%") or not 0 <= value < 1:
        raise argparse.ArgumentTypeError(f"{text}: a loss is written as 0.1%, from 0% to below 100%")
    return value


def seconds(text):
    if not text.endswith("ms") or not 0 <= float(text[:-2]) <= 10_000:
        raise argparse.ArgumentTypeError(f"{text}: a round trip is written as 20ms, up to 10000ms")
    return float(text[:-2]) / 1e3


def device(congestion):
    """The TUN device of a namespace made for this process."""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(CLONE_NEWNET) != 0:
        sys.exit(f"no network namespace can be made: {os.strerror(ctypes.get_errno())}")
    try:
        with open("/proc/sys/net/ipv4/tcp_congestion_control", "w") as file:
            file.write(congestion)
    except OSError as error:
        sys.exit(f"--congestion {congestion}: {error.strerror}; expected one of /proc/sys/net/ipv4/tcp_allowed_congestion_control")
    tun = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
    fcntl.ioctl(tun, TUNSETIFF, struct.pack("16sH22x", b"link0", IFF_TUN | IFF_NO_PI))
    for command in ("link set lo up", f"link set link0 mtu {MTU} txqueuelen 100000 up", f"addr add {HERE} peer {BEYOND} dev link0"):
        subprocess.run(["ip", *command.split()], check=True)
    return tun


def forward(tun, delay, loss, draw, child):
    """Until the child has ended. Returns packets taken and lost, and how late the others left the link on average, seconds."""
    waiting = collections.deque()
    taken = lost = late = 0
    while child.poll() is None:
        now = time.monotonic()
        while waiting and waiting[0][0] <= now:
            due, packet = waiting.popleft()
            late += time.monotonic() - due
            os.write(tun, packet)
        wait = min(0.1, max(0, waiting[0][0] - time.monotonic())) if waiting else 0.1
        if not select.select([tun], [], [], wait)[0]:
            continue
        due = time.monotonic() + delay
        for _ in range(256):
            try:
                packet = os.read(tun, MTU + 100)
            except BlockingIOError:
                break
            if packet[0] >> 4 != 4:
                continue
            taken += 1
            if draw.random() < loss:
                lost += 1
            else:
                waiting.append((due, packet[:12] + packet[16:20] + packet[12:16] + packet[20:]))
    return taken, lost, late / max(1, taken - lost)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rtt", type=seconds, required=True)
    parser.add_argument("--loss", type=share, required=True)
    parser.add_argument("--congestion", default="reno")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("command", nargs="+")
    options = parser.parse_args()
    tun = device(options.congestion)
    child = subprocess.Popen(options.command, env=os.environ | {"LINK_BEYOND": BEYOND})
    taken, lost, late = forward(tun, options.rtt / 2, options.loss, random.Random(options.seed), child)
    # What came waited as long before it was read, as what went did before it was written.
    print(f"link: {taken:,} packets, {lost:,} lost, round trip longer by {4 * late / options.rtt:.1%}", file=sys.stderr)
    sys.exit(child.returncode if child.returncode >= 0 else 128 - child.returncode)


if __name__ == "__main__":
    main()
