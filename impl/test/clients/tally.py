"""What the runs came to: kept from one call of the driver to the next, counted, and compared between the libraries."""
import dataclasses
import json
import os

from case import FAILED, HUNG, PASSED
from workplace import DEBIAN, OWN


@dataclasses.dataclass
class Result:
    program: str
    name: str
    provider: str
    ranks: int
    library: str
    verdict: str
    reason: str
    work: float
    day: str
    wall: float = 0.0

    def key(self):
        return self.program, self.name, self.provider, self.ranks


class Tally:
    """All results, by case and library, in a file. What is run again replaces what was there."""

    def __init__(self, path=None):
        self.path, self.results, self.unavailable = path, {}, {}
        if path and os.path.exists(path):
            with open(path, encoding='utf-8') as file:
                content = json.load(file)
            self.unavailable = content['unavailable']
            for entry in content['results']:
                self.add(Result(**entry))

    def add(self, result):
        self.results[(*result.key(), result.library)] = result

    def has(self, program, case):
        """Whether a case was run on the library under test."""
        return (program, case.name, case.provider, case.ranks, OWN) in self.results

    def save(self):
        if not self.path:
            return
        with open(self.path + '.new', 'w', encoding='utf-8') as file:
            json.dump({'unavailable': self.unavailable,
                       'results': [dataclasses.asdict(result) for result in self.results.values()]}, file, indent=0)
        os.replace(self.path + '.new', self.path)

    def forget(self, program):
        self.unavailable.pop(program, None)
        self.results = {key: result for key, result in self.results.items() if result.program != program}

    def pairs(self):
        """(own, Debian's or None) for each case."""
        for key, result in self.results.items():
            if key[-1] == OWN:
                yield result, self.results.get((*key[:-1], DEBIAN))

    def rows(self):
        """{(program, provider): {library: {verdict: count}}} with the ranks and days seen, in the order of the runs."""
        rows = {}
        for result in self.results.values():
            row = rows.setdefault((result.program, result.provider),
                                  {OWN: {}, DEBIAN: {}, 'ranks': set(), 'days': set()})
            row[result.library][result.verdict] = row[result.library].get(result.verdict, 0) + 1
            row['ranks'].add(result.ranks)
            row['days'].add(result.day)
        return rows


def broken(own, debian):
    """A case fails or hangs on the library under test, and passes on Debian's (or was not run there)."""
    return own.verdict in (FAILED, HUNG) and (debian is None or debian.verdict == PASSED)


def differs(own, debian):
    return debian is not None and own.verdict != debian.verdict
