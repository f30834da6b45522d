#!/usr/bin/env python3
"""Runs the answers of the book's exercises: each command of a console block, and the lines that it should print.

usage: check.py TOOL CHAPTER...
A line of a block must occur in a line of the output, after the one before it.  Each id of a clause that a chapter names in
code must be one (or the beginning of some), and each \\snippet must be in a program.
"""
import os
import pathlib
import re
import shlex
import subprocess
import sys


def first_missing(expected, output):
    lines = iter(output.splitlines())
    return next((e for e in expected if not any(e in line for line in lines)), None)


def blocks(text):
    """The commands of a chapter, each with its lines."""
    for block in re.findall(r"^```console\n(.*?)^```", text, re.S | re.M):
        command, *expected = block.splitlines()
        yield command.removeprefix("$ "), expected


def run(tool, command):
    name, *arguments = shlex.split(command)
    assert name == "selvage", command
    ran = subprocess.run([tool, *arguments], capture_output=True, text=True, env={**os.environ, "NO_COLOR": "1"}, timeout=120)
    return ran.stdout + ran.stderr


def main():
    tool, *chapters = sys.argv[1:]
    clauses = [line.split()[0] for line in run(tool, "selvage clauses").splitlines()]
    areas = {c.split(".")[0] for c in clauses}
    wrong, answers, named = [], 0, 0
    for chapter in map(pathlib.Path, chapters):
        text = chapter.read_text()
        for command, expected in blocks(text):
            output = run(tool, command)
            answers += 1
            if (missing := first_missing(expected, output)) is not None:
                wrong.append(f"{chapter.name}: {command}\n  does not print: {missing}\n  but:\n{output}")
        for name in re.findall(r"`([a-z]+(?:\.[a-z-]+)+)`", text):
            if name.split(".")[0] not in areas:
                continue
            named += 1
            if not any(c == name or c.startswith(name + ".") for c in clauses):
                wrong.append(f"{chapter.name}: there is no clause {name}")
        for file, part in re.findall(r"^\\snippet (\S+) (\S+)", text, re.M):
            if (chapter.parent / "programs" / file).read_text().count(f"//! [{part}]") != 2:
                wrong.append(f"{chapter.name}: {file} has no part {part}")
    print("\n".join([*wrong, f"{answers} answers, {named} clauses named, {len(wrong)} wrong"]))
    sys.exit(1 if wrong or answers < 20 else 0)


main()
