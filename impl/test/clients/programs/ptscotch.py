"""PT-Scotch over Open MPI: ordering and partitioning of a grid in parallel. It asks for MPI_THREAD_MULTIPLE: where a
graph is folded onto both halves of the processes (fold=d, the default), threads of a process use a communicator each at once."""
import functools
import re

import open_mpi
from case import FAILED, PASSED, Case, Program, by_status

EDGE = 20  # vertices along each edge of the cube
VERTICES = EDGE ** 3


def cube():
    """The grid in Scotch's format: version; vertices and edges; base and flags; the neighbours of each vertex."""
    def neighbours(x, y, z):
        for a, b, c in ((x - 1, y, z), (x + 1, y, z), (x, y - 1, z), (x, y + 1, z), (x, y, z - 1), (x, y, z + 1)):
            if 0 <= a < EDGE and 0 <= b < EDGE and 0 <= c < EDGE:
                yield (a * EDGE + b) * EDGE + c

    lists = [tuple(neighbours(x, y, z)) for x in range(EDGE) for y in range(EDGE) for z in range(EDGE)]
    lines = ['0', f'{len(lists)}\t{sum(map(len, lists))}', '0\t000']
    return '\n'.join(lines + ['\t'.join(map(str, (len(found), *found))) for found in lists]) + '\n'


def of_each_vertex(output):
    """{vertex: number} of the result that follows the output of the program: a count, then a line for each vertex."""
    text = output.rpartition(f'{VERTICES}\n')[2]
    return {int(vertex): int(number) for vertex, number in re.findall(r'^(\d+)\t(\d+)$', text, re.M)}


def permutation(outcome):
    verdict, reason = by_status(outcome)
    if verdict == PASSED and sorted(of_each_vertex(outcome.output).values()) != list(range(VERTICES)):
        return FAILED, 'the ordering is no permutation'
    return verdict, reason


def balanced(parts, outcome):
    verdict, reason = by_status(outcome)
    if verdict != PASSED:
        return verdict, reason
    found = list(of_each_vertex(outcome.output).values())
    if len(found) != VERTICES or any(found.count(part) > 1.06 * VERTICES / parts for part in range(parts)):
        return FAILED, f'{len(found)} of {VERTICES} vertices in parts that are not of one size'
    return PASSED, ''


def graph_seen(outcome):
    verdict, reason = by_status(outcome)
    if verdict == PASSED and not re.search(rf'Vertex\tnbr={VERTICES}$', outcome.output, re.M):
        return FAILED, 'the graph was not read'
    return verdict, reason


class Program(Program):
    name = 'ptscotch'
    packages = (*open_mpi.PACKAGES, 'ptscotch')

    def cases(self, workplace, provider, quick):
        files = {'cube.grf': cube()}
        works = {
            'dgtst': (('dgtst', 'cube.grf'), graph_seen),
            'dgord': (('dgord', 'cube.grf', 'result'), permutation),
            'dgpart 4': (('dgpart', '4', 'cube.grf', 'result'), functools.partial(balanced, 4)),
            'dgpart 7': (('dgpart', '7', 'cube.grf', 'result'), functools.partial(balanced, 7)),
        }
        for ranks in (3,) if quick else (2, 3, 4):
            for name, (command, judge) in works.items():
                if quick and name not in ('dgord', 'dgpart 4'):
                    continue
                yield Case(name, provider, ranks, open_mpi.command(provider, ranks, *command),
                           open_mpi.environment(workplace, provider), files, judge=judge, results=('result',))
