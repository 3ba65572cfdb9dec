#!/usr/bin/env python3
"""Other people's clients against mock-apns: each sends a burst of pushes on a fresh connection, and every one has to be accepted.

    Tests/Clients/run.py PROGRAMS [--count 2000] [--only WORD] [--write README]

PROGRAMS is the folder with mock-apns and pushload (.build/release). `make test-clients` installs the clients first. Prints a table
with versions, and exits 1 when anything came out otherwise; --write puts the table between the markers of a Markdown file.
"""

import argparse
import collections
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import urllib.request

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
PYTHON = ROOT / ".build/python/bin/python3"
PYAPNS2 = ROOT / ".build/pyapns2/bin/python3"
MARKERS = ("<!-- clients: made by make test-clients -->", "<!-- /clients -->")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("programs", type=pathlib.Path)
    parser.add_argument("--count", type=int, default=2000, help="pushes of a burst")
    parser.add_argument("--only", default="", help="clients whose name holds this")
    parser.add_argument("--write", type=pathlib.Path, help="put the table into this Markdown file")
    options = parser.parse_args()
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        with Mock(options.programs, f"{folder}/credentials") as mock:
            for client in CLIENTS:
                if options.only.lower() not in client.name.lower():
                    continue
                rows.append(measure(client, mock, options))
                print(*rows[-1].text, sep=" | ", flush=True)
    bad = [row for row in rows if not row.is_good]
    if options.write and not bad and not options.only:
        write(rows, options.write)
    print(f"{len(rows) - len(bad)} passed, {len(bad)} failed")
    return 1 if bad or not rows else 0


class Mock:
    """mock-apns on ports the system chooses."""

    def __init__(self, programs, folder):
        self.folder = folder
        self.process = subprocess.Popen(
            [programs / "mock-apns", "--port", "0", "--admin-port", "0", "--credentials", folder, "--json", "--until-stdin-closes"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        announced = json.loads(self.process.stdout.readline())
        self.port, self.admin = str(announced["port"]), announced["endpoints"]["admin"]
        self.token = subprocess.run(
            [programs / "pushload", "token", "--credentials", folder], capture_output=True, text=True, check=True).stdout.strip()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        self.process.wait(timeout=30)

    def accepted(self):
        with urllib.request.urlopen(f"{self.admin}/stats", timeout=30) as answer:
            return json.load(answer)["accepted"]


Client = collections.namedtuple("Client", "name what run expected")
Row = collections.namedtuple("Row", "text is_good")


def measure(client, mock, options):
    before = mock.accepted()
    try:
        version, answers = client.run(mock, options.count)
    except (subprocess.SubprocessError, OSError, ValueError, LookupError) as error:
        version, answers = "-", {str(error).splitlines()[-1][:200]: options.count}
    arrived = mock.accepted() - before
    expected = {"200": options.count} if client.expected is None else client.expected
    is_good = answers == expected and arrived == answers.get("200", 0)
    outcome = ", ".join(f"{number:,} × {answer}" for answer, number in sorted(answers.items())) or "refused"
    return Row((client.name, version, client.what, outcome, "as it has to be" if is_good else "NOT AS IT HAS TO BE"), is_good)


def write(rows, path):
    lines = ["| client | version | pushes on a fresh connection | answers |", "| --- | --- | --- | --- |"]
    lines += [f"| {name} | {version} | {what} | {outcome} |" for name, version, what, outcome, _ in (row.text for row in rows)]
    before, rest = path.read_text().split(MARKERS[0])
    after = rest.split(MARKERS[1])[1]
    path.write_text(before + MARKERS[0] + "\n" + "\n".join(lines) + "\n" + MARKERS[1] + after)


# Clients


def output(command, mock=None, **more):
    environment = dict(os.environ, TOKEN=mock.token) if mock else None
    finished = subprocess.run(
        [str(word) for word in command], capture_output=True, text=True, timeout=300, env=environment, **more)
    if finished.returncode != 0:
        raise ValueError(finished.stderr.strip() or f"{command[0]}: status {finished.returncode}")
    return finished.stdout


def script(*command, settings=()):
    """A script that prints its version and its answers as JSON."""

    def run(mock, count):
        found = json.loads(output([*command, mock.folder, mock.port, count, *settings], mock))
        return found["version"], found["answers"]

    return run


def curl(mock, count):
    url = f"https://localhost:{mock.port}/3/device/{'0' * 56}[00000001-{count:08}]"
    codes = output([
        "curl", "-sS", "--no-progress-meter", "--parallel", "--parallel-max", 300, "--http2", "--cacert", f"{mock.folder}/ca.pem", "-o", "/dev/null",
        "-w", "%{http_code}\n", "-H", f"authorization: {mock.token}", "-H", "apns-topic: com.example.app",
        "-H", "apns-push-type: alert", "-d", '{"aps":{"alert":"hello"}}', url])
    words = output(["curl", "--version"]).split()
    return f"{words[0]} {words[1]}", dict(collections.Counter(codes.split()))


def nghttp(*flags):
    def run(mock, count):
        with tempfile.NamedTemporaryFile("w") as payload:
            payload.write('{"aps":{"alert":"hello"}}')
            payload.flush()
            text = output([
                "nghttp", "-v", "--no-verify-peer", *flags, "-m", count, "-d", payload.name, "-H", f"authorization: {mock.token}",
                "-H", "apns-topic: com.example.app", "-H", "apns-push-type: alert",
                f"https://localhost:{mock.port}/3/device/{'ab' * 32}"])
        codes = re.findall(r"\(stream_id=\d+\) :status: (\d+)", re.sub(r"\x1b\[[0-9;]*m", "", text))
        return output(["nghttp", "--version"]).strip(), dict(collections.Counter(codes))

    return run


def refused(mock, count):
    """A client that offers HTTP/1.1 only, as Apple refuses it: by TLS' own alert."""
    try:
        script(PYTHON, HERE / "no_alpn.py", settings=["http/1.1"])(mock, count)
    except ValueError as error:
        if "alert" in str(error).lower():
            return output([PYTHON, "-c", "import ssl; print(ssl.OPENSSL_VERSION)"]).strip(), {}
        raise
    return "-", {"not refused": count}


CLIENTS = [
    Client("curl", "300 at once", curl, None),
    Client("nghttp", "all at once", nghttp(), None),
    Client("nghttp", "all at once, `--header-table-size=0`", nghttp("--header-table-size=0"), None),
    Client("Node, http2", "all at once", script("node", HERE / "node.js"), None),
    Client("Node, http2", "all at once, `headerTableSize: 0`", script("node", HERE / "node.js", settings=['{"headerTableSize": 0}']), None),
    Client("Go, net/http", "all at once", script("go", "run", HERE / "burst.go"), None),
    Client("Java, java.net.http", "one first, then 500 at once", script("java", HERE / "Burst.java"), None),
    Client("Python, httpx", "all at once", script(PYTHON, HERE / "httpx_burst.py"), None),
    Client("Python, aioapns", "all at once", script(PYTHON, HERE / "aioapns_burst.py"), None),
    Client("Python, PyAPNs2", "one batch", script(PYAPNS2, HERE / "pyapns2_burst.py"), None),
    Client("Python, h2", "100 at once, without ALPN, headers as Pushy's", script(PYTHON, HERE / "no_alpn.py"), None),
    Client("Python, ssl", "ALPN `http/1.1` only: refused", refused, {}),
]

if __name__ == "__main__":
    sys.exit(main())
