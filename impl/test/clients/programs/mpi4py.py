"""mpi4py over Open MPI: mpi4py_check.py, whose receives of Python objects are matched probes (FI_PEEK and FI_CLAIM of libfabric).

mpi4py's own suite is in its source package only, which the mirror that this was written with does not have."""
import os

import open_mpi
from case import Case, Program

CHECK = os.path.join(os.path.dirname(os.path.realpath(__file__)), 'mpi4py_check.py')


class Program(Program):
    name = 'mpi4py'
    packages = (*open_mpi.PACKAGES, 'python3-mpi4py')

    def cases(self, workplace, provider, quick):
        for ranks in (2,) if quick else (2, 3, 4):
            for part in ('objects', 'probes', 'collectives', 'windows', 'spawn'):
                yield Case(part, provider, ranks, open_mpi.command(provider, ranks, '/usr/bin/python3', '-P', CHECK, part),
                           open_mpi.environment(workplace, provider))
