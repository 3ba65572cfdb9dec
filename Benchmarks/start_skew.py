#!/usr/bin/env python3
"""How far apart the workers of a run start: the rules of the start (Sources/Workers: `StartGate`, `Heartbeat`, `WorkerClock`) played
through with drawn clocks and drawn times that files take, without a network or a program.

Each worker writes a beat, by its own clock. The first worker looks at all of them, gives the start once it has seen everybody ready and
alive, and writes with it when it saw each beat that came soonest. Each worker reads that and works out how far its clock is off, to
within half of what both files took; it corrects an offset that is larger than that. Printed: how far from the giver's start the
others' are (median, 99th percentile, most), the bound they knew of (median), and which share read of it more than 0.1 s late.

    Benchmarks/start_skew.py [--seed 1] [--runs 20] [--write docs/scaling.md]
"""

import argparse
import random
import statistics

import tables

LEAD = 2.0  # seconds from the moment that all were seen to the start, besides four looks


def pause(workers):
    """Seconds between two looks of a worker that waits."""
    return min(1.0, 0.02 * (1 + workers // 50))


def beats(workers):
    """Seconds between two beats of a worker that waits."""
    return 0.1 if workers <= 50 else 1.0


def run(draw, workers, delay, spread):
    """One start: of each worker but the giver its error and its bound, seconds, and whether it read of it late."""
    clocks = [draw.gauss(0, spread) for _ in range(workers)]
    look, beat = pause(workers), beats(workers)

    def arrival():
        return draw.uniform(0.5, 1.5) * delay

    ready = [draw.uniform(0, 5) for _ in range(workers)]
    end = max(ready) + 2 * beat + 2 * delay + 2 * look
    soonest = []
    for worker in range(workers):
        phase = draw.uniform(0, look)
        best, time = None, ready[worker]
        while time < end:
            seen_from = time + arrival()
            # The next look after it has come.
            passed = (seen_from - phase) / look
            seen = phase + look * (int(passed) + 1)
            own, others = time + clocks[worker], seen + clocks[0]
            if seen <= end and (best is None or others - own < best[1] - best[0]):
                best = (own, others)
            time += beat
        soonest.append(best)
    given = end + look
    written = given + clocks[0]
    start = written + LEAD + 4 * look
    errors = []
    for worker in range(1, workers):
        read = given + arrival() + draw.uniform(0, look)
        t1, t2 = soonest[worker] or (0, 0)
        t3, t4 = written, read + clocks[worker]
        offset, bound = ((t2 - t1) + (t3 - t4)) / 2, max(0, ((t2 - t1) + (t4 - t3)) / 2)
        own = start - offset if abs(offset) > bound else start
        began = own - clocks[worker]
        errors.append((abs(began - (start - clocks[0])), bound, read > began + 0.1))
    return errors


def text(seconds):
    return f"{seconds * 1e3:.1f} ms" if seconds < 1 else f"{seconds:.2f} s"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--write", metavar="FILE", help="put the table into this document")
    options = parser.parse_args()
    lines = ["| workers | files take | clocks differ by | apart: median | p99 | most | known to within | late |",
             "| ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |"]
    for workers in (2, 10, 100, 1000):
        for delay in (0.001, 0.05, 3):
            for spread in (0.001, 2):
                draw = random.Random(f"{options.seed} {workers} {delay} {spread}")
                errors = [error for _ in range(options.runs) for error in run(draw, workers, delay, spread)]
                apart = sorted(error for error, _, _ in errors)
                late = sum(is_late for _, _, is_late in errors) / len(errors)
                lines.append(f"| {workers:,} | {text(delay)} | {text(spread)} | {text(statistics.median(apart))} | "
                             f"{text(apart[int(0.99 * (len(apart) - 1))])} | {text(apart[-1])} | "
                             f"{text(statistics.median(bound for _, bound, _ in errors))} | {100 * late:.0f} % |")
                print(lines[-1], flush=True)
    if options.write:
        tables.write(options.write, "start skew", "\n".join(lines), f"Benchmarks/start_skew.py --seed {options.seed} --runs {options.runs}")


if __name__ == "__main__":
    main()
