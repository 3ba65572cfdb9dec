#!/usr/bin/env python3
"""Renders Notification Hubs templates, written from the documentation and apart from pushload's Swift code, to hold its outcome
against.

    render_template.py TEMPLATE.json BAG.json     prints the payload as compact JSON; exits with 1 and one line when there is none
    render_template.py --lines < cases.ndjson     each line {"template": TEXT, "bag": {…}}; prints for each a JSON line:
                                                  {"payload": VALUE} or {"error": TEXT}

The rules: "Notification Hubs templates", section "Template expression language". Where pushload refuses what the hub takes (a missing
property, a #(property) that is no number, text beside an expression), this refuses too. Numbers of templates and bags keep their
spelling. Compare parsed payloads: escapes are spelled differently here. Standard library only.
"""

import json
import re
import sys
from urllib.parse import quote

NAME = r"[A-Za-z0-9_.\-]{1,120}"
SPACE = r"[ \t\n\v\f\r]*"
REFERENCE = re.compile(rf"([$.%#])\({SPACE}({NAME}){SPACE}(?:,{SPACE}([0-9]+){SPACE})?\)")
LITERAL = re.compile(r"'([^']*)'|\"([^\"]*)\"")
NUMBER = re.compile(r"(0|([1-9][0-9]*))(\.[0-9]+)?((e|E)(\+|-)?[0-9]+)?")
SPACES = re.compile(SPACE)


class Refused(Exception):
    """What is wrong with a template, or with its bag."""


class Number(str):
    """A number's own spelling."""


def cut(text, count):
    """The first `count` UTF-16 code units, without half of a pair."""
    units = text.encode("utf-16-le", "surrogatepass")[: 2 * count]
    return units.decode("utf-16-le", "ignore")


def reference_at(text, position):
    match = REFERENCE.match(text, position)
    if match is None:
        return None
    sigil, length = match[1], match[3]
    if (length is not None) != (sigil == ".") and sigil != "$":
        return None
    if length is not None and not (3 if sigil == "." else 1) <= int(length) <= 1_000_000:
        return None
    return match


def evaluate(match, bag):
    sigil, name, length = match[1], match[2], match[3]
    if name.lower() not in bag:
        raise Refused(f"no property {name}")
    value = bag[name.lower()]
    if sigil == "%":
        return quote(value, safe="-._~")
    if length is None:
        return value
    count = int(length)
    if sigil == "$":
        return cut(value, count)
    whole = len(value.encode("utf-16-le")) // 2 <= count
    return value if whole else cut(value, count - 3) + "..."


def braced(text, bag):
    position, outcome = 1, ""
    while True:
        position = SPACES.match(text, position).end()
        match = reference_at(text, position)
        if match:
            outcome += evaluate(match, bag)
        else:
            match = LITERAL.match(text, position)
            if match is None:
                raise Refused(f"no expression at {position} of {text}")
            outcome += match[1] if match[1] is not None else match[2]
        position = SPACES.match(text, match.end()).end()
        following = text[position : position + 1]
        position += 1
        if following == "}" and position == len(text):
            return outcome
        if following != "+":
            raise Refused(f"no + or closing brace at {position - 1} of {text}")


def render_text(text, bag):
    if text.startswith("{"):
        return braced(text, bag)
    match = reference_at(text, 0)
    if match and match.end() == len(text):
        outcome = evaluate(match, bag)
        if match[1] != "#":
            return outcome
        if NUMBER.fullmatch(outcome) is None or not outcome.isascii():
            raise Refused(f"{match[2]} is no number")
        return Number(outcome)
    if text.startswith("#") or re.match(r"[$.%]\(", text):
        raise Refused(f"no expression: {text}")
    if any(reference_at(text, position) for position in range(len(text))):
        raise Refused(f"an expression within a text: {text}")
    return text


def render(value, bag):
    if isinstance(value, Number):
        return value
    if isinstance(value, str):
        return render_text(value, bag)
    if isinstance(value, list):
        return [render(item, bag) for item in value]
    if isinstance(value, dict):
        return {key: render(item, bag) for key, item in value.items()}
    return value


def object_of(pairs):
    result = dict(pairs)
    if len(result) != len(pairs):
        raise Refused("a key stands twice")
    return result


def no_constant(text):
    raise Refused(f"{text} is no JSON")


def parse(text):
    """Numbers as their spelling; strict JSON."""
    return json.loads(
        text, parse_int=Number, parse_float=Number, parse_constant=no_constant, object_pairs_hook=object_of
    )


def written(value):
    """Compact JSON with numbers as they are spelled."""
    if isinstance(value, Number):
        return str(value)
    if isinstance(value, list):
        return "[" + ",".join(map(written, value)) + "]"
    if isinstance(value, dict):
        return "{" + ",".join(json.dumps(key, ensure_ascii=False) + ":" + written(item) for key, item in value.items()) + "}"
    return json.dumps(value, ensure_ascii=False)


def bag_of(properties):
    bag = {}
    for name, value in properties.items():
        if isinstance(value, bool):
            value = "true" if value else "false"
        elif not isinstance(value, str):
            raise Refused(f"property {name} is no text")
        if name.lower() in bag:
            raise Refused(f"property {name} is given twice")
        bag[name.lower()] = str(value)
    return bag


def payload(template, properties):
    body = parse(template)
    if not isinstance(body, dict):
        raise Refused("no JSON object")
    return written(render(body, bag_of(properties)))


def lines():
    for line in sys.stdin.buffer.read().split(b"\n"):
        if not line.strip():
            continue
        case = json.loads(line)
        try:
            print('{"payload":' + payload(case["template"], case["bag"]) + "}")
        except (Refused, ValueError) as error:
            print(json.dumps({"error": str(error)}))


def main(arguments):
    sys.stdout.reconfigure(encoding="utf-8")
    if arguments == ["--lines"]:
        lines()
        return 0
    if len(arguments) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    try:
        with open(arguments[0], encoding="utf-8-sig") as template, open(arguments[1], encoding="utf-8-sig") as bag:
            print(payload(template.read(), parse(bag.read())))
        return 0
    except (Refused, ValueError, OSError) as error:
        print(error, file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
