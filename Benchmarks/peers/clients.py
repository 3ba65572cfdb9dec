"""The clients that are compared: each sends pushes; gives the CPU seconds of its process and the pushes a second."""

import json
import os
import shutil
import subprocess
import sys

from common import BUILD, ROOT, cpu_of_command

PEERS = os.path.join(ROOT, "Benchmarks", "peers")
NIO = os.path.join(PEERS, "nio", ".build", "release", "nio-push")
PYTHON = os.path.join(ROOT, ".build", "python", "bin", "python3")
# These send one push of SHARE, so that a round stays short.
SLOW = ("SwiftNIO", "hey", "aioapns", "Go net/http", "Java HttpClient")
SHARE = 25
VERSIONS = {"aioapns": f"({PYTHON} --version; {PYTHON} -m pip freeze | grep aioapns) | xargs",
            "Go net/http": "go version", "Java HttpClient": "java --version"}


def h2load(pushes, streams, url, path, flags, _):
    cpu, output = cpu_of_command(
        ["h2load", "-n", str(pushes), "-c", "1", "-t", "1", "-m", str(streams), *flags, url + path])
    if f"status codes: {pushes} 2xx" not in output:
        sys.exit(f"h2load did not get {pushes} answers of 200 from {url}:\n{output}")
    line = next(line for line in output.splitlines() if line.startswith("finished in"))
    return cpu, float(line.split(",")[1].split()[0])


def hey(pushes, streams, url, path, flags, _):
    # Its flags are h2load's, but for the payload's.
    own = [word.replace("-d", "-D", 1) if word == "-d" else word for word in flags]
    cpu, output = cpu_of_command(["hey", "-n", str(pushes), "-c", str(streams), "-h2", "-m", "POST", *own, url + path])
    if f"[200]\t{pushes} responses" not in output:
        sys.exit(f"hey did not get {pushes} answers of 200 from {url}:\n{output}")
    line = next(line for line in output.splitlines() if "Requests/sec" in line)
    return cpu, float(line.split()[1])


def pushload(engine, *more):
    def run(pushes, streams, url, _, __, folder):
        cpu, output = cpu_of_command([
            f"{BUILD}/pushload", "run", "-n", str(pushes), "-c", "1", "-m", str(streams), "--engine", engine,
            "--target", url, "--credentials", f"{folder}/credentials", "--device-file", f"{folder}/devices", "--quiet",
            "--json", "--output", os.path.join(folder, "runs"), *more])
        return cpu, json.loads(output)["throughput"]["answered_per_second"]
    return run


def own(*program):
    """A program of this folder: it takes h2load's flags, and fails by itself when an answer is not 200."""
    def run(pushes, streams, url, path, flags, _):
        cpu, output = cpu_of_command([*program, "-n", str(pushes), "-m", str(streams), *flags, url + path])
        return cpu, float(output.split(", ")[1].split()[0])
    return run


def available(folder):
    """All clients but those whose tool is missing, which it names; what has to be compiled is put into the folder."""
    trust = ("--cacert", f"{folder}/credentials/ca.pem")
    optional = {
        "SwiftNIO": (own(NIO), NIO, "run swift build -c release --package-path Benchmarks/peers/nio"),
        "hey": (hey, "hey", "install hey"),
        "aioapns": (own(PYTHON, f"{PEERS}/aioapns_push.py", *trust), PYTHON, "run make .build/python/installed"),
        "Go net/http": (own(f"{folder}/push", *trust), "go", "install golang-go",
                        "go", "build", "-o", f"{folder}/push", f"{PEERS}/push.go"),
        "Java HttpClient": (own("java", "-cp", folder, "Push", *trust), "javac", "install default-jdk-headless",
                            "javac", "-d", folder, f"{PEERS}/Push.java"),
    }
    clients = {"h2load": h2load, "pushload wire": pushload("wire"),
               "pushload wire, read batch 50 us": pushload("wire", "--read-batch", "50us"),
               "pushload nghttp2": pushload("nghttp2")}
    for name, (client, tool, remedy, *compiling) in optional.items():
        if shutil.which(tool) is None:
            print(f"{name} is left out, as {tool} is missing: {remedy}", file=sys.stderr)
            continue
        if compiling:
            subprocess.run(compiling, check=True)
        clients[name] = client
    return clients
