#!/usr/bin/env python3
"""Holds the Containerfile against what was built: whatever the tool and the library are linked with is in its second stage.

usage: check.py CONTAINERFILE BINARY...
What a stage has is debian:12 (the essential packages and apt) and what apt-get installs, with all that these depend on.
"""
import functools
import pathlib
import re
import subprocess
import sys


def output(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def installed():
    """The dependencies of each installed package, and the ones that every system has."""
    depends, essential = {}, {"apt"}
    for row in output("dpkg-query", "-W", "-f", "${Package}\\t${Essential}\\t${Pre-Depends}, ${Depends}\\n").splitlines():
        name, always, needs = row.split("\t")
        depends.setdefault(name, set()).update(re.findall(r"(?:^|[,|])\s*([a-z0-9][a-z0-9+.-]+)", needs))
        if always == "yes":
            essential.add(name)
    return depends, essential


def closure(names, depends):
    found, left = set(), list(names)
    while left:
        name = left.pop()
        if name not in found:
            found.add(name)
            left.extend(depends.get(name, ()))
    return found


def libraries(binary):
    """The files that the loader takes for a binary."""
    return re.findall(r"=> (/\S+)", output("ldd", binary))


@functools.cache
def package_of(library):
    for path in (library, library.removeprefix("/usr"), str(pathlib.Path(library).resolve())):
        ran = subprocess.run(["dpkg-query", "-S", path], capture_output=True, text=True, check=False)
        if ran.returncode == 0:
            return ran.stdout.split(":")[0]
    return None


def main():
    containerfile, *binaries = sys.argv[1:]
    text = pathlib.Path(containerfile).read_text().replace("\\\n", " ")
    stages = re.split(r"^FROM ", text, flags=re.M)[1:]
    wrong = [f"stage {i} is not of debian:12" for i, s in enumerate(stages) if not s.startswith("debian:12")]
    if "./run setup" not in stages[0]:
        wrong.append("the first stage installs something else than ./run setup does")
    named = re.search(r"--no-install-recommends ([a-z0-9 .+-]+)", stages[-1])[1].split()
    depends, essential = installed()
    there = closure([*essential, *named], depends)
    wrong += [f"{name} is in no package list" for name in named if name not in depends]
    for binary in binaries:
        for library in libraries(binary):
            if library.startswith(str(pathlib.Path(binaries[-1]).parent)):
                continue  # the bundled library itself
            package = package_of(library)
            if package not in there:
                wrong.append(f"{pathlib.Path(binary).name} is linked with {library} of {package}, which is not installed")
    print("\n".join([*wrong, f"{len(there)} packages there, {len(wrong)} wrong"]))
    sys.exit(1 if wrong else 0)


main()
