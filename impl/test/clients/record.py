"""Traces of programs, as `selvage record` writes them, packed so that they can be kept and replayed elsewhere.

An archive has a trace for each process that called libfabric, and is the same for the same traces.
"""
import glob
import gzip
import io
import os
import re
import tarfile

AT_MOST = 1 << 20  # bytes of an archive that is kept


def environment(recorder, folder, given):
    """What makes every process of a run write a trace into its folder."""
    loaded = [library for library in given.get('LD_PRELOAD', '').split(':') if library]
    return {'LD_PRELOAD': ':'.join([*loaded, recorder]), 'SELVAGE_RECORD': os.path.join(folder, '%p.trace')}


def archive_name(program, case):
    return re.sub(r'[^A-Za-z0-9_.-]+', '_', f'{program}-{case.name}-{case.provider}-{case.ranks}') + '.tar.gz'


def pack(folder, path):
    """Packs the traces of a folder. Returns how large the archive is, or why none was made."""
    traces = sorted(glob.glob(os.path.join(folder, '*.trace')), key=lambda name: (len(name), name))
    if not traces:
        return 'no process called libfabric'
    plain = io.BytesIO()
    with tarfile.open(fileobj=plain, mode='w', format=tarfile.USTAR_FORMAT) as archive:
        for number, trace in enumerate(traces, 1):
            entry = tarfile.TarInfo(f'{number}.trace')
            entry.size, entry.mode = os.path.getsize(trace), 0o644
            with open(trace, 'rb') as file:
                archive.addfile(entry, file)
    packed = gzip.compress(plain.getvalue(), 9, mtime=0)
    if len(packed) > AT_MOST:
        return f'{len(packed)} bytes are too many'
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, 'wb') as file:
        file.write(packed)
    return f'{len(traces)} traces, {len(packed)} bytes'
