#!/usr/bin/env python3
"""How often `pushload gate` is wrong, by simulation, and what the noise of a baseline is made of: the tables of docs/gate.md.

The rule of Sources/Gate/Model is written a second time here, over NumPy, and drawn from many thousand times; Tests/GateTests hold
the program to the verdicts of this script on the same numbers (`--fixture` prints them). Needs NumPy and SciPy, and no build.

    Benchmarks/gate_truths.py [--gates 20000] [--seed 1] [--write docs/gate.md]     # about three minutes on one core
    Benchmarks/gate_truths.py --only noise [--write docs/gate.md]                   # the baseline's noise, at once
    Benchmarks/gate_truths.py --fixture
"""

import argparse
import functools
import glob
import json
import math
import os
import re
import sys

import numpy as np
from scipy.stats import beta, rankdata

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
FIRST_LOOK, FEWEST, FALSE_ALARMS, FALSE_PASSES = 8, 16, 0.01, 0.05
MOST_CORRELATED = 0.9
LIMIT = math.log(1.03)
# The judged costs, and rounds of a baseline and of a gate (pairs) by default.
COSTS, KNOWN, MOST = 3, 64, 64


# The rule


def looks(most):
    found, count = [], FIRST_LOOK
    while count < most:
        found.append(count)
        count *= 2
    return found + [most]


def highest(shares, error):
    """The highest k with P(X <= k) <= error, which is below 0.5; -1 when there is none."""
    return int(np.searchsorted(np.cumsum(shares), error, side="right")) - 1


