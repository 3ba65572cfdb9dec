#!/usr/bin/env python3
"""Who a tag expression selects, found row by row: an evaluation that shares nothing with pushload's.

    evaluate_rows.py FILE EXPRESSION            how many registrations
    evaluate_rows.py --list FILE EXPRESSION     their tokens, one a line, in the file's order

FILE is CSV with a header line, or NDJSON if it ends with .ndjson or .jsonl. Besides the expression a row can be asked for its
--topic and --environment, and, with --now SECONDS, to expire after that moment. Standard library only.
"""

import argparse
import csv
import datetime
import json
import re
import sys

TOKEN = re.compile(r"\s*(?:(&&|\|\||[!()*])|([A-Za-z0-9_@#.:-]+))")


def tokens_of(text):
    """The expression's tokens; ends with None."""
    found = []
    position = 0
    text = text.rstrip()
    while position < len(text):
        match = TOKEN.match(text, position)
        if match is None:
            raise SystemExit(f"column {position + 1}: no token begins here")
        found.append(match.group(1) or ("tag", match.group(2)))
        position = match.end()
    return found + [None]


def compiled(text):
    """A function from a row's set of tags to whether it is selected.

    The expression is turned into postfix order (Dijkstra's shunting yard) and run on a stack.
    """
    binding = {"!": 3, "&&": 2, "||": 1}
    output, operators = [], []
    for token in tokens_of(text):
        if token is None:
            break
        if token == "*" or isinstance(token, tuple):
            output.append(token)
        elif token in ("(", "!"):
            operators.append(token)
        elif token == ")":
            while operators and operators[-1] != "(":
                output.append(operators.pop())
            if not operators:
                raise SystemExit("a ) without a (")
            operators.pop()
        else:
            while operators and operators[-1] != "(" and binding[operators[-1]] >= binding[token]:
                output.append(operators.pop())
            operators.append(token)
    while operators:
        if operators[-1] == "(":
            raise SystemExit("a ( without a )")
        output.append(operators.pop())

    def selects(tags):
        stack = []
        for step in output:
            if step == "*":
                stack.append(True)
            elif step == "!":
                stack.append(not stack.pop())
            elif step == "&&":
                right, left = stack.pop(), stack.pop()
                stack.append(left and right)
            elif step == "||":
                right, left = stack.pop(), stack.pop()
                stack.append(left or right)
            else:
                stack.append(step[1] in tags)
        (result,) = stack
        return result

    try:
        selects(frozenset())
    except (IndexError, ValueError):
        raise SystemExit("not an expression") from None
    return selects


def registrations(path):
    """The rows of a file: dictionaries with `tags` as a set, the user's tag among them."""
    with open(path, encoding="utf-8-sig", newline="") as file:
        if path.lower().endswith((".ndjson", ".jsonl")):
            rows = (json.loads(line) for line in file if line.strip())
            rows = ({**row, "tags": set(row.get("tags", []))} for row in rows)
        else:
            rows = ({**row, "tags": {tag for tag in (row["tags"] or "").split(";") if tag}} for row in csv.DictReader(file))
        for row in rows:
            if row.get("user"):
                row["tags"].add("username:" + row["user"])
            yield row


def moment(value):
    """UNIX seconds of a moment; None when there is none."""
    if value in (None, ""):
        return None
    text = str(value)
    if text.isdigit():
        return int(text)
    return int(datetime.datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp())


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file")
    parser.add_argument("expression")
    parser.add_argument("--list", action="store_true", help="the tokens instead of their number")
    parser.add_argument("--topic")
    parser.add_argument("--environment")
    parser.add_argument("--now", type=int, help="UNIX seconds; what expires by then is not there")
    asked = parser.parse_args()
    selects = compiled(asked.expression)
    count = 0
    for row in registrations(asked.file):
        if asked.topic is not None and row.get("topic") != asked.topic:
            continue
        if asked.environment is not None and row.get("environment") != asked.environment:
            continue
        expires = moment(row.get("expires")) if asked.now is not None else None
        if expires is not None and expires <= asked.now:
            continue
        if selects(row["tags"]):
            count += 1
            if asked.list:
                print(row["token"])
    if not asked.list:
        print(count)


if __name__ == "__main__":
    sys.exit(main())
