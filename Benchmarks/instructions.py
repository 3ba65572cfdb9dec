#!/usr/bin/env python3
"""Instructions a push of every stage, and how often references are counted, by callgrind, held against instructions.json.

Unlike times, they are the same on a busy machine: a stage that moved by more than 2 % has changed. What the start of the
program costs is taken out by running a stage N and 2N times. Stages that are mostly OpenSSL's are left out: it picks its
code by the processor.
"""
import argparse
import concurrent.futures
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
COMMITTED = HERE / "instructions.json"
TOLERANCE = 0.02
PUSHES = 200_000
# The stage that holds all others, and how often references are counted in it: calls a push of swift_retain and swift_release,
# each an atomic operation.
WHOLE = "client-and-mock"
REFERENCES = "references-counted"
# None is counted for a push; what is left are those of a turn of the loop, of 64 pushes.
MOST_REFERENCES = 0.5
# What the start of the program costs differs from run to run (keys drawn, hashes seeded) by some 100,000 instructions:
# a stage is run often enough for that to be a small part of the tolerance.
LEAST_COUNTED = 40_000_000


def build():
    command = ["swift", "build", "-c", "release", "--package-path", HERE]
    subprocess.run([*command, "--product", "run-stage"], check=True, stdout=sys.stderr)
    shown = subprocess.run([*command, "--show-bin-path"], check=True, capture_output=True, text=True)
    return pathlib.Path(shown.stdout.strip()) / "run-stage"


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


def measure_references(program):
    return (counted_references(program, 2 * PUSHES) - counted_references(program, PUSHES)) / PUSHES


def has_moved(before, now):
    return abs(now / before - 1) > TOLERANCE


def kept(before, now):
    return now if before is None or has_moved(before, now) else before


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--update", action="store_true", help="write what is new, or moved, to instructions.json")
    arguments = parser.parse_args()
    if not shutil.which("valgrind"):
        sys.exit("valgrind is not installed: apt-get install valgrind")
    built = build()
    with tempfile.TemporaryDirectory() as folder:
        # Valgrind 3.19 stops at a Swift program's symbol table ("Possibly corrupted debuginfo"); without one it runs.
        program = pathlib.Path(folder) / "run-stage"
        subprocess.run(["strip", "--strip-all", "-o", program, built], check=True)
        names = subprocess.run([program], check=True, capture_output=True, text=True).stdout.split()
        # Each counts its own: how many run at a time changes nothing.
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            references = pool.submit(measure_references, program)
            counted = dict(zip(names, pool.map(lambda name: round(measure(program, name), 1), names)))
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
