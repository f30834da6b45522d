"""What is run: cases (one run of a program), and the programs that they belong to.

A program is a file of programs/ with a class Program. It says where it comes from (packages), makes itself ready
(prepare, which raises Unavailable with the reason), and lists its cases for a provider. It knows nothing of which library
is below: the driver puts that in front through the environment, and runs each case once with each library.
"""
import dataclasses
import re
from typing import Callable

PASSED, FAILED, HUNG, SKIPPED = 'passed', 'failed', 'hung', 'skipped'


class Unavailable(Exception):
    """The program cannot be had on this machine; the text says why."""


@dataclasses.dataclass(frozen=True)
class Limits:
    """When a run is taken for hung. Wall time alone never ends a run: other users of the machine would decide."""
    work: float = 60.0   # seconds of processor time, all processes together
    sleep: float = 40.0  # seconds in which every process slept


@dataclasses.dataclass(frozen=True)
class Outcome:
    """What a run came to. status is None where it was ended by a limit, which `ended` then names."""
    status: int | None
    output: str
    work: float
    wall: float
    ended: str = ''


def by_status(outcome):
    """The common rule: a status of 0 is a pass. Returns the verdict and a reason of one line."""
    if outcome.status == 0:
        return PASSED, ''
    return FAILED, f'status {outcome.status}: {last_words(outcome.output)}'


def last_words(output, patterns=(r'(?i)(error|fail|assert|abort|mismatch|not found|!=|expected).*',)):
    """The line that says most about a failure: the first that matches, or else the last."""
    lines = [line.strip() for line in output.splitlines() if line.strip(' -=*\t')]
    for pattern in patterns:
        for line in lines:
            if re.search(pattern, line):
                return line[:160]
    return lines[-1][:160] if lines else 'no output'


@dataclasses.dataclass(frozen=True)
class Case:
    """One run of a program. name tells it from all others of its program on the same provider and ranks."""
    name: str
    provider: str
    ranks: int
    command: tuple[str, ...]
    environment: dict[str, str] = dataclasses.field(default_factory=dict)
    files: dict[str, str] = dataclasses.field(default_factory=dict)  # written into the folder it runs in
    limits: Limits = Limits()
    judge: Callable[[Outcome], tuple[str, str]] = by_status
    results: tuple[str, ...] = ()  # files of that folder that are appended to the output
    links: tuple[str, ...] = ()  # programs that are found in that folder: it starts them by a relative name


class Program:
    """Base of the programs. A subclass sets what differs."""
    name = ''
    packages: tuple[str, ...] = ()
    providers = ('tcp', 'tcp;ofi_rxm', 'shm')
    whole = False  # whether cases are wanted, too, that repeat others in a further way, where a program has such

    def prepare(self, workplace):
        """Makes the program ready below workplace.folder. Raises Unavailable."""

    def cases(self, workplace, provider, quick):
        """The cases for a provider; with `quick` a few that tell most in little time."""
        raise NotImplementedError
