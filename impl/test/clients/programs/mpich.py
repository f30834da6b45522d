"""MPICH's own test suite on MPICH 4.0.2, built from Debian's source package for ch4:ofi and without shared memory of its own:
Debian's binary package is built for UCX. The suite's lists (testlist) name each case with its ranks, arguments and environment.

A case prints " No Errors" (or "No errors") where all is well. Not taken: cases that their list expects to fail (xfail), that want an option
of mpiexec, or that judge by something else than that line or the status.
"""
import os
import re
import shlex
import subprocess

import debian
from case import FAILED, PASSED, SKIPPED, Case, Limits, Program, last_words

FOLDERS = ('pt2pt', 'coll', 'rma', 'comm', 'attr', 'datatype', 'group', 'topo', 'part', 'spawn', 'threads/pt2pt', 'threads/rma',
           'threads/comm', 'threads/coll', 'errors/pt2pt', 'errors/coll')
OPTIONS = ('--with-device=ch4:ofi', '--with-ch4-shmmods=none', '--with-libfabric=/usr', '--with-hwloc=/usr',
           '--with-datatype-engine=dataloop', '--disable-fortran', '--disable-cxx', '--disable-romio', '--disable-static',
           '--enable-fast=O1', '--with-pm=hydra')
# The libraries that Debian's libfabric.so is linked with itself; configure takes them from Libs.private of libfabric.pc.
PRIVATE = '-lpsm_infinipath -lpsm2 -lrdmacm -libverbs -lefa -latomic'
QUICK = ('pt2pt/sendrecv3', 'pt2pt/anyall', 'pt2pt/probe_unexp', 'pt2pt/large_message', 'coll/allred', 'coll/alltoall1', 'coll/bcasttest',
         'rma/test4', 'rma/fetchandadd', 'rma/lockcontention2', 'comm/ic1', 'threads/pt2pt/threads', 'spawn/spawn1')


def judge(outcome):
    if outcome.status == 0 and re.search(r'^\s*No [Ee]rrors\s*$', outcome.output, re.M):
        return PASSED, ''
    if outcome.status == 77 or re.search(r'(?i)test (skipped|not supported)', outcome.output):
        return SKIPPED, ''
    return FAILED, f'status {outcome.status}: {last_words(outcome.output)}'


def judge_status(outcome):
    return (PASSED, '') if outcome.status == 0 else (FAILED, f'status {outcome.status}: {last_words(outcome.output)}')


def entries(path):
    """(name, ranks, arguments, environment, result test) of each case of a list that is taken."""
    with open(path, encoding='utf-8') as file:
        for line in file:
            words = line.replace('@comm_overlap@', '').split('#')[0].split()  # in a list that configure has not seen
            if len(words) < 2 or not words[1].isdigit():
                continue
            options = [word.partition('=') for word in words[2:]]
            if any(name in ('xfail', 'mpiexecarg') for name, _, _ in options):
                continue
            result = ''.join(value for name, _, value in options if name == 'resultTest')
            if result not in ('', 'TestStatus', 'TestStatusNoErrors'):
                continue
            arguments = tuple(value for name, _, value in options if name == 'arg')
            environment = dict(value.split('=', 1) for name, _, value in options if name == 'env' and '=' in value)
            yield words[0], int(words[1]), arguments, environment, result


def programs_of(folder):
    paths = (os.path.join(folder, name) for name in sorted(os.listdir(folder)))
    return tuple(path for path in paths if os.path.isfile(path) and os.access(path, os.X_OK))


class Program(Program):
    name = 'mpich'
    judge_case = staticmethod(judge)
    providers = ('tcp', 'shm')  # asked for the layered name, it takes what is below on this library, and rxm on Debian's for either
    packages = ('libfabric-dev', 'libhwloc-dev', 'build-essential')

    def prepare(self, workplace):
        self.build, self.prefix = workplace.path('mpich-build'), workplace.path('mpich')
        self.source = debian.source('mpich', workplace.path('sources'))
        if not os.path.exists(os.path.join(self.prefix, '.installed')):
            self.make(workplace, self.source)
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

    def list_of(self, folder):
        """The list of a folder: configure makes some of them."""
        made = os.path.join(self.tests, folder, 'testlist')
        return made if os.path.exists(made) else os.path.join(self.source, 'test/mpi', folder, 'testlist')

    def cases(self, workplace, provider, quick):
        seen = {}
        for folder in FOLDERS:
            beside = programs_of(os.path.join(self.tests, folder))  # some spawn each other: MPI_Comm_spawn("./spawn2")
            for name, ranks, arguments, environment, result in entries(self.list_of(folder)):
                program = os.path.join(self.tests, folder, os.path.basename(name))
                full = f'{folder}/{os.path.basename(name)}'
                if not os.path.exists(program) or (quick and full not in QUICK):
                    continue
                label = shlex.join((full, *arguments, *(f'{key}={value}' for key, value in environment.items())))
                seen[label, ranks] = seen.get((label, ranks), 0) + 1
                if seen[label, ranks] > 1:
                    continue
                yield Case(label, provider, ranks,
                           (os.path.join(self.prefix, 'bin/mpiexec'), '-launcher', 'fork', '-n', str(ranks), program, *arguments),
                           {'FI_PROVIDER': provider} | environment,
                           links=beside,
                           limits=Limits(work=180), judge=judge if result != 'TestStatus' else judge_status)
