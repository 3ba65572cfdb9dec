"""Tables in documents, each put there by the program that made it, with the command, the commit and the machine under it."""

import datetime
import os
import platform
import re
import subprocess
import sys

from peers.common import ROOT


def clopper_pearson(hits, count, level=0.95):
    """The exact confidence interval of a share (Clopper, Pearson 1934)."""
    from scipy.stats import beta
    tail = (1 - level) / 2
    return (0.0 if hits == 0 else float(beta.ppf(tail, hits, count - hits + 1)),
            1.0 if hits == count else float(beta.ppf(1 - tail, hits + 1, count - hits)))


def machine():
    with open("/proc/cpuinfo") as file:
        cpu = next(line.split(":", 1)[1].strip() for line in file if line.startswith("model name"))
    return f"{cpu}, {os.cpu_count()} cores, Linux {platform.release()}"


def commit():
    """Of what is measured, with a + where files differ from it."""
    def git(*words):
        return subprocess.run(["git", "-C", ROOT, *words], capture_output=True, text=True).stdout.strip()
    changed = git("status", "--porcelain", "--untracked-files=no", "--", "Sources", "mock-apns/Sources", "Benchmarks", "Package.swift")
    return (git("rev-parse", "--short", "HEAD") or "unknown") + ("+" if changed else "")


def made_by(command):
    return f"Made by `{command}`: commit {commit()}, {datetime.date.today()}, {machine()}."


def write(path, name, text, command):
    """Puts a text between the marks of that name in a document."""
    begin, end = f"<!-- {name} -->\n", f"<!-- end of {name} -->"
    with open(path) as file:
        document = file.read()
    if begin not in document or end not in document:
        sys.exit(f"{path}: the marks {begin.strip()} and {end} are missing")
    whole = f"{begin}{text.strip()}\n\n{made_by(command)}\n{end}"
    with open(path, "w") as file:
        file.write(re.sub(re.escape(begin) + ".*?" + re.escape(end), lambda _: whole, document, flags=re.S))
