"""The test programs of MUMPS over Open MPI: a sparse system solved by processes that probe for whatever comes next."""
import re

import open_mpi
from case import FAILED, PASSED, Case, Program, by_status

FOLDER = '/usr/lib/mumps'
SOLUTION = (1.0, 2.0, 3.0, 4.0, 5.0)


def judge(outcome):
    verdict, reason = by_status(outcome)
    if verdict != PASSED:
        return verdict, reason
    said = outcome.output.partition('Solution is')[2].partition('Entering')[0]
    found = [float(real) for real in re.findall(r'-?\d+\.\d+(?:E[+-]?\d+)?', said)]
    if any(abs(value) < 0.5 for value in found):  # those of complex numbers
        found = found[::2]
    if len(found) != len(SOLUTION) or any(abs(a - b) > 1e-4 for a, b in zip(found, SOLUTION)):
        return FAILED, f'the solution is {found or said[:80]}'
    return PASSED, ''


class Program(Program):
    name = 'mumps'
    packages = (*open_mpi.PACKAGES, 'mumps-test')

    def cases(self, workplace, provider, quick):
        for ranks in (2,) if quick else (2, 4):
            for kind in 'd' if quick else 'sdcz':
                data = 'cmplx' if kind in 'cz' else 'real'
                command = open_mpi.command(provider, ranks, f'{FOLDER}/{kind}simpletest')
                yield Case(f'{kind}simpletest', provider, ranks,
                           ('sh', '-c', f'exec "$0" "$@" < {FOLDER}/input_simpletest_{data}', *command),
                           open_mpi.environment(workplace, provider), judge=judge)
