"""The tests of MPICH's suite that call MPI from several threads (MPI_THREAD_MULTIPLE), on Open MPI: point to point, probes,
collectives, communicators and windows. The suite's lists (testlist) name each case with its ranks and arguments.

They are compiled with a header of ours in the place of that which MPICH's configure makes, so MPICH need not be built. Not
taken: the tests of MPI_Improbe, which compare a message with MPI_REQUEST_NULL, and so count an error per call on Open MPI; those
in which threads make communicators in another order on each process, which MPICH allows for: idup_deadlock waits without end.
"""
import os
import re
import shlex

import debian
import open_mpi
from case import Case, Limits, Program
from programs import mpich

FOLDERS = ('pt2pt', 'comm', 'coll', 'rma')
COMMON = ('mtest', 'mtest_common', 'mtest_thread')
QUICK = ('pt2pt/threaded_sr', 'pt2pt/mt_sendrecv', 'pt2pt/mt_mprobe_sendrecv', 'comm/ctxdup', 'coll/allred')
CONFIGURED = ''.join(f'#define {name}\n' for name in (
    *(f'HAVE_{word} 1' for word in ('GETRUSAGE', 'INTTYPES_H', 'STDINT_H', 'STDLIB_H', 'STRING_H', 'STRINGS_H', 'UNISTD_H',
                                    'SYS_TIME_H', 'SYS_RESOURCE_H', 'STDARG_H', 'MPI_WIN_CREATE', 'LONG_DOUBLE', 'LONG_LONG',
                                    'PTHREAD_H', 'PTHREAD_BARRIER_INIT')),
    'STDC_HEADERS 1', 'MAX_THREADS 8', 'THREAD_PACKAGE_NONE 0', 'THREAD_PACKAGE_POSIX 1', 'THREAD_PACKAGE_SOLARIS 2',
    'THREAD_PACKAGE_WIN 3', 'THREAD_PACKAGE_ARGOBOTS 5', 'THREAD_PACKAGE_NAME THREAD_PACKAGE_POSIX'))


def variables(path):
    """{name: words} of the assignments of a Makefile.am: what a program is made of, and its definitions."""
    with open(path, encoding='utf-8') as file:
        text = file.read().replace('\\\n', ' ')
    return {name: words.split() for name, words in re.findall(r'^(\w+) *= *(.*)$', text, re.M)}


class Program(Program):
    name = 'mpich_threads'
    packages = open_mpi.PACKAGES

    def prepare(self, workplace):
        self.tests = os.path.join(debian.source('mpich', workplace.path('sources')), 'test/mpi')
        self.place = workplace.path('mpich_threads')
        os.makedirs(self.place, exist_ok=True)
        header = os.path.join(self.place, 'mpitestconf.h')
        if not os.path.exists(header):
            with open(header, 'w', encoding='utf-8') as file:
                file.write(CONFIGURED)
        self.flags = ('-w', '-O1', '-g', '-DMTEST_USE_THREAD', f'-I{self.place}', f'-I{self.tests}/include',
                      f'-I{self.tests}/dtpools/include')
        for name in COMMON:
            self.compile(workplace, f'{name}.o', [f'{self.tests}/util/{name}.c'], '-c')

    def compile(self, workplace, name, sources, *more):
        """A program or an object, compiled for Open MPI where it is not there yet."""
        made = os.path.join(self.place, name)
        if workplace.newer(made, *sources):
            workplace.make('mpich_threads/build', 'mpicc.openmpi', *self.flags, *more, '-o', made, *sources)
        return made

    def built(self, workplace, folder, name):
        made_of = variables(os.path.join(self.tests, 'threads', folder, 'Makefile.am'))
        sources = [os.path.join(self.tests, 'threads', folder, source) for source in made_of.get(f'{name}_SOURCES', [f'{name}.c'])]
        definitions = [word for word in made_of.get(f'{name}_CPPFLAGS', ()) if word.startswith('-D')]
        objects = [os.path.join(self.place, f'{common}.o') for common in COMMON]
        return self.compile(workplace, f'{folder}-{name}', [*sources, *objects], *definitions, '-pthread')

    def list_of(self, folder):
        path = os.path.join(self.tests, 'threads', folder, 'testlist')
        return path if os.path.exists(path) else path + '.in'

    def cases(self, workplace, provider, quick):
        environment, seen = open_mpi.environment(workplace, provider), set()
        for folder in FOLDERS:
            for entry in mpich.entries(self.list_of(folder), overlaps=False):
                name, label = entry.name, shlex.join((f'{folder}/{entry.name}', *entry.arguments))
                # Open MPI makes windows with this level of threads by remote access alone, which takes no layered name.
                if label in seen or 'improbe' in name or (quick and f'{folder}/{name}' not in QUICK) or (folder == 'rma' and 'ofi_rxm' in provider):
                    continue
                seen.add(label)
                command = open_mpi.command(provider, entry.ranks, self.built(workplace, folder, name), *entry.arguments,
                                           one_sided=folder == 'rma')
                yield Case(label, provider, entry.ranks, command, environment, limits=Limits(work=120), judge=mpich.judge)
