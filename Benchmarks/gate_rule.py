"""The rule of `pushload gate` a second time, over NumPy: what gate_truths.py draws from, and the tests hold the program to."""

import functools
import math

import numpy as np
from scipy.stats import rankdata

FIRST_LOOK, FEWEST, FALSE_ALARMS, FALSE_PASSES = 8, 16, 0.01, 0.05
MOST_CORRELATED = 0.9
LIMIT = math.log(1.03)


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


def interval(base, rounds, low_error, high_error):
    """Estimates of gates (first axis) for costs (second), and the ends of their intervals; each sequence of logarithms along the
    third. `base`: of the baseline; None: `rounds` are of pairs."""
    m = rounds.shape[-1]
    if base is not None:
        values = (rounds[:, :, None, :] - base[:, :, :, None]).reshape(*rounds.shape[:2], -1)
        shares = mann_whitney(base.shape[-1], m)
        factor = stretch([base, rounds])
    else:
        one, other = np.triu_indices(m)
        values = (rounds[..., one] + rounds[..., other]) / 2
        shares = signed_rank(m)
        factor = 1
    count = values.shape[-1]
    places = [highest(shares, low_error), count - 1 - highest(shares, high_error)]
    middle = [(count - 1) // 2, count // 2]
    values = np.partition(values, sorted({place for place in places + middle if 0 <= place < count}), -1)
    estimate = values[..., middle].mean(-1)
    # The ends are so many times as far from the estimate.
    low = estimate + (values[..., places[0]] - estimate) * factor if places[0] >= 0 else np.full(estimate.shape, -np.inf)
    high = estimate + (values[..., places[1]] - estimate) * factor if places[1] < count else np.full(estimate.shape, np.inf)
    return estimate, low, high


def judge(base, rounds, limit, low_error, high_error):
    """Is it a regression, does it pass?"""
    m = rounds.shape[-1]
    _, low, high = interval(base, rounds, low_error, high_error)
    regression = low > limit
    if m >= FEWEST and regression.any():
        for half in (rounds[..., :m // 2], rounds[..., m // 2:]):
            regression &= interval(base, half, 0.4, 0.4)[0] > limit
    else:
        regression &= False
    return regression, (high < limit) & ~regression


def chances(costs, most):
    """That the lower end of an interval lies above the true ratio, and that the upper end lies below."""
    return (FALSE_ALARMS / (max(1, sum(look >= FEWEST for look in looks(most))) * costs), FALSE_PASSES / len(looks(most)))


def gates(base, rounds, limit=LIMIT):
    """Exit statuses of gates, and their rounds."""
    count, costs, most = rounds.shape
    statuses, made = np.full(count, 98), np.full(count, most)
    open_ = np.arange(count)
    for look in looks(most):
        regression, passes = judge(
            None if base is None else base[open_], rounds[open_][..., :look], limit, *chances(costs, most))
        fails, holds = regression.any(1), passes.all(1)
        statuses[open_[fails]] = 99
        statuses[open_[holds]] = 0
        made[open_[fails | holds]] = look
        open_ = open_[~(fails | holds)]
        if not len(open_):
            break
    return statuses, made
