#!/usr/bin/env python3
"""Runs what documents tell their readers to run, in the order of the document.

    Tests/documents.py PROGRAMS DOCUMENT …      PROGRAMS: the folder of pushload and mock-apns

Each document gets a copy of the project of its own, and twice as many are run at once as there are cores: most of the time of a
command is waiting. Blocks of ```sh and ```bash are commands; of ```console the lines after `$ ` are, and what stands below them
is what they print. What a YAML file of jobs for CI calls pushload for is in docs/gate.md too, and run there. What a reader does
not see, comments before a block, says the rest:

    <!-- file: PATH -->           the block is this file, there from the beginning of the document
    <!-- first: COMMANDS -->      to be run before the block
    <!-- run: A => B; C => D -->  B instead of A in the block's commands
    <!-- output of: COMMAND -->   the block is what this command prints
    <!-- read by: COMMAND -->     takes the block as a file, FILE
    <!-- with its figures -->     these cannot be others: each line is printed, with figures within 1 %
    <!-- in part -->              more than the block shows is printed
    <!-- part of: PATH -->        these lines stand in this file, which is compiled or run elsewhere
    <!-- run in: DOCUMENT -->     this document has the same commands, and what they print, and there they are run
    <!-- measured -->             what a command once printed; its figures and verdicts are what it is about
    <!-- measured by: COMMAND --> the same, made anew by Benchmarks/figures.py
    <!-- not run: REASON -->

Load is made small (`SMALL`), ports are free ones, `make` only says what it would do, and servers go on until the end. A
command may end with status 0, or with one that `statuses` says its answer may have on a machine that is slow. Output is compared
line by line: its words have to be those of the document, figures with their units may be any but where the block says so. Tests/documents/costs.json is a
calibration on the machine that the documents speak of.
"""

import os
import re
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
LIMIT = 240  # seconds a command may take
KINDS = {"sh", "bash", "console", "yaml", "json", "csv", "text", "http", "swift", "python"}


class Block:
    def __init__(self, line, kind, text, marks):
        self.line, self.kind, self.text, self.marks = line, kind, text, marks

    def mark(self, name):
        return next((text for key, text in self.marks if key == name), None)


def blocks(text):
    """Those of a Markdown text, each with the comments before it."""
    found, marks, lines, at = [], [], text.split("\n"), 0
    while at < len(lines):
        line = lines[at]
        if line.startswith("```"):
            end = next(i for i in range(at + 1, len(lines)) if lines[i].startswith("```"))
            found.append(Block(at + 1, line[3:].strip(), "\n".join(lines[at + 1:end]), marks))
            marks, at = [], end
        elif line.startswith("<!--"):
            comment = line[4:]
            while "-->" not in comment:
                at += 1
                comment += "\n" + lines[at]
            name, colon, what = comment.split("-->")[0].partition(":")
            if colon or name.strip() in ("measured", "in part", "with its figures"):
                marks.append((name.strip(), what.strip()))
        elif line.strip():
            marks = []
        at += 1
    return found


def jobs(text):
    """The commands of a CI file that call pushload, as one block."""
    lines = [re.sub(r"^\s*(- )?", "", line) for line in text.split("\n")]
    found, taken = [], False
    for line in lines:
        if taken or ".build/release/pushload" in line and not line.startswith("#"):
            found.append(line)
            taken = line.endswith("\\")
    return [Block(1, "sh", "\n".join(found), [("run in", "docs/gate.md")])]


def commands(text):
    """Lines, or several where they belong together."""
    part = ""
    for line in text.split("\n"):
        part += line + "\n"
        if line.endswith("\\") or not part.strip():
            continue
        check = subprocess.run(["bash", "-n"], input=part, capture_output=True, text=True)
        if check.returncode == 0:
            yield part.strip()
            part = ""
    if part.strip():
        yield part.strip()


# MARK: Smaller, and elsewhere


def seconds(text):
    units = {"us": 1e-6, "ms": 1e-3, "s": 1, "m": 60, "h": 3600}
    return sum(float(n) * units[unit] for n, unit in re.findall(r"([\d.]+)(us|ms|s|m|h)", text))


