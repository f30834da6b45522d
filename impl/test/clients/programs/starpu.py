"""StarPU's own examples of tasks that exchange data over Open MPI: the tasks run on threads, and a thread of its own makes the
calls to MPI (MPI_THREAD_SERIALIZED), with tests of requests and probes in turn.

Not taken: plu_example_*, of which plu_example_double was unfinished after 60 s on either library on two processors; stencil5_lb,
whose balancer failed an assertion of its own on either."""
import os

import open_mpi
from case import SKIPPED, Case, Program, by_status

EXAMPLES = '/usr/lib/x86_64-linux-gnu/starpu/mpi'
MEASURES = '/usr/lib/x86_64-linux-gnu/starpu/examples/hello_world'
TAKEN = ('cache', 'cache_disable', 'comm', 'filter', 'mix_comm', 'mm', 'mpi_cholesky', 'mpi_cholesky_distributed', 'mpi_complex',
         'nf_basic_ring', 'nf_mm', 'nf_mm_task_build', 'stencil5', 'user_datatype', 'user_datatype2', 'user_datatype_early')
QUICK = ('mpi_cholesky', 'nf_basic_ring')


def judge(outcome):
    return (SKIPPED, '') if outcome.status == 77 else by_status(outcome)


class Program(Program):
    name = 'starpu'
    packages = (*open_mpi.PACKAGES, 'starpu-examples')

    def prepare(self, workplace):
        """StarPU measures the machine once, and keeps what it found: ranks that do so at once read each other's unfinished files."""
        self.home = workplace.path('starpu')
        os.makedirs(self.home, exist_ok=True)
        workplace.make('starpu-measures', 'env', f'STARPU_HOME={self.home}', MEASURES)

    def cases(self, workplace, provider, quick):
        environment = open_mpi.environment(workplace, provider) | {'STARPU_HOME': self.home}
        for ranks in (2,) if quick else (2, 4):
            for name in QUICK if quick else TAKEN:
                yield Case(name, provider, ranks, open_mpi.command(provider, ranks, os.path.join(EXAMPLES, name)), environment,
                           judge=judge)
