#!/usr/bin/env python3
"""Real programs as judges of the library: runs each on the library of this tree and on Debian's, and compares.

  clients.py [--quick | --whole] [--own | --debian | --debian-where-broken] [--library DIR] [--provider NAME]... [--tests REGEX]
             [--ranks N] [--report FILE] [--new | --fresh] [--list] [--record FOLDER] [PROGRAM]...

A full run writes docs/clients.md; --quick runs few cases and writes build/clients/quick.md. Results of earlier full runs
are kept (build/clients/results.json), so programs can be run one by one; --fresh forgets them, --new runs only cases that
have none. What the page says of programs without a result in that file stays.
With --record cases run on the library of this tree alone under `selvage record`; the traces of each that passes go to FOLDER
as one archive (conformance/corpus/traces/ holds such), and no page is written.
Exit status: 0 fine, 1 a case fails or hangs on the library that does not on Debian's, 2 could not run.
"""
import argparse
import dataclasses
import datetime
import fcntl
import importlib.util
import os
import re
import shutil
import signal
import subprocess
import sys

sys.dont_write_bytecode = True  # nothing is left in the tree
sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
# pylint: disable=wrong-import-position
import debian  # noqa: E402
import record  # noqa: E402
import report  # noqa: E402
import watch  # noqa: E402
from case import FAILED, HUNG, PASSED, SKIPPED, Unavailable  # noqa: E402
from tally import Result, Tally, broken  # noqa: E402
from workplace import DEBIAN, OWN, ROOT, Workplace  # noqa: E402

ORDER = ('fabric_tools', 'fabtests', 'open_mpi', 'mpi4py', 'coarrays', 'netpipe', 'hpcc', 'mumps', 'lammps', 'nwchem', 'scalapack', 'mpich',
         'mpich_threads', 'ptscotch', 'starpu')
# tcp of this library exchanges with peers on the same machine through memory, so as programs are run here it would have no
# sockets to use but for this.
BY_SOCKETS, SOCKETS = 'tcp, sockets', {'FI_SELVAGE_LOCAL': '0'}


def out(text):
    print(text, flush=True)