def number(text):
    factors = {"k": 1e3, "M": 1e6, "G": 1e9}
    return float(text.rstrip("kMG")) * factors.get(text[-1], 1)


def at_most(most, read, written):
    return lambda found: f"{found[1]}{written if read(found[2]) > most else found[2]}"


def small_stages(found):
    text = re.sub(r"\b([\d.]+(?:ms|s|m))\b", lambda n: n[1] if seconds(n[1]) <= 0.5 else "500ms", found[2])
    return found[1] + re.sub(r"\b([\d.]+[kM])\b", lambda n: str(int(number(n[1]) / 40)), text)


SMALL = [
    (r"(\s(?:-n|--pushes) )([\d.]+[kM]?)", at_most(1000, number, "1k")),
    (r"(\s(?:-D|--duration) )([\d.]+\w+)", at_most(1, seconds, "1s")),
    (r"(\s--rate )([\d.]+[kM]?)", at_most(500, number, "500")),
    (r"(rate=)([\d.]+[kM]?)", at_most(500, number, "500")),
    (r"(\s--warmup )([\d.]+\w+)", at_most(0.2, seconds, "200ms")),
    (r"(\s--rounds )(\d+)", at_most(1, number, "1")),
    (r"(\s--stages )(\"[^\"]*\"|'[^']*')", small_stages),
]


def small(command):
    """Less of it, for each call of pushload."""
    for pattern, change in SMALL:
        command = re.sub(pattern, change, command)
    added = []
    if re.search(r"pushload search\b(?!.*(--probe|--help))", command, re.S):
        added = ["--from", "2", "--most", "4"] if "--rate" in command else ["--from", "500", "--most", "500"]
        added += ["--probe", "250ms", "--precision", "50%"]
    if re.search(r"pushload ab\b(?!.*(--rounds|--help))", command, re.S):
        added = ["--rounds", "1"]
    # Sends are as long as their audiences are.
    if re.search(r"pushload run\b(?!.*(\s-n|\s-D|--stages|--trace|--help|--send|--audience|by-tag|sports-night))", command, re.S):
        added = ["-n", "300", "--warmup", "0s"]
    if re.search(r"pushload gate\b(?!.*--help)", command, re.S):
        added = ["--max-rounds", "8"]
    return re.sub(r"(?=\s*(\s#.*)?$)", " " + " ".join(added), command, count=1) if added else command


def statuses(command):
    """Those a command may end with besides 0: what it found out, not that it was wrong."""
    allowed = set()
    if "pushload run" in command:
        allowed |= {99}
        if "--mock-flags" in command or "--faults" in command:
            allowed |= {1}
    if "pushload search" in command or "--goal" in command:
        allowed |= {99}
    if "pushload gate" in command:
        allowed |= {98, 99}
    if "mock-apns check" in command:
        allowed |= {1}
    return allowed


def is_right(command, status, output, errors):
    """Whether a command ended as it should, on a machine that may be slow: a rate may be missed for that."""
    if status == 1 and "pushload run" in command:
        problems = re.findall(r"^(?:FAILED: |(?=rate not reached))(.*)", output + errors, re.M)
        if problems and all(problem.startswith("rate not reached") for problem in problems):
            return True
    return status == 0 or status in statuses(command)


PORT = re.compile(r"(?:port[ =]|127\.0\.0\.1:|localhost:)(\d{4,5})\b")
DEFAULT_PORTS = {"serve": "2197", "backend": "8080", "health": "2199"}  # of mock-apns, where a command names none



def is_server(command):
    return re.match(r"(\S*/)?mock-apns(?! (?:check|exam|token|device-token|health)\b)(\s|$)", command) and not re.search(
        r"--help|--version|--generate|--until-stdin-closes", command)


