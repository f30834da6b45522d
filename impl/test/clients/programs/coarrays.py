"""The tests of OpenCoarrays over Open MPI, compiled as the package has them: Fortran coarrays are windows of MPI, most of them
dynamic, that are read, written and updated under one lock; images wait for each other by messages.

Each in two ways: windows by messages (osc pt2pt), and by remote reads, writes and atomics (osc rdma over btl ofi).
"""
import os

import open_mpi
from case import FAILED, PASSED, Case, Limits, Program, Unavailable, by_status

FOLDER = '/usr/lib/x86_64-linux-gnu/open-coarrays/openmpi/bin/OpenCoarrays-2.10.1-tests'
# How many images a test wants where that is not 2: what it says of itself, or for those that take any number a few more.
IMAGES = {name: count for count, names in {
    3: ('issue-422-send-get', 'sendget_convert_char_array', 'sendget_convert_nums', 'static_event_post_issue_293', 'strided_sendget',
        'sync_image_ring_abort_on_stopped_image', 'asynchronous_hello_world', 'convert-before-put', 'teams_subset'),
    4: ('allocatable_p2p_event_post', 'atomics', 'co_broadcast_test', 'co_max_test', 'co_min_test', 'co_reduce_test', 'co_sum_test',
        'coarray_distributed_transpose', 'duplicate_syncimages', 'syncall', 'syncimages', 'syncimages2', 'syncimages_status'),
    8: ('issue-493-coindex-slice', 'sync_team', 'team_number'),
}.items() for name in names}
# They let an image die, which Open MPI ends all images for, or want arguments.
NOT_TAKEN = ('image_fail', 'issue-488')
QUICK = ('atomics', 'get_array', 'send_array', 'syncimages', 'co_sum_test')


def judge(outcome):
    verdict, reason = by_status(outcome)
    if verdict == PASSED and 'test passed' not in outcome.output.lower():
        return FAILED, 'it does not say that it passed'
    return verdict, reason


class Program(Program):
    name = 'coarrays'
    packages = (*open_mpi.PACKAGES, 'libcoarrays-openmpi-dev')

    def prepare(self, workplace):
        if not os.path.isdir(FOLDER):
            raise Unavailable(f'{FOLDER} is not in the package')

    def cases(self, workplace, provider, quick):
        for name in QUICK if quick else sorted(os.listdir(FOLDER)):
            if name.startswith(NOT_TAKEN):
                continue
            ranks = IMAGES.get(name, 2)
            # btl ofi refuses every provider with ofi_rxm in its name
            for one_sided in (False,) if 'ofi_rxm' in provider else (False, True):
                yield Case(f'{name} by remote access' if one_sided else name, provider, ranks,
                           open_mpi.command(provider, ranks, os.path.join(FOLDER, name), one_sided=one_sided),
                           open_mpi.environment(workplace, provider), limits=Limits(work=90), judge=judge)
