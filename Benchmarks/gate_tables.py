"""What the tables of docs/gate.md share."""

import re
import sys

from scipy.stats import beta


def clopper_pearson(hits, count, level=0.95):
    """The exact confidence interval of a share (Clopper, Pearson 1934)."""
    tail = (1 - level) / 2
    return (0.0 if hits == 0 else float(beta.ppf(tail, hits, count - hits + 1)),
            1.0 if hits == count else float(beta.ppf(1 - tail, hits + 1, count - hits)))


def write(path, name, text):
    """Puts a text between the marks of that name in a document."""
    begin, end = f"<!-- {name} -->\n", f"<!-- end of {name} -->"
    with open(path) as file:
        document = file.read()
    if begin not in document or end not in document:
        sys.exit(f"{path}: the marks {begin.strip()} and {end} are missing")
    document = re.sub(
        re.escape(begin) + ".*?" + re.escape(end), lambda _: begin + text + "\n" + end, document, flags=re.S)
    with open(path, "w") as file:
        file.write(document)