def load(name):
    path = os.path.join(os.path.dirname(os.path.realpath(__file__)), 'programs', f'{name}.py')
    spec = importlib.util.spec_from_file_location(f'programs.{name}', path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.Program()


def run_case(workplace, program, case, library, recorder=None):
    folder = workplace.path('run')
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    for name, content in case.files.items():
        with open(os.path.join(folder, name), 'w', encoding='utf-8') as file:
            file.write(content)
    for path in case.links:
        os.symlink(path, os.path.join(folder, os.path.basename(path)))
    environment = workplace.environment(library, case)
    if recorder:
        environment |= record.environment(recorder, folder, environment)
    outcome = watch.run(case, folder, environment)
    verdict, reason = (HUNG, outcome.ended) if outcome.ended else case.judge(outcome)
    if verdict in (FAILED, HUNG):
        keep_output(workplace, program, case, library, outcome)
    return Result(program.name, case.name, case.provider, case.ranks, library, verdict, reason, round(outcome.work, 2),
                  datetime.date.today().isoformat(), round(outcome.wall, 2))


def keep_output(workplace, program, case, library, outcome):
    name = re.sub(r'[^A-Za-z0-9_.=-]+', '_', f'{program.name}-{case.name}-{case.provider}-{case.ranks}-{library}')[:200]
    os.makedirs(workplace.path('failed'), exist_ok=True)
    with open(workplace.path('failed', name), 'w', encoding='utf-8') as file:
        file.write(' '.join(case.command) + f'\n{case.environment}\n' + outcome.output)


def run_program(workplace, tally, program, options):
    out(f'== {program.name}')
    program.whole = options.whole
    try:
        debian.install(program.packages)
        program.prepare(workplace)
    except Unavailable as reason:
        tally.unavailable[program.name] = str(reason)
        out(f'   could not be had: {reason}')
        return
    tally.unavailable.pop(program.name, None)
    for provider in ways(program):
        if options.provider and provider not in options.provider:
            continue
        cases = [case for case in cases_of(workplace, program, provider, options.quick)
                 if case.ranks <= options.ranks and re.search(options.tests, case.name)]
        for number, case in enumerate(cases, 1):
            if options.list:
                out(f'   {provider} {case.ranks} {case.name}')
                continue
            if options.record:
                record_case(workplace, program, case, options)
                continue
            if options.new and tally.has(program.name, case):
                continue
            results = run_on_libraries(workplace, program, case, options)
            for result in results:
                tally.add(result)
            tally.save()
            show(results, number, len(cases))


def ways(program):
    """The providers of a program, and tcp once more with all that it sends through sockets."""
    for provider in program.providers:
        yield provider
        if provider == 'tcp':
            yield BY_SOCKETS


def cases_of(workplace, program, provider, quick):
    if provider != BY_SOCKETS:
        yield from program.cases(workplace, provider, quick)
        return
    for case in program.cases(workplace, 'tcp', quick):
        yield dataclasses.replace(case, provider=provider, environment=case.environment | SOCKETS)


def record_case(workplace, program, case, options):
    result = run_case(workplace, program, case, OWN, options.recorder)
    name = record.archive_name(program.name, case)
    said = 'not kept' if result.verdict != PASSED else record.pack(workplace.path('run'), os.path.join(options.record, name))
    out(f'   {case.provider} {case.name} on {case.ranks}: {result.verdict}, {name}: {said}')


def run_on_libraries(workplace, program, case, options):
    """The results of a case on the libraries that were asked for."""
    results = [] if options.debian else [run_case(workplace, program, case, OWN)]
    if options.debian_where_broken and results[0].verdict not in (FAILED, HUNG):
        return results
    return results if options.own else results + [run_case(workplace, program, case, DEBIAN)]


def show(results, number, total):
    """A line for each case: the verdicts, processor time in wall time, and reasons where they are not the expected."""
    words = ', '.join(f'{result.verdict} {result.work:.1f} s in {result.wall:.1f}' + (f' ({result.reason})' if result.reason else '')
                      for result in results if result.verdict != SKIPPED or result.library == OWN)
    first = results[0]
    mark = 'BROKEN ' if first.library == OWN and broken(first, results[1] if len(results) > 1 else None) else ''
    out(f'   {first.provider} {number}/{total} {mark}{first.name} on {first.ranks}: {words}')


def parse(arguments):
    parser = argparse.ArgumentParser(prog='./run clients', description=__doc__.split('\n', maxsplit=1)[0])
    parser.add_argument('program', nargs='*', choices=[*ORDER, []], metavar='PROGRAM', help=', '.join(ORDER))
    size = parser.add_mutually_exclusive_group()
    size.add_argument('--quick', action='store_true', help='few cases that tell most')
    size.add_argument('--whole', action='store_true', help='cases, too, that repeat others with other types and algorithms (mpich)')
    only = parser.add_mutually_exclusive_group()
    only.add_argument('--own', action='store_true', help="on the library of this tree alone; every failure counts")
    only.add_argument('--debian', action='store_true', help="on Debian's library alone")
    only.add_argument('--debian-where-broken', action='store_true',
                      help="on Debian's library only the cases that fail or hang on the library of this tree")
    parser.add_argument('--library', default=os.path.join(ROOT, 'build/release/impl'), metavar='DIR',
                        help='folder of the libfabric.so.1 under test')
    parser.add_argument('--folder', default=os.path.join(ROOT, 'build/clients'), help='where programs are built and run')
    parser.add_argument('--provider', action='append', default=[], help='tcp, "tcp, sockets", "tcp;ofi_rxm" or shm; all if not given')
    parser.add_argument('--tests', default='', metavar='REGEX', help='only cases whose name matches')
    parser.add_argument('--ranks', type=int, default=4, help='cases of at most so many ranks (default: 4)')
    parser.add_argument('--report', metavar='FILE', help='where the page goes')
    kept = parser.add_mutually_exclusive_group()
    kept.add_argument('--new', action='store_true', help='only cases that have no result of an earlier run')
    kept.add_argument('--fresh', action='store_true', help='forget results of earlier runs')
    parser.add_argument('--record', metavar='FOLDER', help='keep traces of the cases that pass, and nothing else')
    parser.add_argument('--recorder', default=os.path.join(ROOT, 'build/release/conformance/record/libselvage-record.so'),
                        help=argparse.SUPPRESS)
    parser.add_argument('--list', action='store_true', help='name the cases and run none')
    return parser.parse_args(arguments)


def own_is_loaded(library):
    """Whether LD_LIBRARY_PATH puts the library in front, as otherwise Debian's would be run twice."""
    found = subprocess.run(['ldd', shutil.which('fi_info') or '/usr/bin/fi_info'], capture_output=True, text=True, check=False,
                           env=os.environ | {'LD_LIBRARY_PATH': library}).stdout
    return f'libfabric.so.1 => {library}/' in found


def write_page(path, tally):
    """Writes the page; what it says of programs that have no result is kept."""
    before = ''
    if os.path.exists(path):
        with open(path, encoding='utf-8') as file:
            before = file.read()
    text = report.page(tally, before)
    with open(path, 'w', encoding='utf-8') as file:
        file.write(text)


def main(arguments):
    options = parse(arguments)
    library = os.path.realpath(options.library)
    if not os.path.exists(os.path.join(library, 'libfabric.so.1')):
        print(f'no libfabric.so.1 in {library}', file=sys.stderr)
        return 2
    if not own_is_loaded(library):
        print(f'programs do not load {library}/libfabric.so.1 (package libfabric-bin is needed)', file=sys.stderr)
        return 2
    if options.record and not os.path.exists(options.recorder):
        print(f'no recorder: {options.recorder} (./run build makes it)', file=sys.stderr)
        return 2
    watch.adopt_orphans()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(2))  # so that what runs is ended, too
    workplace = Workplace(os.path.realpath(options.folder), library)
    lock = open(workplace.path('lock'), 'w', encoding='ascii')  # held until this process ends
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        print(f'another run uses {workplace.folder}', file=sys.stderr)
        return 2
    store = None if options.quick else workplace.path('results.json')
    if options.fresh and store and os.path.exists(store):
        os.unlink(store)
    tally = Tally(store)
    for name in options.program or ORDER:
        run_program(workplace, tally, load(name), options)
    if options.list or options.record:
        return 0
    tally.save()
    path = options.report or (os.path.join(ROOT, 'docs/clients.md') if store else workplace.path('quick.md'))
    write_page(path, tally)
    bad = report.end(tally, out)
    out(f'{path} holds the page')
    if not tally.results:
        return 2
    return 1 if bad else 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
