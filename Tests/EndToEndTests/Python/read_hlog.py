"""Reads a run's HdrHistogram files with the independent reader of PyPI; prints total, p50, p90, p99, p99.9 of each, JSON."""

import json
import sys

from hdrh.histogram import HdrHistogram
from hdrh.log import HistogramLogReader

folder = sys.argv[1]
summed = HdrHistogram(1, 3_600_000_000_000, 3)
reader = HistogramLogReader(f"{folder}/latency.hlog", summed)
intervals = 0
while True:
    histogram = reader.get_next_interval_histogram()
    if histogram is None:
        break
    intervals += 1
    summed.add(histogram)
with open(f"{folder}/result.json") as file:
    result = json.load(file)


def figures(histogram):
    return [histogram.get_total_count()] + [
        histogram.get_value_at_percentile(percentile) for percentile in (50, 90, 99, 99.9)]


print(json.dumps({
    "intervals": intervals,
    "log": figures(summed),
    "result": figures(HdrHistogram.decode(result["histograms"]["total"])),
}))