def with_port(command, served):
    """With a port, where a server or a question to one is given none: the default may be in use. A second server of a document that
    would listen there too gets one of its own. `served`: ports that servers of the document have."""
    found = re.match(r"(?:\S*/)?mock-apns(?: (serve|backend|health)\b)?(?=\s|$)", command)
    flag = "--admin-port" if found and found[1] == "health" else "--port"
    if not found or not (found[1] == "health" or is_server(command)):
        return command
    given = re.search(rf"\s{flag}[ =](\d+)", command)
    if given:
        served.add(given[1])
        return command
    port = DEFAULT_PORTS[found[1] or "serve"]
    if found[1] != "health":
        if port in served:
            port = "0"
        served.add(port)
    return f"{found[0]} {flag} {port}{command[found.end():]}"


PORTS = iter(range(20_000 + os.getpid() % 10_000, 32_000))  # below those the system gives to who asks for any
LOCK = threading.Lock()


def free_ports(numbers):
    """For each of the numbers a port of its own that nobody listens on."""
    ports = {}
    with LOCK:
        for number in sorted(numbers):
            for port in PORTS:
                try:
                    socket.create_server(("127.0.0.1", port)).close()
                except OSError:
                    continue
                ports[number] = str(port)
                break
    return ports


# MARK: Running


