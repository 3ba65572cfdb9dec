#!/usr/bin/env python3
"""Other people's clients in `mock-apns exam`: the table of docs/exam.md.

    Tests/Clients/exam.py PROGRAMS [--write docs/exam.md]

PROGRAMS is the folder with mock-apns and pushload. Prints a table with a row a situation and a column a client; --write puts it between
the markers of a Markdown file, with what each client failed below it.
"""

import argparse
import json
import pathlib
import shlex
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
EXAMPLES = ROOT / "mock-apns/examples/exam"
PYTHON = ROOT / ".build/python/bin/python3"
MARKERS = ("<!-- cards: made by make exam-cards -->", "<!-- /cards -->")
PUSHLOAD = """exec {program} run -n 20 -c 1 --quiet --target "$EXAM_URL" --cacert "$EXAM_CA" --key "$EXAM_KEY" \
--key-id "$EXAM_KEY_ID" --team-id "$EXAM_TEAM_ID" --topic "$EXAM_TOPIC" --device-file "$EXAM_TOKENS" --output {output} \
--retry 429,5xx --retry-backoff 500ms --retry-budget 100% --timeout 5s --ping-interval 1s --ping-timeout 1s"""


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("programs", type=pathlib.Path)
    parser.add_argument("--write", type=pathlib.Path, help="put the table into this Markdown file")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        cards = [examine(options.programs.resolve(), pathlib.Path(folder), *client) for client in clients(options, folder)]
    text = "\n".join([*table(cards), "", *failures(cards)])
    print(text)
    if options.write:
        before, rest = options.write.read_text().split(MARKERS[0])
        options.write.write_text(before + MARKERS[0] + "\n" + text + "\n" + MARKERS[1] + rest.split(MARKERS[1])[1])


def clients(options, folder):
    aioapns = subprocess.run(
        [PYTHON, "-c", "import importlib.metadata as m; print(m.version('aioapns'), m.version('h2'))"],
        capture_output=True, text=True, check=True).stdout.split()
    pushload = PUSHLOAD.format(
        program=shlex.quote(str(options.programs.resolve() / "pushload")), output=shlex.quote(f"{folder}/results"))
    return [
        (f"node {version('node', '--version')}, http2", ["node", EXAMPLES / "node_exam.js"]),
        (f"aioapns {aioapns[0]} (h2 {aioapns[1]})", [PYTHON, EXAMPLES / "aioapns_exam.py"]),
        (f"Java {version('java', '--version').split()[1]}, java.net.http", ["java", EXAMPLES / "Exam.java"]),
        (f"pushload {version(options.programs / 'pushload', '--version')}, with retries", ["sh", "-c", pushload]),
    ]


def version(*command):
    return subprocess.run([str(word) for word in command], capture_output=True, text=True, check=True).stdout.strip()


def examine(programs, folder, name, command):
    path = folder / "card.json"
    print(name, file=sys.stderr)
    subprocess.run(
        [programs / "mock-apns", "exam", "--fail-on", "never", "--name", name, "--report", path, "--", *command],
        stdout=subprocess.DEVNULL, check=True)
    return json.loads(path.read_text())


def table(cards):
    yield "| situation | " + " | ".join(card["client"] for card in cards) + " |"
    yield "| --- |" + " --- |" * len(cards)
    for place, situation in enumerate(cards[0]["situations"]):
        cells = [cell(card["situations"][place]["criteria"]) for card in cards]
        yield f"| {situation['name']} | " + " | ".join(cells) + " |"


def cell(criteria):
    """Passed and judged criteria, and the names of those that failed; a should in brackets."""
    judged = [criterion for criterion in criteria if criterion["verdict"] != "not shown"]
    failed = [criterion for criterion in judged if criterion["verdict"] == "failed"]
    names = [f"({name(item)})" if item["weight"] == "should" else f"**{name(item)}**" for item in failed]
    return " ".join([f"{len(judged) - len(failed)}/{len(judged)}", *names])


def name(criterion):
    return criterion["id"].split(".")[1]


def failures(cards):
    for card in cards:
        failed = [
            criterion for situation in card["situations"] for criterion in situation["criteria"]
            if criterion["verdict"] == "failed"]
        yield f"{card['client']}:" + ("" if failed else " nothing failed.")
        yield ""
        for criterion in failed:
            yield f"- `{criterion['id']}` ({criterion['weight']}): {criterion['evidence']}"
        if failed:
            yield ""


if __name__ == "__main__":
    sys.exit(main())
