"""Calls of mpi4py whose results are compared: mpi4py_check.py PART, under mpirun. Python objects of sizes that no receiver
knows before, matched probes, collectives of objects, windows, and spawned processes."""
import sys

sys.dont_write_bytecode = True
import mpi4py  # noqa: E402

if sys.argv[1] == 'windows':  # Open MPI's osc pt2pt has no windows with MPI_THREAD_MULTIPLE, which the other parts ask for
    mpi4py.rc.thread_level = 'single'
from mpi4py import MPI  # noqa: E402

WORLD = MPI.COMM_WORLD
RANK, SIZE = WORLD.Get_rank(), WORLD.Get_size()
LENGTHS = (0, 1, 100, 4000, 20000, 300000)


def thing(rank, length):
    """An object that tells who made it."""
    return {'from': rank, 'bytes': bytes((rank + i * 7) % 251 for i in range(length)), 'nested': [length, ('x', rank)]}


def objects():
    """Each to each, larger than what the receiver has seen before, blocking and not."""
    for length in LENGTHS:
        sends = [WORLD.isend(thing(RANK, length), to, tag=length) for to in range(SIZE)]
        for source in range(SIZE):
            assert WORLD.recv(source=source, tag=length) == thing(source, length)
        MPI.Request.waitall(sends)
    right, left = (RANK + 1) % SIZE, (RANK - 1) % SIZE
    for length in LENGTHS:
        assert WORLD.sendrecv(thing(RANK, length), right, source=left) == thing(left, length)


def probes():
    """Messages are claimed in the order in which they were sent, received in another, and counted before that."""
    count = 5
    sends = [WORLD.Isend([bytearray([RANK, i]) * (1 + 3000 * i), MPI.BYTE], to, tag=i) for to in range(SIZE) for i in range(count)]
    status, claimed = MPI.Status(), []
    for _ in range(count * SIZE):
        message = WORLD.Mprobe(MPI.ANY_SOURCE, MPI.ANY_TAG, status)
        claimed.append((message, status.Get_source(), status.Get_tag(), status.Get_count(MPI.BYTE)))
    for source in range(SIZE):
        assert [tag for _, sender, tag, _ in claimed if sender == source] == list(range(count))
    for message, source, tag, length in reversed(claimed):
        assert length == 2 * (1 + 3000 * tag)
        buffer = bytearray(length)
        message.Recv([buffer, MPI.BYTE])
        assert buffer == bytearray([source, tag]) * (1 + 3000 * tag)
    MPI.Request.Waitall(sends)
    assert WORLD.Improbe() is None


def collectives():
    for root in range(SIZE):
        for length in LENGTHS:
            assert WORLD.bcast(thing(RANK, length) if RANK == root else None, root) == thing(root, length)
        parts = WORLD.scatter([thing(to, 50 * to) for to in range(SIZE)] if RANK == root else None, root)
        assert parts == thing(RANK, 50 * RANK)
        gathered = WORLD.gather(thing(RANK, 999), root)
        assert gathered == ([thing(rank, 999) for rank in range(SIZE)] if RANK == root else None)
    assert WORLD.alltoall([(RANK, to) for to in range(SIZE)]) == [(source, RANK) for source in range(SIZE)]
    assert WORLD.allreduce([RANK], MPI.SUM) == list(range(SIZE))
    assert WORLD.scan(RANK + 1) == (RANK + 1) * (RANK + 2) // 2


def windows():
    memory = bytearray(64 * SIZE)
    window = MPI.Win.Create(memory, 1, comm=WORLD)
    window.Fence()
    for target in range(SIZE):
        window.Put([bytearray([RANK + 1]) * 64, MPI.BYTE], target, (64 * RANK, 64, MPI.BYTE))
    window.Fence(MPI.MODE_NOSUCCEED)
    assert memory == b''.join(bytes([rank + 1]) * 64 for rank in range(SIZE))
    for target in range(SIZE):
        copy = bytearray(64 * SIZE)
        window.Lock(target, MPI.LOCK_SHARED)
        window.Get([copy, MPI.BYTE], target)
        window.Unlock(target)
        assert copy == memory
    WORLD.Barrier()
    window.Free()


def spawn():
    for _ in range(2):
        children = WORLD.Spawn(sys.executable, ['-P', __file__, 'child'], 2)
        children.bcast(thing(7, 5000), MPI.ROOT if RANK == 0 else MPI.PROC_NULL)
        if RANK == 0:
            assert [children.recv(source=child) for child in range(2)] == [thing(child, 20000) for child in range(2)]
        children.Disconnect()


def child():
    parents = MPI.Comm.Get_parent()
    assert parents.bcast(None, 0) == thing(7, 5000)
    parents.send(thing(RANK, 20000), 0)
    parents.Disconnect()


globals()[sys.argv[1]]()
