"""A naive model of scenarios/sports-night.yaml: a dictionary a device, in which a collapse id has one notification.

Prints, as JSON, how many pushes are presented, how many of them take the place of another, and what each device shows in the end.
"""
import csv
import json
import sys

MATCHES = [
    ("match-1", lambda tags: "follows_RedSox" in tags),
    ("match-2", lambda tags: "follows_Cardinals" in tags),
    ("match-3", lambda tags: "follows_RedSox" in tags or "follows_Cardinals" in tags),
]
UPDATES = 4

presented = updated = 0
screens = {}
with open(sys.argv[1], newline="") as file:
    for row in csv.DictReader(file):
        shown = {}
        for _ in range(UPDATES):
            for match, follows in MATCHES:
                if not follows(row["tags"].split(";")):
                    continue
                presented += 1
                updated += match in shown
                shown[match] = True
        if shown:
            screens[row["token"]] = sorted(shown)
print(json.dumps({"presented": presented, "updated": updated, "screens": screens}))
