"""MPICH's own test suite on MPICH 4.0.2, built from Debian's source package for ch4:ofi and without shared memory of its own:
Debian's binary package is built for UCX. The suite's lists (testlist) name each case with its ranks, arguments and environment.

A case prints " No Errors" (or "No errors") where all is well, unless its list says that its status tells (resultTest). Not taken: cases
that their list expects to fail (xfail) or runs without mpiexec's cleaning up (three, of MPI_Abort: MPI_Finalize of those that are left
waits without end in shared memory of MPICH's own), Fortran, C++, files (MPI-IO) and measurements. The lists of further types of data and of
further algorithms of collectives (testlist.dtp, testlist.cvar) repeat cases some 1,150 times: taken with --whole.

MPICH waits by reading its completion queue without end, and has no option to yield: with more ranks than processors a case would take
some ten times as long. So a library of ours yields for it (yield_shim.c).
"""
import os
import re
import shlex
import subprocess
import typing

import debian
from case import FAILED, PASSED, SKIPPED, Case, Limits, Program, last_words
from workplace import ROOT

FOLDERS = ('pt2pt', 'coll', 'rma', 'comm', 'attr', 'datatype', 'group', 'topo', 'part', 'spawn', 'threads/pt2pt', 'threads/rma',
           'threads/comm', 'threads/coll', 'errors/pt2pt', 'errors/coll', 'errhan', 'info', 'init', 'mpi_t', 'threads/init',
           'threads/mpi_t', 'threads/spawn', 'threads/part', 'errors/attr', 'errors/comm', 'errors/datatype', 'errors/group', 'errors/rma', 'errors/spawn',
           'errors/topo', 'impls/mpich', 'impls/mpich/comm', 'impls/mpich/mpi_t', 'impls/mpich/threads/pt2pt')
WHOLE = ('testlist.dtp', 'testlist.cvar')
OPTIONS = ('--with-device=ch4:ofi', '--with-ch4-shmmods=none', '--with-libfabric=/usr', '--with-hwloc=/usr',
           '--with-datatype-engine=dataloop', '--disable-fortran', '--disable-cxx', '--disable-romio', '--disable-static',
           '--enable-fast=O1', '--with-pm=hydra')
# The libraries that Debian's libfabric.so is linked with itself; configure takes them from Libs.private of libfabric.pc.
PRIVATE = '-lpsm_infinipath -lpsm2 -lrdmacm -libverbs -lefa -latomic'
QUICK = ('pt2pt/sendrecv3', 'pt2pt/anyall', 'pt2pt/probe_unexp', 'pt2pt/large_message', 'coll/allred', 'coll/alltoall1', 'coll/bcasttest',
         'rma/test4', 'rma/fetchandadd', 'rma/lockcontention2', 'comm/ic1', 'threads/pt2pt/threads', 'spawn/spawn1')


SHIM_SOURCE = os.path.join(ROOT, 'impl/test/clients/yield_shim.c')
NO_ERRORS = r'^\s*No [Ee]rrors\s*$'


def said(outcome):
    return f'status {outcome.status}: {last_words(outcome.output)}'


def judge(outcome):
    if outcome.status == 0 and re.search(NO_ERRORS, outcome.output, re.M):
        return PASSED, ''
    if outcome.status == 77 or re.search(r'(?i)test (skipped|not supported)', outcome.output):
        return SKIPPED, ''
    return FAILED, said(outcome)


def judge_status(outcome):
    """Of a case whose end mpiexec is to report: a status that is not 0, and that no crash made."""
    crashed = re.search(r'EXIT CODE: (132|134|135|136|139|6|11)$|EXIT STRING: (Segmentation|Abort|Bus)', outcome.output, re.M)
    return (PASSED, '') if outcome.status and not crashed else (FAILED, said(outcome))


def judge_status_and_line(outcome):
    return (PASSED, '') if outcome.status and re.search(NO_ERRORS, outcome.output, re.M) else (FAILED, said(outcome))


JUDGES = {'': judge, 'TestStatus': judge_status, 'TestErrFatal': judge_status, 'TestStatusNoErrors': judge_status_and_line}


class Entry(typing.NamedTuple):
    """A line of a list."""
    name: str
    ranks: int
    arguments: tuple[str, ...]
    environment: dict[str, str]
    result: str  # what judges it: a name of JUDGES
    limit: int   # seconds, 0 if the list names none


OVERLAPS = '@comm_overlap@'  # in a list that configure has not seen: threads make communicators in an order of their own


