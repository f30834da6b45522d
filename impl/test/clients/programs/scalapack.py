"""The test programs of ScaLAPACK, PBLAS and BLACS over Open MPI, with the inputs that come with them."""
import glob
import os
import re

import open_mpi
from case import FAILED, PASSED, Case, Limits, Program, Unavailable, by_status, last_words

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


def judge_blacs(outcome):
    """xCbtest ends by trying to end all processes (BLACS_ABORT), so never with status 0: its summaries say how it went, and
    that it came to that last test."""
    counts = re.findall(r'(\w+) TESTS:\s+\d+ TESTS;\s+\d+ PASSED,\s+\d+ SKIPPED,\s+(\d+) FAILED', outcome.output)
    failed = sum(int(number) for _, number in counts)
    if failed or re.search(r'^ FAILED ', outcome.output, re.M):
        return FAILED, f'{failed} tests failed' if failed else last_words(outcome.output)
    if {part for part, _ in counts} != {'SDRV', 'BSBR', 'SUM', 'AMX', 'AMN'} or 'killed other procs' not in outcome.output:
        return FAILED, f'status {outcome.status}: {outcome.output.strip().splitlines()[-1][:160] if outcome.output else "no output"}'
    return PASSED, ''


class Program(Program):
    name = 'scalapack'
    packages = (*open_mpi.PACKAGES, 'scalapack-mpi-test')

    def prepare(self, workplace):
        if not os.path.isdir(FOLDER):
            raise Unavailable(f'{FOLDER} is not in the package')

    def cases(self, workplace, provider, quick):
        def case(folder, name, how=judge):
            inputs = {}
            for path in glob.glob(f'{folder}/*.dat'):
                with open(path, encoding='latin-1') as file:
                    inputs[os.path.basename(path)] = file.read()
            return Case(name, provider, 4, open_mpi.command(provider, 4, os.path.join(folder, name)),
                        open_mpi.environment(workplace, provider), inputs, Limits(work=240), how)
        for name in QUICK if quick else CHOSEN:
            yield case(FOLDER, name)
        if not quick:
            for name in PBLAS:
                yield case(f'{FOLDER}/PBLAS', name)
            yield case(f'{FOLDER}/BLACS', 'xCbtest', judge_blacs)
