#!/usr/bin/env python3
"""Holds a run of several workers against the same run of one process: which pushes arrived at the mocks, by a reader of their
ledgers of its own, and the percentiles of all against those of the workers' histograms added, by HdrHistogram's reader of PyPI.

    whole_run.py FOLDER ALONE LEDGER …      FOLDER: the rendezvous; ALONE: the id of the other run; LEDGER: of each mock

Prints JSON: pushes that arrived of either run, those that only one of them has, how many each mock has, arrivals that repeated a
push at whichever mock, and total, p50, p90, p99, p99.9 of shards and result.
"""

import json
import struct
import sys

from hdrh.histogram import HdrHistogram

LONGEST = 3_600_000_000_000  # ns, as results have it
PERCENTILES = {"p50": 50, "p90": 90, "p99": 99, "p99_9": 99.9}


def arrived(path, run):
    """The numbers of the pushes of a run in a mock's ledger, and how many arrivals repeated one."""
    with open(path, "rb") as file:
        content = file.read()
    assert content[:8] == b"PUSHLDG2", f"{path}: another format"
    at, pushes, repeated = 16, set(), 0
    for _ in range(struct.unpack_from("<Q", content, 8)[0]):
        number, bits, again, _ = struct.unpack_from("<4Q", content, at)
        at += 32
        if number == run:
            repeated += again
            pushes |= {8 * place + bit for place, byte in enumerate(content[at:at + bits // 8]) for bit in range(8)
                       if byte >> bit & 1}
        at += bits // 8
    assert at + 8 == len(content), f"{path}: {len(content) - at} bytes at the end, expected a check of 8"
    return pushes, repeated


def united(paths, run):
    each = [arrived(path, run) for path in paths]
    pushes = set().union(*(one for one, _ in each))
    repeated = sum(again for _, again in each) + sum(len(one) for one, _ in each) - len(pushes)
    return pushes, [len(one) for one, _ in each], repeated


def read(path):
    with open(path) as file:
        return json.load(file)


def main():
    folder, alone, ledgers = sys.argv[1], int(sys.argv[2], 16), sys.argv[3:]
    run = read(f"{folder}/run.json")
    result = read(f"{folder}/result.json")
    summed = HdrHistogram(1, LONGEST, 3)
    for worker in range(run["workers"]):
        summed.add(HdrHistogram.decode(read(f"{folder}/worker-{worker}/result.json")["histograms"]["total"]))
    total = result["latency_ns"]["total"]
    (one, _, _), (all_, each, repeated) = united(ledgers, alone), united(ledgers, int(run["id"], 16))
    print(json.dumps({
        "alone": len(one),
        "together": len(all_),
        "apart": len(one ^ all_),
        "mocks": each,
        "repeated": repeated,
        "shards": [summed.get_total_count()] + [summed.get_value_at_percentile(at) for at in PERCENTILES.values()],
        "result": [total["count"]] + [total[name] for name in PERCENTILES],
    }))


if __name__ == "__main__":
    main()
