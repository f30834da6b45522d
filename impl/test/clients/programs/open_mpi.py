"""Debian's Open MPI: our own program of every way to move a message, and programs of Open MPI's own source package."""
import glob
import os

import debian
import open_mpi
from case import FAILED, PASSED, Case, Limits, Program, Unavailable, by_status
from workplace import ROOT

OWN = os.path.join(ROOT, 'impl/test/programs/mpi')
# name: (source, arguments, ranks)
THEIRS = {
    'ring_c': ('examples/ring_c.c', (), (2, 4)),
    'connectivity_c': ('examples/connectivity_c.c', ('-v',), (2, 4)),
    'sendrecv_blaster ring': ('orte/test/mpi/sendrecv_blaster.c', ('pattern=ring', 'size=-64', 'inject=0', 'iterations=200'), (2, 4)),
    'sendrecv_blaster pair': ('orte/test/mpi/sendrecv_blaster.c', ('pattern=pair', 'size=1', 'iterations=20'), (2, 4)),
    'crisscross': ('orte/test/mpi/crisscross.c', (), (2, 4)),
    'hello_barrier': ('orte/test/mpi/hello_barrier.c', (), (2, 4)),
    'simple_spawn': ('orte/test/mpi/simple_spawn.c', (), (1, 2)),
    'spawn_multiple': ('orte/test/mpi/spawn_multiple.c', (), (1, 2)),
}


def no_complaint(outcome):
    verdict, reason = by_status(outcome)
    lines = [line for line in outcome.output.splitlines() if 'error' in line.lower() or 'BAD ANSWER' in line]
    return (FAILED, lines[0][:160]) if verdict == PASSED and lines else (verdict, reason)


class Program(Program):
    name = 'open_mpi'
    packages = open_mpi.PACKAGES

    def prepare(self, workplace):
        sources = sorted(set(glob.glob(f'{OWN}/*.c')) - {f'{OWN}/local_shim.c'})
        self.own = open_mpi.compiled(workplace, 'every_call', sources, [f'{OWN}/check.h'])
        self.theirs = {}

    def fetch(self, workplace):
        """Open MPI's own programs, where its source package can be had: the rest goes on without them."""
        try:
            place = debian.source('openmpi', workplace.path('sources'))
        except Unavailable as reason:
            print(f'   without programs of the source package: {reason}', flush=True)
            return
        for name, (source, _, _) in THEIRS.items():
            path = os.path.join(place, source)
            self.theirs[name] = open_mpi.compiled(workplace, os.path.splitext(os.path.basename(path))[0], [path])

    def cases(self, workplace, provider, quick):
        environment = open_mpi.environment(workplace, provider)
        for ranks in (2, 4):
            # Spawned processes hang in PMIx_Init now and then, with any libfabric (docs/endurance.md).
            for part in ('point_to_point', 'collectives', 'one_sided', 'dynamic', *(() if quick else ('spawning',))):
                yield Case(part, provider, ranks, open_mpi.command(provider, ranks, self.own, part), environment)
            if 'ofi_rxm' not in provider:  # btl ofi refuses every provider with that in its name
                yield Case('one_sided by remote access', provider, ranks,
                           open_mpi.command(provider, ranks, self.own, 'one_sided', one_sided=True), environment)
        if quick:
            return
        if not self.theirs:
            self.fetch(workplace)
        for name, (_, arguments, counts) in THEIRS.items():
            for ranks in counts if name in self.theirs else ():
                yield Case(name, provider, ranks, open_mpi.command(provider, ranks, self.theirs[name], *arguments), environment,
                           limits=Limits(work=90), judge=no_complaint)
