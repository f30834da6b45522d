"""The page (docs/clients.md) and the end of a run on the screen."""
import re

from case import FAILED, HUNG, PASSED, SKIPPED
from tally import broken, differs
from workplace import DEBIAN, OWN

_HEAD = '''# Real programs as judges

Programs that we did not write, on `libfabric.so.1` of this tree and, beside it, on Debian's libfabric 1.17. This page is written
by `./run clients` (impl/test/clients/); a call with names of programs or providers replaces the rows of these alone.

* **tcp** of this library sends to peers on the same machine through memory, so by sockets goes what is called *tcp, sockets*:
  the same with `FI_SELVAGE_LOCAL=0`. Debian's library knows no such thing.
* **Ranks** are those that the cases were run on. MPICH's cases have each the number that its list gives.
* **Hung** is a run whose processes used more processor time than its limit, or all slept for 40 s; wall time ends nothing.
* A case that a program does not support on a provider is skipped.
* A row has the cases that were run, on each library; `./run clients --list PROGRAM` names all that there are. With
  `--debian-where-broken` a case is run on Debian's library only if it does not pass on this one.
* Every message goes through libfabric: MPICH is built without shared memory of its own, Open MPI runs `pml cm`, `mtl ofi`.
'''

_DIFFER, _BOTH = 'Cases that differ', 'Cases that fail or hang on both'
_NOTES = 'Notes'  # written by hand, and kept


def _counts(row, library):
    return [str(row[library].get(verdict, 0)) for verdict in (PASSED, FAILED, HUNG, SKIPPED)]


def _span(numbers):
    low, high = min(numbers), max(numbers)
    return str(low) if low == high else ', '.join(str(number) for number in sorted(numbers))


def _line(own, debian):
    text = f'`{own.program} {own.name}`, {own.provider}, {own.ranks} ranks: {own.verdict}'
    text += f' ({own.reason})' if own.reason else ''
    if debian:
        text += f"; Debian's: {debian.verdict}" + (f' ({debian.reason})' if debian.reason else '')
    return text.replace('|', '\\|')


# A row, and a line about a case; a name of a provider may have a comma in it.
_ROW = re.compile(r'\| (?P<program>\w+) \| (?P<provider>[\w;, ]+) \| [\d, ]+ \|')
_NAMED = re.compile(r'\* `(?P<program>\w+) [^`]*`, (?P<provider>[\w;, ]+), \d+ ranks:')


def _kept(before, tally, form):
    """Lines of an earlier page that have the form and are of programs and providers without a result."""
    have = set(tally.rows())
    found = (form.match(line) for line in before.splitlines())
    return [match.string for match in found if match and match.group('program') not in tally.unavailable
            and (match.group('program'), match.group('provider')) not in have]


def _section(before, title):
    return before.partition(f'## {title}\n')[2].partition('\n## ')[0]


def page(tally, before=''):
    """The page. before: the page as it was, of which lines of programs without a result are kept."""
    lines = [_HEAD, '| program | provider | ranks | passed | failed | hung | skipped | Debian\'s: passed | failed | hung | '
             'skipped | run on |', '|---|---|---|---|---|---|---|---|---|---|---|---|']
    for (program, provider), row in tally.rows().items():
        lines.append('| ' + ' | '.join([program, provider, _span(row['ranks']), *_counts(row, OWN), *_counts(row, DEBIAN),
                                        max(row['days'])]) + ' |')
    lines += _kept(before, tally, _ROW)
    pairs = list(tally.pairs())
    both = [pair for pair in pairs if pair[1] and not differs(*pair) and pair[0].verdict in (FAILED, HUNG)]
    for title, named in ((_DIFFER, [pair for pair in pairs if differs(*pair)]), (_BOTH, both)):
        lines += ['', f'## {title}', '']
        lines += [f'* {_line(*pair)}' for pair in named] + _kept(_section(before, title), tally, _NAMED) or ['None.']
    if tally.unavailable:
        lines += ['', '## Programs that could not be had', '']
        lines += [f'* {program}: {reason}' for program, reason in tally.unavailable.items()]
    notes = _section(before, _NOTES).strip()
    if notes:
        lines += ['', f'## {_NOTES}', '', notes]
    return '\n'.join(lines) + '\n'


def end(tally, out, at_most=12):
    """A table and what is broken, on a screen. Returns how many cases are broken."""
    out(f'{"program":24} {"provider":12} {"passed":>7} {"failed":>7} {"hung":>5} {"skipped":>8}   Debian\'s')
    for (program, provider), row in tally.rows().items():
        own, other = _counts(row, OWN), _counts(row, DEBIAN)
        out(f'{program:24} {provider:12} {own[0]:>7} {own[1]:>7} {own[2]:>5} {own[3]:>8}   {"/".join(other)}')
    for program, reason in tally.unavailable.items():
        out(f'{program}: could not be had: {reason}')
    bad = [pair for pair in tally.pairs() if broken(*pair)]
    for pair in bad[:at_most]:
        out(f'BROKEN {_line(*pair)}')
    if len(bad) > at_most:
        out(f'... and {len(bad) - at_most} more')
    return len(bad)
