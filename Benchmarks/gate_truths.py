#!/usr/bin/env python3
"""How often `pushload gate` is wrong, by simulation, and what the noise of a baseline is made of: the tables of docs/gate.md.

The rule of Sources/Gate/Model is written a second time (gate_rule.py) and drawn from many thousand times; Tests/GateTests hold the
program to its verdicts and intervals on the same numbers (`--fixture` prints them). Needs NumPy and SciPy, and no build.

    Benchmarks/gate_truths.py [--gates 10000] [--seed 1] [--write docs/gate.md]     # about five minutes on one core
    Benchmarks/gate_truths.py --only noise [--write docs/gate.md]                   # the baseline's noise, at once
    Benchmarks/gate_truths.py --fixture
"""

import argparse
import glob
import json
import math
import os

import numpy as np

from gate_rule import LIMIT, chances, gates, interval, lag1
from tables import clopper_pearson, write

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
# The judged costs, and rounds of a baseline and of a gate (pairs) by default.
COSTS, KNOWN, MOST = 3, 64, 64


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
                _, low, high = interval(base, rounds[..., :made[0]], *chances(2, 32))
                print(f"        (.{noise}, {factor}, {'true' if pairs else 'false'}, {seed}, {word}, {made[0]}, "
                      f"{math.exp(low[0, 0]):.5f}, {math.exp(high[0, 0]):.5f}),")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--gates", type=int, default=10_000, help="simulated gates a figure")
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
                write(options.write, mark, text, f"Benchmarks/gate_truths.py --only {name} --gates {options.gates}")
            else:
                print(text)


if __name__ == "__main__":
    main()