class Shell:
    """One bash for a document: variables and servers of one block are there in the next."""

    all = []

    def __init__(self, folder, programs):
        self.folder = folder
        own = os.path.join(folder, "tmp")
        os.mkdir(own)
        python = os.path.join(ROOT, ".build/python/bin")
        environment = {key: value for key, value in os.environ.items() if not key.startswith(("PUSHLOAD_", "GITHUB_"))}
        environment |= {
            "PATH": f"{programs}:{python}:{environment['PATH']}", "PROGRAMS": programs, "TMPDIR": own, "HOME": folder,
            "COLUMNS": "400", "LC_ALL": "C.UTF-8", "TERM": "dumb"}
        self.count = 0
        self.bash = subprocess.Popen(
            ["bash", "--noprofile", "--norc"], cwd=folder, env=environment, stdin=subprocess.PIPE, text=True,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
        Shell.all.append(self)

    def run(self, command):
        """Returns status (None: it did not end), output and errors."""
        self.count += 1
        place = os.path.join(self.folder, "tmp", f"command-{self.count}")
        serves = is_server(command)
        if serves and not re.search(r"&\s*(#.*)?$", command):
            command = re.sub(r"(?=\s*(\s#.*)?$)", " &", command, count=1)
        # On a line of its own, so that a comment at the end is only that.
        self.bash.stdin.write(f"{{ {command}\n}} >{place}.out 2>{place}.err </dev/null; echo $? >{place}.new; "
                              f"mv {place}.new {place}.status\n")
        self.bash.stdin.flush()
        end = time.monotonic() + LIMIT

        def text(kind):
            try:
                with open(f"{place}.{kind}", errors="replace") as file:
                    return file.read()
            except FileNotFoundError:
                return ""

        redirected = serves and re.search(r"> *(\S+) *&", command)
        while time.monotonic() < end:
            status = text("status")
            if status and not serves:
                return int(status), text("out"), text("err")
            if status:
                said = text("out")
                log = redirected and os.path.join(self.folder, redirected[1])
                if log and os.path.exists(log):  # the shell makes it when it gets to the command
                    with open(log, errors="replace") as file:
                        said += file.read()
                if "listening" in said or '"url"' in said or text("err"):
                    return (1 if text("err") else 0), said, text("err")
            if self.bash.poll() is not None:
                break
            time.sleep(0.02)
        return None, text("out"), text("err")

    def end(self):
        """All that was started here: the shell's own session."""
        for number in (signal.SIGTERM, signal.SIGKILL):
            try:
                os.killpg(self.bash.pid, number)
            except ProcessLookupError:
                break
            time.sleep(0.3)
        self.bash.wait()


def copy(folder, programs):
    ignored = {".build", ".git", "Sources", "Benchmarks", "Tests"}

    def ignore(place, names):
        return [n for n in names if n in ignored or (n == "runs" and place.endswith("results"))]

    shutil.copytree(ROOT, folder, ignore=ignore)
    for name in ("Tests/documents", "Benchmarks"):
        if os.path.isdir(os.path.join(ROOT, name)):
            shutil.copytree(os.path.join(ROOT, name), os.path.join(folder, name), ignore=shutil.ignore_patterns(".build"))
    shutil.copy(os.path.join(ROOT, "Tests/requirements.txt"), os.path.join(folder, "Tests"))
    os.makedirs(os.path.join(folder, ".build"))
    for name in ("release", "debug"):
        os.symlink(programs, os.path.join(folder, ".build", name))
    os.makedirs(os.path.join(folder, "results/runs"), exist_ok=True)


# MARK: Comparing

UNITS = r"(?: ?(?:ns|us|µs|ms|s|m|h|%|B|kB|MB|GB|[GMk]bit/s)(?![\w/]))?"


def shape(text):
    """Lines without figures, bars and the widths of columns; continued ones joined."""
    lines, is_new = [], True
    for line in text.split("\n"):
        depth = len(line) - len(line.lstrip())
        line = line.strip()
        if not line:
            is_new = True
            continue
        # A second run of one second has a number.
        line = re.sub(r"(\d{8}T\d{6}Z-[\w-]*?)-\d+/", r"\1/", line)
        line = re.sub(r"\d{8}T\d{6}Z|\d{4}-\d\d-\d\dT[\d:]+Z", "#", line)
        line = re.sub(r"(?:[<>] )?[-+−]?\d[\d,.]*" + UNITS + r"(?:/s)?", "#", line)
        line = re.sub(r"\b(?:ns|us|ms|s) +(?=[#\d<>-])", "", line)
        line = re.sub(r"[▁▂▃▄▅▆▇█★✗]|(?<=\s)-(?=\s|$)", " # ", line)
        line = re.sub(r"(#\s*)+", "# ", re.sub(r"\s+", " ", line)).strip()
        if not is_new and depth > lines[-1][0]:
            lines[-1][1] += " " + line
        else:
            lines.append([depth, line])
        is_new = False
    return [re.sub(r"(# ?)+", "# ", line).strip() for _, line in lines]


# What a run may say of the machine it is on.
REMARKS = re.compile(r"(trust|doubt|the generator was a limit|note|warning|OK|FAILED|held|CROSSED|client|cool-down)\b.*")


def difference(shown, printed, in_part):
    """What the document shows and the command did not print, and the other way round; None: the same."""
    expected, actual = shape(shown), shape(printed)
    rest = list(actual)
    missing = []
    for line in expected:
        if line in rest:
            rest.remove(line)
        elif not REMARKS.fullmatch(line):
            missing.append(line)
    extra = [line for line in rest if not REMARKS.fullmatch(line)]
    order = [line for line in actual if line in expected]
    if in_part:
        extra = []
    if not missing and not extra and order == [line for line in expected if line in actual]:
        return None
    return "\n".join([f"  shown, not printed: {line}" for line in missing]
                     + [f"  printed, not shown: {line}" for line in extra]) or "  another order"


def figures(line):
    return [float(figure.replace(",", "")) for figure in re.findall(r"\d[\d,]*(?:\.\d+)?", line)]


def unprinted(shown, printed):
    """What the document shows and the command did not print, with figures within 1 % (another processor may round otherwise); None:
    all of it was."""
    def is_same(line, other):
        ours, theirs = figures(line), figures(other)
        return shape(line) == shape(other) and len(ours) == len(theirs) and all(
            abs(one - another) <= max(0.01 * one, 0.1001 if one < 10 else 0) for one, another in zip(ours, theirs))

    lines = printed.split("\n")
    missing = [line for line in shown.split("\n") if not any(is_same(line, other) for other in lines)]
    return "\n".join(f"  shown, not printed: {line}" for line in missing) or None


def unindented(text):
    return "\n".join(line.strip() for line in text.strip().split("\n"))


def plain(command):
    """Without the comment at its end, on one line, with the programs on the path."""
    command = re.sub(r"(^|\s)# .*", "", command.replace("\\\n", " "))
    return re.sub(r"\s+", " ", command).strip().removeprefix(".build/release/")


def absent(block):
    """Commands of a block, and lines that it shows, which the document it is said to be run in does not have."""
    with open(os.path.join(ROOT, block.mark("run in"))) as file:
        text = file.read()
    there = [block for block in blocks(text) if not {name for name, _ in block.marks} & {"not run", "run in", "measured", "measured by"}]
    run = [plain(command) for other in there if other.kind in ("sh", "bash") for command in commands(other.text)]
    run += [plain(other.mark("output of")) for other in there if other.mark("output of")]
    if block.kind == "console":
        shown = block.text.removeprefix("$ ").split("\n")
        wanted, lines = [shown[0]], [line for line in shown[1:] if line and line != "…"]
    else:
        wanted, lines = list(commands(block.text)), []
    return [command for command in wanted if not any(other.startswith(plain(command)) for other in run)] + [
        line for line in lines if line not in text.split("\n")]


# MARK: Documents


def perform(document, programs):
    path = os.path.join(ROOT, document)
    with open(path) as file:
        text = file.read()
    parts = jobs(text) if document.endswith(".yml") else blocks(text)
    problems, count = [], 0
    with tempfile.TemporaryDirectory(prefix="documents-") as parent:
        folder = os.path.join(parent, "pushload")
        copy(folder, programs)
        for block in parts:
            if block.mark("file"):
                name = os.path.join(folder, block.mark("file"))
                os.makedirs(os.path.dirname(name), exist_ok=True)
                with open(name, "w") as file:
                    file.write(block.text + "\n")
        ports = free_ports(set(PORT.findall(text)) | set(DEFAULT_PORTS.values()))
        shell = Shell(folder, programs)
        served = set()

        def elsewhere(command):
            for known, free in ports.items():
                command = re.sub(rf"(?<![\w.]){known}\b", free, command)
            return command

        def changed(command, block, used):
            for change in filter(None, re.split(r";\s", block.mark("run") or "")):
                old, _, new = change.partition("=>")
                if old.strip() in command:
                    used.add(change)
                command = command.replace(old.strip(), new.strip())
            command = elsewhere(with_port(command, served))
            if re.match(r"(make|swift)\b", command):
                return re.sub(r"^make\b", "make -n", command) if command.startswith("make") else ": " + command
            return small(command)

        def check(command, block, shown=None, used=None):
            nonlocal count
            count += 1
            command = changed(command, block, used if used is not None else set())
            began = time.monotonic()
            status, output, errors = shell.run(command)
            took = time.monotonic() - began
            print(f"{document}:{block.line}  {took:5.1f} s  status {status}  {command.splitlines()[0]}", flush=True)
            if not is_right(command, status, output, errors):
                problems.append(
                    f"{document}:{block.line}: status {status}: {command}\n{output[-1500:]}\n{errors[-1500:]}")
                return status is not None
            if shown is not None:
                apart = difference(shown, output, block.mark("in part") is not None)
                if not apart and block.mark("with its figures") is not None:
                    apart = unprinted(shown, output)
                if apart:
                    problems.append(f"{document}:{block.line}: {command}: prints something else:\n{apart}")
            return True

        def whole(block):
            """False when the shell is stuck."""
            if any(block.mark(name) is not None for name in ("not run", "measured", "measured by", "file")):
                return True
            if block.mark("part of"):
                with open(os.path.join(ROOT, block.mark("part of"))) as file:
                    if unindented(block.text) not in unindented(file.read()):
                        problems.append(f"{document}:{block.line}: not in {block.mark('part of')}")
                return True
            if block.mark("run in"):
                problems.extend(f"{document}:{block.line}: not in {block.mark('run in')}: {line}" for line in absent(block))
                return True
            used = set()
            for key, text in block.marks:
                if key == "first":
                    for command in commands(text):
                        status, output, errors = shell.run(elsewhere(with_port(command, served)))
                        if not is_right(command, status, output, errors):
                            problems.append(f"{document}:{block.line}: first: {command}: {status}\n{output}\n{errors}")
                            return status is not None
            if block.kind in ("sh", "bash"):
                if not all(check(command, block, used=used) for command in commands(block.text)):
                    return False
            elif block.kind == "console":
                for part in re.split(r"^\$ ", block.text, flags=re.M)[1:]:
                    lines = part.split("\n")
                    last = next(i for i, line in enumerate(lines) if not line.endswith("\\"))
                    shown = "\n".join(lines[last + 1:])
                    if not check("\n".join(lines[:last + 1]), block, shown if shown.strip() else None, used):
                        return False
            elif block.mark("output of"):
                if not check(block.mark("output of"), block, block.text, used):
                    return False
            elif block.mark("read by"):
                name = f"block-{block.line}.{block.kind}"
                with open(os.path.join(folder, name), "w") as file:
                    file.write(block.text + "\n")
                if not check(block.mark("read by").replace("FILE", name), block, used=used):
                    return False
            else:
                problems.append(
                    f"{document}:{block.line}: {block.kind}: expected \"read by\", \"output of\", \"file\", \"part of\" or "
                    "\"not run\"")
            for change in filter(None, re.split(r";\s", block.mark("run") or "")):
                if change not in used:
                    problems.append(f"{document}:{block.line}: run: {change.strip()}: nothing to change")
            return True

        try:
            for block in parts:
                if block.kind not in KINDS:
                    problems.append(f"{document}:{block.line}: ```{block.kind}: expected one of {', '.join(sorted(KINDS))}")
                elif not whole(block):
                    problems.append(f"{document}:{block.line}: did not end within {LIMIT} s; the rest was not run")
                    break
        finally:
            shell.end()
    return count, problems


def headings(text):
    """What a link may name of a Markdown text, after #."""
    lines = re.sub(r"^```.*?^```", "", text, flags=re.S | re.M).split("\n")
    titles = [re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", line.lstrip("#")) for line in lines if re.match("#+ ", line)]
    return [re.sub(r"[^\w\- ]", "", title.strip().lower()).replace(" ", "-") for title in titles]


def dead_links(document):
    """Links to files and headings that are not there."""
    with open(os.path.join(ROOT, document)) as file:
        text = re.sub(r"^```.*?^```", "", file.read(), flags=re.S | re.M)
    for link in re.findall(r"\]\(([^)\s]*)\)", text):
        path, _, heading = link.partition("#")
        if re.match("[a-z]+:", link):
            continue
        place = os.path.join(ROOT, os.path.dirname(document), path) if path else os.path.join(ROOT, document)
        if not os.path.exists(place):
            yield f"{document}: {link}: no such file"
        elif heading and place.endswith(".md"):
            with open(place) as file:
                if heading not in headings(file.read()):
                    yield f"{document}: {link}: no such heading"


def main():
    programs, documents = os.path.abspath(sys.argv[1]), sys.argv[2:]
    pool = ThreadPoolExecutor(2 * len(os.sched_getaffinity(0)))

    def stop(*_):
        """What was started ends with this program."""
        pool.shutdown(wait=False, cancel_futures=True)
        for shell in list(Shell.all):
            shell.end()
        sys.exit(1)

    signal.signal(signal.SIGTERM, stop)
    futures = [pool.submit(perform, document, programs) for document in documents]
    outcomes = [future.result() for future in futures]
    for place, (_, found) in enumerate(outcomes):
        if found:
            # A rate that a machine with too much to do at once did not reach is reached alone; what is wrong is wrong again.
            print("\n".join(found) + f"\n{documents[place]}: again, by itself")
            outcomes[place] = perform(documents[place], programs)
    total, problems = sum(count for count, _ in outcomes), [line for _, found in outcomes for line in found]
    problems += [line for document in documents if document.endswith(".md") for line in dead_links(document)]
    for problem in problems:
        print(problem, file=sys.stderr)
    print(f"{total} commands, {len(problems)} problems")
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()