@functools.cache
def mann_whitney(n, m):
    """The chance of each U up to the middle: the coefficients of the Gaussian binomial of n + m over n, over their sum."""
    ways = np.ones(1)
    for i in range(1, n + 1):
        longer = np.zeros(len(ways) + m + i)
        longer[:len(ways)] += ways
        longer[m + i:] -= ways
        # Divided by 1 - q^i.
        for place in range(i, len(longer)):
            longer[place] += longer[place - i]
        # Above the middle, where all are mirrored, small differences of large numbers are left.
        ways = longer[:i * m + 1]
        half = len(ways) // 2
        ways[-half:] = ways[:half][::-1]
    return ways[:len(ways) // 2 + 1] / math.comb(n + m, n)


@functools.cache
def signed_rank(n):
    """The chance of each W."""
    ways = np.ones(1)
    for rank in range(1, n + 1):
        longer = np.zeros(len(ways) + rank)
        longer[:len(ways)] += ways
        longer[rank:] += ways
        ways = longer
    return ways / 2.0 ** n


def lag1(parts):
    """The correlation of a value's rank with the next one's, each part about its own median; along the last axis."""
    ranks = rankdata(np.concatenate([part - np.median(part, -1, keepdims=True) for part in parts], -1), axis=-1)
    count = ranks.shape[-1]
    ranks = ranks - (count + 1) / 2
    products, pairs, start = 0, 0, 0
    for part in parts:
        length = part.shape[-1]
        piece = ranks[..., start:start + length]
        products = products + (piece[..., 1:] * piece[..., :-1]).sum(-1)
        pairs += length - 1
        start += length
    square = (ranks * ranks).mean(-1)
    return np.where(square > 0, products / pairs / np.where(square > 0, square, 1), 0)


def stretch(parts):
    found = lag1(parts)
    count = sum(part.shape[-1] for part in parts)
    bias = len(parts) * (1 + 3 * np.maximum(0, found)) / count
    upper = np.clip(found + bias + 1 / math.sqrt(count), 0, MOST_CORRELATED)
    return np.sqrt((1 + upper) / (1 - upper))


def judge(base, rounds, limit, low_error, high_error):
    """Verdicts of gates (first axis) on costs (second), each sequence of logarithms along the third: is it a regression, does it
    pass. `base`: of the baseline; None: `rounds` are of pairs."""
    m = rounds.shape[-1]

    def below(part):
        if base is not None:
            return (part[:, :, None, :] <= base[:, :, :, None] + limit).sum((-1, -2)), base.shape[-1] * part.shape[-1]
        length = part.shape[-1]
        ranks = rankdata(abs(part - limit), axis=-1)
        return np.where(part <= limit, ranks, 0).sum(-1), length * (length + 1) / 2

    def above(part):
        """Most ratios lie above the limit: the median of them does."""
        count, of = below(part)
        return count < of / 2

    count, of = below(rounds)
    if base is not None:
        factor = stretch([base, rounds])
        low, high = (
            np.floor(of / 2 - (of / 2 - highest(mann_whitney(base.shape[-1], m), error)) * factor)
            if highest(mann_whitney(base.shape[-1], m), error) >= 0 else -1 for error in (low_error, high_error))
    else:
        low, high = (highest(signed_rank(m), error) for error in (low_error, high_error))
    regression = count <= low
    if m >= FEWEST and regression.any():
        regression &= above(rounds[..., :m // 2]) & above(rounds[..., m // 2:])
    else:
        regression &= False
    return regression, (of - count <= high) & ~regression


def gates(base, rounds, limit=LIMIT):
    """Exit statuses of gates, and their rounds."""
    count, costs, most = rounds.shape
    low_error = FALSE_ALARMS / (max(1, sum(look >= FEWEST for look in looks(most))) * costs)
    high_error = FALSE_PASSES / len(looks(most))
    statuses, made = np.full(count, 98), np.full(count, most)
    open_ = np.arange(count)
    for look in looks(most):
        regression, passes = judge(
            None if base is None else base[open_], rounds[open_][..., :look], limit, low_error, high_error)
        fails, holds = regression.any(1), passes.all(1)
        statuses[open_[fails]] = 99
        statuses[open_[holds]] = 0
        made[open_[fails | holds]] = look
        open_ = open_[~(fails | holds)]
        if not len(open_):
            break
    return statuses, made


# Noise: logarithms, along the last axis


def autoregressive(random, shape, correlation, spread=0.024):
    values = random.normal(0, 1, shape)
    for place in range(1, shape[-1]):
        values[..., place] = (
            correlation * values[..., place - 1] + math.sqrt(1 - correlation ** 2) * values[..., place])
    return spread * values


def outliers(random, shape):
    return random.normal(0, 0.019, shape) + (random.random(shape) < 0.1) * random.exponential(0.06, shape)


def modes(random, shape):
    """Two modes 4 % apart, each held for 5 rounds on the average."""
    mode = np.cumsum(random.random(shape) < 0.2, -1) + random.integers(0, 2, (*shape[:-1], 1))
    return 0.04 * (mode % 2) + random.normal(0, 0.012, shape)


def resampled(random, shape):
    """Rounds of the committed baseline, drawn again; of its CPU times by turns."""
    known = [np.log(metric["normalised"]) for metric in committed()["metrics"] if metric["normalised"]]
    values = np.stack([known[cost % len(known)] for cost in range(shape[1])])
    values = values - np.median(values, -1, keepdims=True)
    picked = random.integers(0, values.shape[-1], (shape[0], 1, shape[-1]))
    return np.take_along_axis(values[None], np.broadcast_to(picked, shape), -1)


NOISES = {
    "independent, 2.4 %": lambda random, shape: random.normal(0, 0.024, shape),
    "one round in ten costs more": outliers,
    "the committed baseline's rounds, drawn anew": resampled,
    "correlation 0.4 with the round before": lambda random, shape: autoregressive(random, shape, 0.4),
    "correlation 0.6": lambda random, shape: autoregressive(random, shape, 0.6),
    "two modes, 4 % apart, 5 rounds long": modes,
}


def committed():
    with open(sorted(glob.glob(os.path.join(ROOT, "results", "baselines", "*.json")))[0]) as file:
        return json.load(file)


def draw(random, noise, count, growth, pairs, moved):
    """Gates: the baseline's rounds (None: pairs) and the gate's.

    `growth`: logarithms by which each cost grew; `moved`: by how much the machine itself did, too: since the baseline (deviation), or
    of pairs from a round to the next."""
    growth = np.array(growth)[None, :, None]
    if not pairs:
        shift = random.normal(0, moved, (count, 1, 1)) if moved else 0
        return (noise(random, (count, growth.size, KNOWN)),
                noise(random, (count, growth.size, MOST)) + growth + shift)
    made = noise(random, (count, growth.size, 2 * MOST)) + moved * np.arange(2 * MOST)
    made = made.reshape(count, growth.size, MOST, 2)
    sign = np.where(random.random((count, 1, MOST)) < 0.5, 1, -1)
    return None, sign * (made[..., 1] - made[..., 0]) + growth


def rates(random, noise, growth, pairs, options, moved):
    statuses, made = [], []
    for start in range(0, options.gates, 250):
        drawn = draw(random, noise, min(250, options.gates - start), growth, pairs, moved)
        for all_, part in zip((statuses, made), gates(*drawn)):
            all_.append(part)
    statuses = np.concatenate(statuses)
    return {status: int((statuses == status).sum()) for status in (99, 98, 0)}, float(np.concatenate(made).mean())


# Tables


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


def percent(share):
    return f"{share * 100:.1f} %"


def errors(options):
    """The table of error rates."""
    random = np.random.default_rng(options.seed)
    lines = [
        f"{options.gates:,} simulated gates a figure (seed {options.seed}), {COSTS} costs, a baseline of {KNOWN} rounds, at most "
        f"{MOST} rounds or pairs, a tolerance of 3 %; `Benchmarks/gate_truths.py`.", "",
        "| noise | against | all costs at 3 %: regression | one cost at 3 %: pass | nothing grew: regression | pass | rounds "
        "| one by 5 %: regression | pass | one by 10 %: regression |",
        "| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |"]
    one = [1] + [0] * (COSTS - 1)
    plans = [(name, noise, pairs, 0.0) for name, noise in NOISES.items() for pairs in (False, True)]
    steady = NOISES["independent, 2.4 %"]
    plans += [("independent, the machine 1 % dearer or cheaper than on the baseline's day (deviation)", steady, False, 0.01),
              ("independent, the machine dearer by 0.2 % from round to round", steady, True, 0.002)]
    for name, noise, pairs, moved in plans:
        def share(which, growth):
            return rates(random, noise, [growth * grew for grew in which], pairs, options, moved)
        every, _ = share([1] * COSTS, LIMIT)
        single, _ = share(one, LIMIT)
        same, made = share(one, 0)
        five, _ = share(one, math.log(1.05))
        ten, _ = share(one, math.log(1.1))
        cells = [every[99], single[0], same[99], same[0], None, five[99], five[0], ten[99]]
        texts = [f"{made:.0f}" if hits is None else percent(hits / options.gates) for hits in cells]
        lines.append(f"| {name} | {'pairs' if pairs else 'baseline'} | " + " | ".join(texts) + " |")
        print(lines[-1], flush=True)
    low, high = clopper_pearson(round(options.gates / 100), options.gates)
    lines += ["", f"Of so many gates, a share of 1 % is known to lie between {low * 100:.1f} and {high * 100:.1f} % (Clopper "
              "and Pearson, 95 %)."]
    return "\n".join(lines)


TITLES = {
    "client_cpu": "client CPU a push", "mock_cpu": "mock CPU a push", "allocations": "allocations a push",
    "rate": "rate", "total_p50": "total p50", "total_p99": "total p99"}


def noise_table():
    """The table of what a baseline's rounds have of noise."""
    known = committed()
    metrics = {metric["name"]: metric for metric in known["metrics"]}
    client = metrics["client_cpu"]
    kernel = np.log(np.array(client["raw"]) / np.array(client["normalised"]))
    lines = [
        f"The {len(client['raw'])} rounds of `results/baselines/{known['name']}.json`, made {known['updated_at'][:10]} on "
        f"{known['machine']['cores']} cores of {known['machine']['cpu']}; a record of the kernel took "
        f"{math.exp(kernel.min()) / 1000:.1f} to {math.exp(kernel.max()) / 1000:.1f} us.", "",
        "| | spread | divided by the kernel | correlation with the kernel | with the round before | divided by the kernel |",
        "| --- | ---: | ---: | ---: | ---: | ---: |"]

    def spread(values):
        return percent(values.std(ddof=1))

    def before(values):
        return f"{float(lag1([values])):+.2f}"
    lines.append(f"| the kernel | {spread(kernel)} | | | {before(kernel)} | |")
    for name, metric in metrics.items():
        raw = np.log(np.maximum(metric["raw"], 1e-9))
        divided = np.log(metric["normalised"]) if metric["normalised"] else None
        lines.append(" | ".join([
            f"| {TITLES[name]}", spread(raw), "" if divided is None else spread(divided),
            f"{np.corrcoef(raw, kernel)[0, 1]:+.2f}", before(raw),
            "" if divided is None else before(divided)]) + " |")
    lines += ["", "Spread: the standard deviation of the logarithm. Correlation with the round before: of ranks, as the rule takes "
              "it."]
    return "\n".join(lines)


# What the tests of the program draw too (Tests/GateTests/GateDraws.swift)


class Draws:
    def __init__(self, noise, seed):
        self.noise, self.state = noise, seed

    def uniform(self):
        word = (1 << 64) - 1
        self.state = (self.state + 0x9E3779B97F4A7C15) & word
        mixed = self.state
        mixed = ((mixed ^ mixed >> 30) * 0xBF58476D1CE4E5B9) & word
        mixed = ((mixed ^ mixed >> 27) * 0x94D049BB133111EB) & word
        return ((mixed ^ mixed >> 31) >> 11) / 2 ** 53

    def normal(self):
        distance = math.sqrt(-2 * math.log(1 - self.uniform()))
        return distance * math.cos(2 * math.pi * self.uniform())

    def sequence(self, count):
        last, values = self.normal(), []
        for index in range(count):
            if self.noise == "independent":
                values.append(0.024 * self.normal())
            elif self.noise == "outliers":
                usual = 0.019 * self.normal()
                values.append(usual + (-0.06 * math.log(1 - self.uniform()) if self.uniform() < 0.1 else 0))
            else:
                if index:
                    last = 0.4 * last + math.sqrt(1 - 0.4 * 0.4) * self.normal()
                values.append(0.024 * last)
        return values


def fixture():
    """Gates of two costs, the first of which grew: lines of Tests/GateTests/GateAgreementTests.swift."""
    words = {99: ".regression", 98: ".cannotTell"}
    seed = 0
    for noise in ("independent", "outliers", "correlated"):
        for factor in (1.0, 1.03, 1.05, 1.08):
            for pairs in (False, True):
                seed += 1
                draws = Draws(noise, seed)
                growth = np.log([factor, 1])[None, :, None]
                if pairs:
                    made = np.array([draws.sequence(64) for _ in range(2)]).reshape(1, 2, 32, 2)
                    sign = np.array([1 if draws.uniform() < 0.5 else -1 for _ in range(32)])
                    base, rounds = None, sign * (made[..., 1] - made[..., 0]) + growth
                else:
                    base = np.array([[draws.sequence(24) for _ in range(2)]])
                    rounds = np.array([[draws.sequence(32) for _ in range(2)]]) + growth
                statuses, made = gates(base, rounds)
                word = words.get(int(statuses[0]), ".pass")
                print(f"        (.{noise}, {factor}, {'true' if pairs else 'false'}, {seed}, {word}, {int(made[0])}),")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--gates", type=int, default=20_000, help="simulated gates a figure")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", choices=["noise", "errors"])
    parser.add_argument("--write", metavar="FILE", help="put the tables into this document")
    parser.add_argument("--fixture", action="store_true", help="print what the tests hold the program to")
    options = parser.parse_args()
    if options.fixture:
        return fixture()
    for name, mark, make in (("noise", "noise of a baseline", noise_table), ("errors", "error rates", lambda: errors(options))):
        if options.only in (None, name):
            text = make()
            if options.write:
                write(options.write, mark, text)
            else:
                print(text)


if __name__ == "__main__":
    main()
