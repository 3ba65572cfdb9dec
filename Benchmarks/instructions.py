#!/usr/bin/env python3
"""Instructions a push of every stage, and how often references are counted, by callgrind, held against instructions.json.

Unlike times, they are the same on a busy machine: a stage that moved by more than 2 % has changed. What the start of the
program costs is taken out by running a stage N and 2N times. Stages that are mostly OpenSSL's are left out: it picks its
code by the processor.

    Benchmarks/instructions.py [--update]                           # every stage beside what is committed
    Benchmarks/instructions.py --by-part [--write docs/performance.md]      # what client and mock together are made of
"""
import argparse
import collections
import concurrent.futures
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import tables

HERE = pathlib.Path(__file__).resolve().parent
COMMITTED = HERE / "instructions.json"
TOLERANCE = 0.02
PUSHES = 100_000
# The stage that holds all others, and how often references are counted in it: calls a push of swift_retain and swift_release,
# each an atomic operation.
WHOLE = "client-and-mock"
REFERENCES = "references-counted"
# None is counted for a push; what is left are those of a turn of the loop, of 64 pushes.
MOST_REFERENCES = 0.5
# What the start of the program costs differs from run to run (keys drawn, hashes seeded) by some 100,000 instructions:
# a stage is run often enough for that to be a small part of the tolerance.
LEAST_COUNTED = 40_000_000


# What client and mock together are made of: the functions of each part, by a piece of their demangled names; the first part that
# has one counts.
PARTS = [
    ("mock: payload as JSON", r"PayloadBytes|JSONWalk|JSONScratch|PayloadShape|RepeatedPayloads|ShapeNotes"),
    ("mock: rules", r"RequestChecks|HexDigits"),
    ("mock: request kept and handed on", r"MockSession\.did|MockSession\.begin|RequestState|HeaderPattern|in MockSession"),
    ("mock: frames, header block, streams", r"ServerSession|ServerStreams|RepeatedBlock|HPACKDecoder"),
    ("mock: answer", r"AnswerBlocks|MockSession|ResponseBlock|RandomUUID|TopicCounts"),
    ("mock: trace tag and ledger", r"TraceTag|LedgerMarks"),
    ("mock: connection and loop", r"MockConnection|MockWorker|HandDrivenMock|AnswerTimes"),
    ("client: schedule, streams that are free", r"WorkerDriver\.take|PushSupply|RetryQueue|PushClient|canSend|LaneQueue|Pace"),
    ("client: payload", r"PayloadWriter\.(write\(|profile|device\()|Digits|RandomText"),
    ("client: device token", r"PayloadWriter\.writeToken|SyntheticDevices"),
    ("client: provider token, composing", r"TokenSigner|WorkerDriver\.compose|PushComposer|CycleClock"),
    ("client: frames, header block", r"WireSession\.send|RequestEncoder|PushConnection\.(send|write|stamp|flush)|WorkerDriver\.written|Recorder\.sent"),
    ("client: answer", r"WireSession|StatusDecoder|PushConnection|ClientStreams|ClientSession"),
    ("client: books and histograms", r"WorkerDriver|Recorder|LatencyHistogram|RateWindow|TotalLatencies|SnapshotBox"),
    ("both: ledger's bit", r"DeliveryLedger"),
    ("both: copying and comparing", r"mem(cpy|cmp|move|set|chr)|bcmp"),
    ("both: event loop, clocks, system calls", r"Reactor|epoll|clock_gettime|SocketStream|SocketBIO|recv|send|read|write|MonotonicClock|vdso"),
    ("both: Swift's runtime", r"swift_|Swift|__tls_get_addr|Access\*"),
]


def build():
    subprocess.run(["make", "-C", HERE.parent, "build-benchmarks"], check=True, stdout=sys.stderr)
    program = HERE.parent / ".build/release/run-stage"
    # valgrind gives up over debug information that it does not know; names of functions are in the symbol table.
    plain = program.with_suffix(".plain")
    subprocess.run(["strip", "--strip-debug", "-o", plain, program], check=True)
    return plain


def count(program, stage, pushes):
    """All instructions of one run."""
    command = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", program, stage, str(pushes)]
    run = subprocess.run(command, capture_output=True, text=True)
    found = re.search(r"Collected : (\d+)", run.stderr)
    if run.returncode != 0 or not found:
        sys.exit(f"{' '.join(map(str, command))}: exit status {run.returncode}\n{run.stderr}")
    return int(found[1])


def measure(program, stage):
    pushes = PUSHES
    while (taken := count(program, stage, 2 * pushes) - count(program, stage, pushes)) < LEAST_COUNTED:
        pushes *= 10
    return taken / pushes


def counted_references(program, pushes):
    """Calls of one run that count a reference up or down."""
    with tempfile.NamedTemporaryFile("r") as profile:
        command = ["valgrind", "--tool=callgrind", "--compress-strings=no", f"--callgrind-out-file={profile.name}"]
        subprocess.run([*command, program, WHOLE, str(pushes)], check=True, capture_output=True)
        calls, called = 0, ""
        for line in profile:
            if line.startswith("cfn="):
                called = line[4:].strip()
            elif line.startswith("calls=") and called in ("swift_retain", "swift_release"):
                calls += int(line[6:].split()[0])
    return calls


