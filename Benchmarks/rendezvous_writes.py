#!/usr/bin/env python3
"""What the workers of a run write into the folder that they share, counted by the kernel (inotify).

Starts `--workers` workers on this machine against a mock of its own, and prints for each kind of file how often a worker put one into
place while the run went on, and how large it was. Needs a release build (`make build`).

    Benchmarks/rendezvous_writes.py [--workers 8] [--seconds 20] [--rate 2k]
"""

import argparse
import collections
import ctypes
import os
import select
import struct
import subprocess
import sys
import tempfile
import time

from peers.common import BUILD, need, running_mock

MOVED_TO = 0x80


class Watch:
    """Counts files that are renamed into some folders."""

    def __init__(self):
        self.libc = ctypes.CDLL(None, use_errno=True)
        self.descriptor = self.libc.inotify_init()
        self.folders, self.counts, self.bytes = {}, collections.Counter(), collections.Counter()

    def add(self, folder):
        number = self.libc.inotify_add_watch(self.descriptor, folder.encode(), MOVED_TO)
        if number < 0:
            sys.exit(f"cannot watch {folder}: {os.strerror(ctypes.get_errno())}")
        self.folders[number] = folder

    def read(self, seconds):
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            if not select.select([self.descriptor], [], [], left)[0]:
                break
            data, place = os.read(self.descriptor, 1 << 16), 0
            while place < len(data):
                number, _, _, length = struct.unpack_from("iIII", data, place)
                name = data[place + 16:place + 16 + length].split(b"\0")[0].decode()
                place += 16 + length
                self.counts[name] += 1
                try:
                    self.bytes[name] += os.path.getsize(f"{self.folders[number]}/{name}")
                except OSError:
                    pass


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--workers", type=int, default=8)
    parser.add_argument("--seconds", type=int, default=20)
    parser.add_argument("--rate", default="2k")
    options = parser.parse_args()
    need()
    with tempfile.TemporaryDirectory() as folder, running_mock(folder) as (_, start, credentials):
        shared = f"{folder}/run"
        workers = [
            subprocess.Popen(
                [f"{BUILD}/pushload", "run", "--rate", options.rate, "-D", f"{options.seconds + 10}s", "-c",
                 str(options.workers), "--quiet", "--target", start["url"], "--credentials", credentials, "--worker",
                 f"{worker}/{options.workers}", "--rendezvous", shared], stdout=subprocess.DEVNULL)
            for worker in range(options.workers)]
        while not os.path.exists(f"{shared}/start.json"):
            if any(worker.poll() is not None for worker in workers):
                sys.exit("a worker ended before the start")
            time.sleep(0.05)
        time.sleep(5)
        watch = Watch()
        for worker in range(options.workers):
            watch.add(f"{shared}/worker-{worker}")
        watch.read(options.seconds)
        for worker in workers:
            worker.wait()
    for name, count in watch.counts.most_common():
        print(f"{name}: {count / options.workers / options.seconds:.2f} a second and worker, "
              f"{watch.bytes[name] / count:,.0f} bytes each")
    print(f"in all: {sum(watch.counts.values()) / options.workers / options.seconds:.1f} files and "
          f"{sum(watch.bytes.values()) / options.workers / options.seconds / 1000:.1f} kB a second and worker")


if __name__ == "__main__":
    main()
