"""NWChem over Open MPI: chemistry on Global Arrays, whose matrices are windows of MPI that all processes read, add to and take
their next task from. The energies are those of one process on Open MPI's own transports.

As for coarrays, windows are by messages and by remote access.
"""
import re

import open_mpi
from case import FAILED, PASSED, Case, Limits, Program, by_status

INPUT = '''echo
start water
memory total 200 mb
geometry units au
 O 0.0 0.000  0.000
 H 0.0 1.430 -1.107
 H 0.0 -1.430 -1.107
end
basis spherical
 * library cc-pvdz
end
'''
SCF, MP2, DFT = 'task scf gradient\n', 'task mp2\n', 'dft\n xc b3lyp\nend\ntask dft\n'
# What is computed: (input, how the output names the energy, the energy in hartree)
TASKS = {
    'scf': (SCF, 'Total SCF energy', -76.026809378),
    'mp2': (MP2, 'Total MP2 energy', -76.230754342),
    'dft': (DFT, 'Total DFT energy', -76.420335588),
}


def judge_by(label, energy):
    def judge(outcome):
        verdict, reason = by_status(outcome)
        if verdict != PASSED:
            return verdict, reason
        found = re.findall(rf'{label}\s*=?\s+(-?\d+\.\d+)', outcome.output)
        if not found or abs(float(found[-1]) - energy) > 1e-6:
            return FAILED, f'{label} is {found[-1] if found else "missing"}, not {energy}'
        return PASSED, ''
    return judge


class Program(Program):
    name = 'nwchem'
    packages = (*open_mpi.PACKAGES, 'nwchem-openmpi')

    def cases(self, workplace, provider, quick):
        environment = open_mpi.environment(workplace, provider) | {'NWCHEM_BASIS_LIBRARY': '/usr/share/nwchem/libraries/'}
        for ranks in (2,) if quick else (2, 4):
            for name, (text, label, energy) in TASKS.items():
                if quick and name != 'scf':
                    continue
                # btl ofi refuses every provider with ofi_rxm in its name
                for one_sided in (False,) if 'ofi_rxm' in provider else (False, True):
                    yield Case(f'{name} by remote access' if one_sided else name, provider, ranks,
                               open_mpi.command(provider, ranks, 'nwchem.openmpi', 'water.nw', one_sided=one_sided), environment,
                               {'water.nw': INPUT + text}, Limits(work=240), judge_by(label, energy))
