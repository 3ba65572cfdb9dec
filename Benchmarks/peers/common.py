"""What the peer comparisons share: the mock, a payload as pushload's `alert` profile makes it, CPU readings."""

import contextlib
import json
import os
import resource
import shutil
import subprocess
import sys
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
# As the tests have it.
BUILD = os.environ.get("TESTED_PROGRAMS") or os.path.join(ROOT, ".build", "release")
PAYLOAD = (
    '{"aps":{"alert":{"title":"Breaking news","subtitle":"follows_RedSox","body":"Late goal decides '
    'the final: story 123456. Tap to read more."},"badge":42,"sound":"default","thread-id":"news",'
    '"interruption-level":"active","relevance-score":0.75},"story":{"id":123456,"device":123456},'
    '"pushload-trace":"0123456789abcdef-123456"}')


def need(*tools):
    """Ends the program when something it runs is missing."""
    for name, package in tools:
        if shutil.which(name) is None:
            sys.exit(f"{name} is missing: install {package}")
    for name in ("pushload", "mock-apns"):
        if not os.access(os.path.join(BUILD, name), os.X_OK):
            sys.exit(f"{name} is missing in {BUILD}: run make build")


def cpu_of_command(command):
    """Runs a command; returns its own user and system CPU seconds, and what it printed."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode != 0:
        sys.exit(f"{command[0]} ended with {done.returncode}:\n{done.stdout}{done.stderr}")
    return (after.ru_utime - before.ru_utime) + (after.ru_stime - before.ru_stime), done.stdout


def cpu_of_process(pid):
    """User and system CPU seconds of a running process, to the nanosecond: /proc counts in hundredths of a second."""
    # CPUCLOCK_SCHED of the process, as clock_getcpuclockid(3) makes it.
    return time.clock_gettime(~pid << 3 | 2)


def resident(pid):
    """Memory of a running process, bytes."""
    with open(f"/proc/{pid}/status") as file:
        for line in file:
            if line.startswith("VmRSS:"):
                return int(line.split()[1]) * 1024
    return 0


@contextlib.contextmanager
def running_mock(folder, *flags):
    """A mock with its credentials in `folder`; gives its process, url, and what h2load has to send."""
    credentials = os.path.join(folder, "credentials")
    mock = subprocess.Popen(
        [f"{BUILD}/mock-apns", "--port", "0", "--json", "--credentials", credentials, *flags],
        stdout=subprocess.PIPE, text=True)
    try:
        yield mock, json.loads(mock.stdout.readline()), credentials
    finally:
        mock.terminate()
        mock.wait()


def h2load_headers(folder, credentials):
    """h2load's flags for a push, and the path to send it to."""
    token = subprocess.run(
        [f"{BUILD}/pushload", "token", "--credentials", credentials], capture_output=True, text=True,
        check=True).stdout.strip()
    device = subprocess.run(
        [f"{BUILD}/pushload", "device-token", "0"], capture_output=True, text=True, check=True).stdout.strip()
    payload = os.path.join(folder, "payload.json")
    with open(payload, "w") as file:
        file.write(PAYLOAD)
    flags = [
        "-d", payload, "-H", f"authorization: {token}", "-H", "apns-topic: com.example.pushload", "-H",
        "apns-push-type: alert", "-H", "apns-priority: 10"]
    return flags, f"/3/device/{device}"
