"""LAMMPS over Open MPI: 4,000 atoms of a melting crystal, in boxes that hand atoms to their neighbours and take forces. Energies and
pressures are those of one process on Open MPI's own transports, before rounding sets the runs apart."""
import re

import open_mpi
from case import FAILED, PASSED, Case, Limits, Program, by_status

INPUT = '''units lj
atom_style atomic
lattice fcc 0.8442
region box block 0 10 0 10 0 10
create_box 1 box
create_atoms 1 box
mass 1 1.0
velocity all create 3.0 87287 loop geom
pair_style lj/cut 2.5
pair_coeff 1 1 1.0 1.0 2.5
neighbor 0.3 bin
neigh_modify every 1 delay 0 check yes
fix 1 all nve
{more}
thermo_style custom step temp pe etotal press
thermo 10
run {steps}
'''
# Steps and what was computed at them: temperature, potential and total energy, pressure
EXPECTED = {
    0: (3, -6.7733681, -2.2744931, -3.7033504),
    20: (1.6670485, -4.7855458, -2.2855982, 5.719688),
    40: (1.6599439, -4.7720477, -2.2827543, 5.7190105),
}
WAYS = {
    'melt': '',
    'melt, boxes moved': 'comm_style tiled\nfix 2 all balance 10 0.9 rcb',
    'melt, boxes shifted': 'fix 2 all balance 10 0.9 shift xyz 5 1.01',
}


def judge(outcome):
    verdict, reason = by_status(outcome)
    if verdict != PASSED:
        return verdict, reason
    lines = re.findall(r'^\s*(\d+)((?:\s+-?[\d.]+){4})\s*$', outcome.output, re.M)
    found = {int(step): [float(word) for word in values.split()] for step, values in lines}
    for step, expected in EXPECTED.items():
        if step not in found:
            return FAILED, f'nothing about step {step}'
        if any(abs(a - b) > 1e-4 for a, b in zip(found[step], expected)):
            return FAILED, f'step {step}: {found[step]}, not {expected}'
    return PASSED, ''


class Program(Program):
    name = 'lammps'
    packages = (*open_mpi.PACKAGES, 'lammps')

    def cases(self, workplace, provider, quick):
        for ranks in (2,) if quick else (2, 3, 4):
            for name, more in WAYS.items():
                if quick and more:
                    continue
                yield Case(name, provider, ranks,
                           open_mpi.command(provider, ranks, 'lmp', '-in', 'melt.in', '-log', 'none', '-suffix', 'off'),
                           open_mpi.environment(workplace, provider), {'melt.in': INPUT.format(more=more, steps=max(EXPECTED))},
                           Limits(work=120), judge)
