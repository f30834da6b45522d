"""Prints how many lines of which files are reached: coverage.py LEAST FILE... <export.json

The files are those whose share has to be LEAST in 100 or more; ends with 1 if it is not.
"""
import json
import os
import sys

least, matching = float(sys.argv[1]), {os.path.realpath(f) for f in sys.argv[2:]}
groups = {"matching code": [0, 0], "library": [0, 0], "model": [0, 0]}


def count(group, lines):
    groups[group][0] += lines["covered"]
    groups[group][1] += lines["count"]


for file in json.load(sys.stdin)["data"][0]["files"]:
    name, lines = os.path.realpath(file["filename"]), file["summary"]["lines"]
    if name in matching:
        count("matching code", lines)
        print(f"{lines['covered']:6} of {lines['count']:6} lines  {os.path.relpath(name)}")
    if "/impl/" in name:
        count("library", lines)
    if "/model/" in name:
        count("model", lines)
share = {}
for group, (covered, lines) in groups.items():
    share[group] = 100 * covered / lines if lines else 0.0
    print(f"{covered:6} of {lines:6} lines  {share[group]:5.1f} %  {group}")
sys.exit(0 if share["matching code"] >= least else 1)