def own_costs(program, pushes):
    """Instructions of each function itself in one run, by its name as it is in the program."""
    with tempfile.NamedTemporaryFile("r") as profile:
        command = ["valgrind", "--tool=callgrind", "--compress-strings=no", f"--callgrind-out-file={profile.name}"]
        subprocess.run([*command, program, WHOLE, str(pushes)], check=True, capture_output=True)
        costs, function, is_call = collections.Counter(), "", False
        for line in profile:
            if line.startswith("fn="):
                function = line[3:].strip()
            elif line.startswith("calls="):
                # What follows is what was called.
                is_call = True
            elif line[:1].isdigit() or line[:1] in "+-*":
                if not is_call:
                    costs[function] += int(line.split()[1])
                is_call = False
    return costs


def parts(program):
    """The table of what client and mock together are made of."""
    before, after = own_costs(program, PUSHES), own_costs(program, 2 * PUSHES)
    costs = {name: (cost - before[name]) / PUSHES for name, cost in after.items()}
    demangled = subprocess.run(["swift", "demangle", "-compact", "-simplified"], input="\n".join(costs), text=True,
                               capture_output=True, check=True).stdout.splitlines()
    sums = collections.Counter()
    for cost, name in zip(costs.values(), demangled):
        sums[next((part for part, pattern in PARTS if re.search(pattern, name)), "the rest, without a name here")] += cost
    whole = sum(costs.values())
    lines = ["| part | instructions a push | share |", "| --- | ---: | ---: |"]
    for part in [part for part, _ in PARTS] + ["the rest, without a name here"]:
        lines.append(f"| {part} | {sums[part]:,.0f} | {sums[part] / whole * 100:.1f} % |")
    return "\n".join([*lines, f"| all | {whole:,.0f} | |"])


def measure_references(program):
    return (counted_references(program, 2 * PUSHES) - counted_references(program, PUSHES)) / PUSHES


def has_moved(before, now):
    return abs(now / before - 1) > TOLERANCE


def kept(before, now):
    return now if before is None or has_moved(before, now) else before


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--by-part", action="store_true", help="only what client and mock together are made of")
    parser.add_argument("--write", metavar="FILE", help="put that into this document")
    parser.add_argument("--update", action="store_true", help="write what is new, or moved, to instructions.json")
    arguments = parser.parse_args()
    if not shutil.which("valgrind"):
        sys.exit("valgrind is not installed: apt-get install valgrind")
    built = build()
    with tempfile.TemporaryDirectory() as folder:
        # Valgrind 3.19 stops at a Swift program's debug information ("Possibly corrupted debuginfo"); without it it runs.
        program = pathlib.Path(folder) / "run-stage"
        if arguments.by_part:
            subprocess.run(["strip", "--strip-debug", "-o", program, built], check=True)
            text = parts(program)
            print(text)
            if arguments.write:
                tables.write(arguments.write, "parts", text, "Benchmarks/instructions.py --by-part")
            return
        subprocess.run(["strip", "--strip-all", "-o", program, built], check=True)
        names = subprocess.run([program], check=True, capture_output=True, text=True).stdout.split()
        # Each counts its own: how many run at a time changes nothing.
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            references = pool.submit(measure_references, program)
            # The last take longest: first, so that no core waits for the other at the end.
            order = names[::-1]
            found = dict(zip(order, pool.map(lambda name: round(measure(program, name), 1), order)))
            counted = {name: found[name] for name in names}
            counted[REFERENCES] = round(references.result(), 1)
    committed = json.loads(COMMITTED.read_text()) if COMMITTED.exists() else {}
    if arguments.update:
        # What did not move keeps its number: small steps must not add up unseen.
        committed = {name: kept(committed.get(name), now) for name, now in counted.items()}
        COMMITTED.write_text(json.dumps(committed, indent=2) + "\n")
    moved = 0
    print(f"{'stage (instructions)':<22}{'a push':>20}{'committed':>12}{'change':>9}")
    for name in sorted({*counted, *committed}, key=list({**counted, **committed}).index):
        now, before = counted.get(name), committed.get(name)
        if now is None or before is None:
            moved += 1
            print(f"{name:<22}{'gone' if now is None else now:>20}{'none' if before is None else before:>12}  MOVED")
            continue
        change = now / before - 1
        mark = ""
        if now > MOST_REFERENCES if name == REFERENCES else has_moved(before, now):
            moved += 1
            mark = "  MOVED"
        print(f"{name:<22}{now:>20,.1f}{before:>12,.1f}{change:>+9.1%}{mark}")
    if moved:
        sys.exit(f"{moved} moved by more than {TOLERANCE:.0%}; if that is meant: {sys.argv[0]} --update, and commit it")


if __name__ == "__main__":
    main()
