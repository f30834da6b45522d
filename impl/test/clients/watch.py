"""Runs one command with all that it starts, and ends it when it hangs.

Hung is a run whose processes
  1. have used more processor time, together, than the case allows (they spin), or
  2. have all slept for so long that nothing is to be expected of them.
Both hold on a loaded machine, too: a process that waits for a processor neither sleeps nor uses one. Processes are found by
their parents; this process adopts orphans (PR_SET_CHILD_SUBREAPER), so nothing gets away, and nothing is left behind.
REQUIRES: one run at a time, and no other children of this process meanwhile.
"""
import ctypes
import os
import re
import signal
import subprocess
import time

from case import Outcome

_PR_SET_CHILD_SUBREAPER = 36
_TICKS = os.sysconf('SC_CLK_TCK')
_LOOK = 0.5                  # seconds between two looks at the processes
_OUTPUT_AT_MOST = 64 << 20   # bytes a run may write
_OUTPUT_KEPT = 256 << 10
_SHM = '/dev/shm'


def adopt_orphans():
    if ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0):
        raise OSError(ctypes.get_errno(), 'prctl')


def _stat(pid):
    """Parent, state and processor time (its own and that of children that it waited for) of a process, or None."""
    try:
        with open(f'/proc/{pid}/stat', encoding='ascii', errors='replace') as file:
            words = file.read().rpartition(')')[2].split()
    except OSError:
        return None
    return int(words[1]), words[0], sum(int(word) for word in words[11:15]) / _TICKS


def descendants(root):
    """{pid: (state, processor time)} of all below root."""
    seen = {int(name): _stat(name) for name in os.listdir('/proc') if name.isdigit()}
    children = {}
    for pid, stat in seen.items():
        if stat:
            children.setdefault(stat[0], []).append(pid)
    found, todo = {}, list(children.get(root, []))
    while todo:
        pid = todo.pop()
        found[pid] = seen[pid][1:]
        todo += children.get(pid, [])
    return found


def _reaped_work():
    times = os.times()
    return times.children_user + times.children_system


def _runs(pid):
    """Whether a thread of the process runs, waits for a processor or for a device."""
    try:
        threads = os.listdir(f'/proc/{pid}/task')
    except OSError:
        return False
    for thread in threads:
        try:
            with open(f'/proc/{pid}/task/{thread}/stat', encoding='ascii', errors='replace') as file:
                if file.read().rpartition(')')[2].split()[0] in 'RD':
                    return True
        except OSError:
            pass
    return False


def _end_all():
    """Kills and reaps whatever is left below this process."""
    while True:
        left = descendants(os.getpid())
        for pid in left:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        try:
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        except ChildProcessError:
            return
        time.sleep(0.02)


class _Sleep:
    """For how long every process has slept: since then, no thread was seen running and next to no time was used."""

    def __init__(self):
        self.since, self.work = time.monotonic(), 0.0

    def seconds(self, processes, work):
        now = time.monotonic()
        idle_share = 0.01 * (now - self.since) + 0.05
        if work - self.work > idle_share or any(_runs(pid) for pid in processes):
            self.since, self.work = now, work
        return now - self.since


def _wait(child, limits, output, pids):
    """Waits for the end of child. Returns why it was ended before, or ''."""
    before, sleep = _reaped_work(), _Sleep()
    while True:
        try:
            child.wait(_LOOK)
            return ''
        except subprocess.TimeoutExpired:
            pass
        processes = descendants(os.getpid())
        pids.update(processes)
        work = _reaped_work() - before + sum(used for _, used in processes.values())
        if work > limits.work:
            return f'more than {limits.work:g} s of processor time'
        if sleep.seconds(processes, work) > limits.sleep:
            return f'every process slept for {limits.sleep:g} s'
        if os.fstat(output.fileno()).st_size > _OUTPUT_AT_MOST:
            return 'output without end'


def _shared_memory():
    return set(os.listdir(_SHM)) if os.path.isdir(_SHM) else set()


def _remove_what_is_left(before, pids):
    """Removes what the ended processes left in /dev/shm: new, and with the id of one of them in its name."""
    for name in _shared_memory() - before:
        if any(int(number) in pids for number in re.findall(r'\d+', name)):
            try:
                os.unlink(os.path.join(_SHM, name))
            except OSError:
                pass


def run(case, folder, environment):
    """Runs a case in a folder. Returns an Outcome; nothing of the run is alive then."""
    path, shm, pids = os.path.join(folder, 'output'), _shared_memory(), set()
    start, before = time.monotonic(), _reaped_work()
    with open(path, 'wb') as output:
        child = subprocess.Popen(case.command, cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=output,
                                 stderr=subprocess.STDOUT, start_new_session=True)
        pids.add(child.pid)
        try:
            ended = _wait(child, case.limits, output, pids)
        finally:
            pids.update(descendants(os.getpid()))
            status = child.poll()
            _end_all()
            if status is None:
                child.returncode = -signal.SIGKILL  # reaped above
            _remove_what_is_left(shm, pids)
    return Outcome(None if ended else status, _read(path, folder, case.results), _reaped_work() - before,
                   time.monotonic() - start, ended)


def _read(path, folder, results):
    text = ''
    for name in (path, *(os.path.join(folder, result) for result in results)):
        if os.path.exists(name):
            with open(name, 'rb') as file:
                file.seek(max(0, os.path.getsize(name) - _OUTPUT_KEPT))
                text += file.read().decode(errors='replace')
    return text
