"""The test programs of ScaLAPACK, PBLAS and BLACS over Open MPI, with the inputs that come with them."""
import glob
import os
import re

import open_mpi
from case import FAILED, PASSED, Case, Limits, Program, Unavailable, by_status

FOLDER = '/usr/lib/x86_64-linux-gnu/scalapack/openmpi-tests'
QUICK = ('xdlu', 'xdqr')
# One precision of each: the messages are the same. BLACS are the calls that the others stand on.
CHOSEN = ('xdlu', 'xzlu', 'xdllt', 'xdqr', 'xdinv', 'xdbrd', 'xdhrd', 'xdtrd', 'xdgblu', 'xdpbllt', 'xdnep', 'xdls')
PBLAS = ('dpb1tst', 'dpb2tst', 'dpb3tst')


def judge(outcome):
    verdict, reason = by_status(outcome)
    if verdict != PASSED:
        return verdict, reason
    bad = re.findall(r'^\s*([1-9]\d*) tests completed and failed.*|.*(?:FAILED|FAILURE|INVALID).*', outcome.output, re.M)
    done = re.search(r'End of tests|Finished|END OF|DONE|TESTS PASSED', outcome.output, re.I)
    if any(bad):
        return FAILED, f'{next(filter(None, bad))} tests failed'
    return (PASSED, '') if done else (FAILED, 'no end of its tests in the output')


class Program(Program):
    name = 'scalapack'
    packages = (*open_mpi.PACKAGES, 'scalapack-mpi-test')

    def prepare(self, workplace):
        if not os.path.isdir(FOLDER):
            raise Unavailable(f'{FOLDER} is not in the package')

    def cases(self, workplace, provider, quick):
        def case(folder, name):
            inputs = {}
            for path in glob.glob(f'{folder}/*.dat'):
                with open(path, encoding='latin-1') as file:
                    inputs[os.path.basename(path)] = file.read()
            return Case(name, provider, 4, open_mpi.command(provider, 4, os.path.join(folder, name)),
                        open_mpi.environment(workplace, provider), inputs, Limits(work=240), judge)
        for name in QUICK if quick else CHOSEN:
            yield case(FOLDER, name)
        if not quick:
            for name in PBLAS:
                yield case(f'{FOLDER}/PBLAS', name)
            yield case(f'{FOLDER}/BLACS', 'xCbtest')
