"""The HPC Challenge benchmarks over Open MPI, of a small size: HPL, PTRANS, RandomAccess, FFT, STREAM, and the latencies and
bandwidths of rings. Each part that has one judges its own result."""
import re

import open_mpi
from case import FAILED, PASSED, Case, Limits, Program, by_status

INPUT = '''HPLinpack benchmark input file
Innovative Computing Laboratory, University of Tennessee
HPL.out      output file name (if any)
8            device out (6=stdout,7=stderr,file)
1            # of problems sizes (N)
{size}       Ns
1            # of NBs
16           NBs
0            PMAP process mapping (0=Row-,1=Column-major)
1            # of process grids (P x Q)
{rows}       Ps
2            Qs
16.0         threshold
1            # of panel fact
2            PFACTs (0=left, 1=Crout, 2=Right)
1            # of recursive stopping criterium
4            NBMINs (>= 1)
1            # of panels in recursion
2            NDIVs
1            # of recursive panel fact.
1            RFACTs (0=left, 1=Crout, 2=Right)
1            # of broadcast
{broadcast}  BCASTs (0=1rg,1=1rM,2=2rg,3=2rM,4=Lng,5=LnM)
1            # of lookahead depth
1            DEPTHs (>=0)
2            SWAP (0=bin-exch,1=long,2=mix)
64           swapping threshold
0            L1 in (0=transposed,1=no-transposed) form
0            U  in (0=transposed,1=no-transposed) form
1            Equilibration (0=no,1=yes)
8            memory alignment in double (> 0)
##### This line (no. 32) is ignored (it serves as a separator). ######
0            Number of additional problem sizes for PTRANS
1200         values of N
0            number of additional blocking sizes for PTRANS
40           values of NB
'''


def judge(outcome):
    verdict, reason = by_status(outcome)
    if verdict != PASSED:
        return verdict, reason
    if 'Success=1' not in outcome.output:
        return FAILED, 'no Success=1 in its summary'
    bad = re.findall(r'(?:Found \d+ errors|\d+ tests completed and failed|Verification: .*FAILED).*', outcome.output)
    bad = [line for line in bad if not line.startswith(('Found 0 ', '0 tests'))]
    return (FAILED, bad[0]) if bad else (PASSED, '')


class Program(Program):
    name = 'hpcc'
    packages = (*open_mpi.PACKAGES, 'hpcc')

    def cases(self, workplace, provider, quick):
        for ranks in (2,) if quick else (2, 4):
            for broadcast in (1,) if quick else (1, 4):
                content = INPUT.format(size=64 if quick else 300, rows=ranks // 2, broadcast=broadcast)
                yield Case(f'all, broadcast {broadcast}', provider, ranks, open_mpi.command(provider, ranks, 'hpcc'),
                           open_mpi.environment(workplace, provider), {'hpccinf.txt': content}, Limits(work=90), judge,
                           ('hpccoutf.txt',))