def entries(path, overlaps=True):
    """The entries of a list that are taken, with or without those that need what OVERLAPS says."""
    with open(path, encoding='utf-8') as file:
        for line in file:
            if line.startswith(OVERLAPS) and not overlaps:
                continue
            words = line.replace(OVERLAPS, '').split('#')[0].split()
            if len(words) < 2 or not words[1].isdigit():
                continue
            options = [word.partition('=')[::2] for word in words[2:]]

            def all_of(name):
                return tuple(value for key, value in options if key == name)  # pylint: disable=cell-var-from-loop
            entry = Entry(words[0], int(words[1]), all_of('arg'), dict(value.split('=', 1) for value in all_of('env') if '=' in value),
                          ''.join(all_of('resultTest')), int(''.join(all_of('timeLimit')) or 0))
            if not all_of('xfail') and not all_of('mpiexecarg') and entry.result in JUDGES:
                yield entry


def programs_of(folder):
    paths = (os.path.join(folder, name) for name in sorted(os.listdir(folder)))
    return tuple(path for path in paths if os.path.isfile(path) and os.access(path, os.X_OK))


class Program(Program):
    name = 'mpich'
    judge_case, judges, folders = staticmethod(judge), JUDGES, FOLDERS
    providers = ('tcp', 'shm')  # asked for the layered name, it takes what is below on this library, and rxm on Debian's for either
    packages = ('libfabric-dev', 'libhwloc-dev', 'build-essential')

    def prepare(self, workplace):
        self.build, self.prefix = workplace.path('mpich-build'), workplace.path('mpich')
        self.source = debian.source('mpich', workplace.path('sources'))
        if not os.path.exists(os.path.join(self.prefix, '.installed')):
            self.make(workplace, self.source)
        self.shim = workplace.path('yield_shim.so')
        if workplace.newer(self.shim, SHIM_SOURCE):
            workplace.make('yield_shim', 'cc', '-shared', '-fPIC', '-O1', '-Wall', '-Werror', '-o', self.shim, SHIM_SOURCE, '-ldl')
        self.tests = os.path.join(self.build, 'test/mpi')
        for folder in ('util', 'dtpools', *FOLDERS):
            stamp = os.path.join(self.tests, folder, '.built')
            if not os.path.exists(stamp):
                print(f'   building test/mpi/{folder}', flush=True)
                workplace.make('mpich-tests', 'make', '-k', '-j2', 'V=0', cwd=os.path.join(self.tests, folder))
                open(stamp, 'w', encoding='utf-8').close()

    def make(self, workplace, source):
        os.makedirs(self.build, exist_ok=True)
        print('   building MPICH, some five minutes of two processors', flush=True)
        compiler = 'CC=ccache gcc' if workplace.has('ccache') else 'CC=gcc'
        workplace.make('mpich-configure', os.path.join(source, 'configure'), f'--prefix={self.prefix}', *OPTIONS, compiler,
                       cwd=self.build)
        named = subprocess.run(['grep', '-rlI', '--exclude=config.*', '-e', PRIVATE, '.'], cwd=self.build, capture_output=True, text=True,
                               check=False).stdout.split()
        for path in named:
            workplace.make('mpich-configure', 'sed', '-i', f's/{PRIVATE}//', path, cwd=self.build)
        workplace.make('mpich-make', 'make', '-j2', 'V=0', cwd=self.build)
        workplace.make('mpich-make', 'make', 'install', cwd=self.build)
        open(os.path.join(self.prefix, '.installed'), 'w', encoding='utf-8').close()

    def lists_of(self, folder, quick):
        """The lists of a folder: configure makes some of them."""
        for name in ('testlist', *(WHOLE if self.whole and not quick else ())):
            places = (os.path.join(top, folder, name) for top in (self.tests, os.path.join(self.source, 'test/mpi')))
            yield from [place for place in places if os.path.exists(place)][:1]

    def cases(self, workplace, provider, quick):
        seen = set()
        for folder in FOLDERS:
            beside = programs_of(os.path.join(self.tests, folder))  # some spawn each other: MPI_Comm_spawn("./spawn2")
            for entry in (entry for path in self.lists_of(folder, quick) for entry in entries(path)):
                program = os.path.join(self.tests, folder, os.path.basename(entry.name))
                full = f'{folder}/{os.path.basename(entry.name)}'
                if not os.path.exists(program) or (quick and full not in QUICK):
                    continue
                label = shlex.join((full, *entry.arguments, *(f'{key}={value}' for key, value in entry.environment.items())))
                if (label, entry.ranks) in seen:
                    continue
                seen.add((label, entry.ranks))
                yield self.case(label, provider, entry, program, beside)

    def case(self, label, provider, entry, program, beside):
        environment = {'FI_PROVIDER': provider, 'LD_PRELOAD': self.shim} | entry.environment
        if entry.result and entry.limit:
            environment['MPIEXEC_TIMEOUT'] = str(entry.limit)  # the case is that mpiexec ends it
        return Case(label, provider, entry.ranks,
                    (os.path.join(self.prefix, 'bin/mpiexec'), '-launcher', 'fork', '-n', str(entry.ranks), program,
                     *entry.arguments),
                    environment, links=beside, limits=Limits(work=max(180, entry.limit)), judge=JUDGES[entry.result])
