#!/usr/bin/env python3
"""Whether documents are as their schema says.

    schemas.py SCHEMA [--lines] < DOCUMENT

SCHEMA is a file of JSON Schema 2020-12; what it refers to lies beside it. --lines: each line is a document. One line for each
problem; exit status 1 when there are any, or no document at all.
"""

import json
import pathlib
import sys

from jsonschema import Draft202012Validator
from referencing import Registry, Resource
from referencing.jsonschema import DRAFT202012


def main():
    path = pathlib.Path(sys.argv[1])
    schema = json.loads(path.read_text())
    Draft202012Validator.check_schema(schema)
    registry = Registry().with_resources(
        (other.name, Resource.from_contents(json.loads(other.read_text()), default_specification=DRAFT202012))
        for other in path.parent.glob("*.json")
    )
    validator = Draft202012Validator(schema, registry=registry)
    text = sys.stdin.read()
    documents = [json.loads(line) for line in text.splitlines() if line] if "--lines" in sys.argv else [json.loads(text)]
    problems = [
        f"{number}: {'.'.join(str(part) for part in error.absolute_path)}: {error.message[:300]}"
        for number, document in enumerate(documents, 1)
        for error in validator.iter_errors(document)
    ]
    for problem in problems:
        print(problem)
    print(f"{len(documents)} documents, {len(problems)} problems")
    return 1 if problems or not documents else 0


sys.exit(main())
