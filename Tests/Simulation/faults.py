#!/usr/bin/env python3
"""Puts each fault of `faults/` into a copy of the sources, builds the simulation there, and sees that it fails.

faults.py [NAME ...]: all, or those named. A fault is a text file: what it is, the file it is in, and the text before and after.
"""
import pathlib
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
TREE = HERE / ".build" / "faults" / ROOT.name
SEEDS = 2000


def copy_sources():
    files = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard", "Package.swift", "Sources", "mock-apns", "Tests/Simulation"],
        cwd=ROOT, check=True, capture_output=True, text=True).stdout.split()
    files += [name for name in ["Package.resolved", "Tests/Simulation/Package.resolved"] if (ROOT / name).exists()]
    for name in files:
        source, target = ROOT / name, TREE / name
        if source.exists() and not (target.exists() and target.read_bytes() == source.read_bytes()):
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source, target)
    known = set(files)
    for place in [TREE / "Sources", TREE / "mock-apns", TREE / "Tests/Simulation/Sources"]:
        for path in place.rglob("*.swift"):
            if str(path.relative_to(TREE)) not in known:
                path.unlink()


def read(path):
    head, rest = path.read_text().split("\n<<<<\n")
    what, name = head.split("\n")
    before, after = rest.rsplit("\n>>>>", 1)[0].split("\n====\n")
    return what, name, before, after


def found(path):
    what, name, before, after = read(path)
    copy_sources()
    file = TREE / name
    text = file.read_text()
    if text.count(before) != 1:
        sys.exit(f"{path.name}: {name} has its text {text.count(before)} times")
    file.write_text(text.replace(before, after))
    subprocess.run(
        ["swift", "build", "-c", "release", "--package-path", str(TREE / "Tests/Simulation"), "-q"], check=True)
    program = TREE / "Tests/Simulation/.build/release/simulate"
    process = subprocess.Popen([program, "part", "1", "1", str(SEEDS + 1)], stdout=subprocess.PIPE, text=True)
    failure = next((line.strip() for line in process.stdout if "FAILED" in line), None)
    process.terminate()
    process.wait()
    print(f"{path.stem} ({what}): {failure or f'NOT FOUND in {SEEDS} seeds'}", flush=True)
    return failure is not None


names = sys.argv[1:] or sorted(path.stem for path in (HERE / "faults").glob("*.fault"))
missed = [name for name in names if not found(HERE / "faults" / f"{name}.fault")]
copy_sources()
sys.exit(f"not found: {', '.join(missed)}" if missed else 0)
