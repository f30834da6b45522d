"""NetPIPE over Open MPI: its integrity check, in each of its ways to send and receive."""
import open_mpi
from case import FAILED, PASSED, Case, Program, by_status

MODES = {'': (), 'preposted': ('-a',), 'any source': ('-z',), 'synchronous': ('-S',), 'both ways': ('-a', '-2')}


def intact(outcome):
    verdict, reason = by_status(outcome)
    if verdict == PASSED and ('ntegrity check failed' in outcome.output or 'ntegrity check passed' not in outcome.output):
        return FAILED, 'the integrity check did not pass'
    return verdict, reason


class Program(Program):
    name = 'netpipe'
    packages = (*open_mpi.PACKAGES, 'netpipe-openmpi')

    def cases(self, workplace, provider, quick):
        upper = '65536' if quick else '1048576'
        for name, options in MODES.items():
            if quick and name not in ('', 'both ways'):
                continue
            command = ('NPopenmpi', '-i', '-u', upper, '-n', '5', '-o', 'np.out', *options)
            yield Case(f'integrity {name}'.strip(), provider, 2, open_mpi.command(provider, 2, *command),
                       open_mpi.environment(workplace, provider), judge=intact)
