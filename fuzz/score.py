#!/usr/bin/env python3
"""How many of the mutant libraries of conformance/mutants fuzzing alone finds, and how soon.

Each mutant is fuzzed from the seed corpus, by the target that its promise belongs to, until the first finding or the
limit.  The mutants stand on the library of the fuzz build, so that its edges are counted.

  fuzz/score.py [--seconds N] [--jobs N] [--only FILE] [--out FILE] [NAME]...

Exit status: 0 nine in ten were found, 1 fewer were, 2 could not run.
"""
import argparse
import concurrent.futures
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
FUZZ = os.path.join(ROOT, 'build/fuzz')
RELEASE = os.path.join(ROOT, 'build/release')
TOOL = os.path.join(FUZZ, 'fuzz/fuzz_tool')
LIBRARIES = os.path.join(FUZZ, 'conformance/mutants/lib')
# The target for each property of the kit that a mutant names.
TARGETS = {'classes': 'hints', 'random': 'hints', 'corpus': 'hints', 'pairs': 'hints', 'side_effects': 'side_effects',
           'strings': 'strings', 'openings': 'sequence', 'lifecycles': 'sequence', 'traffic': 'transfers'}


class Mutant:
    def __init__(self, line):
        (self.name, self.property, self.provider, declared, self.replaced, self.replacement, speaks,
         self.clauses) = line.rstrip('\n').split('\t')
        self.replaced, self.replacement = (t.replace('\\n', '\n') for t in (self.replaced, self.replacement))
        self.declared = declared == 'declared'
        self.speechless = speaks == 'speechless'
        self.library = os.path.join(LIBRARIES, f'libmutant-{self.name}.so')


def mutants():
    table = subprocess.run([os.path.join(RELEASE, 'conformance/mutants/mutant_score'), '--table'], check=True,
                           capture_output=True, text=True).stdout
    every = [Mutant(line) for line in table.splitlines()]
    return [m for m in every if m.property in TARGETS]  # no target varies what a few endpoints do together


def make_links(every):
    for m in every:
        if not os.path.lexists(m.library):
            os.symlink('libmutant-all.so', m.library)


def declare(m, clean, folder):
    """The declared profile of the clean library, changed as the mutant says."""
    text = subprocess.run([TOOL, 'profile', '--library', clean, '--provider', m.provider.split(';')[0]], check=True,
                          capture_output=True, text=True).stdout
    text = re.sub(r'\napi = .*', '', text, count=1)
    if m.replaced:
        text = text.replace(m.replaced, m.replacement)
    path = os.path.join(folder, m.name + '.toml')
    with open(path, 'w') as file:
        file.write(text)
    return path


def fuzz(m, seconds, clean):
    """Runs the target on a mutant.  Returns (found, seconds, executions, what)."""
    target = TARGETS.get(m.property)
    if target is None:
        return None
    with tempfile.TemporaryDirectory() as folder:
        new, seeds = os.path.join(folder, 'new'), os.path.join(folder, 'seeds')
        os.mkdir(new)
        subprocess.run([os.path.join(ROOT, 'fuzz/corpus.sh'), 'unpack', target, seeds], check=True)
        command = [os.path.join(FUZZ, 'fuzz', 'fuzz_' + target), '--library=' + m.library, '--provider=' + m.provider,
                   '-max_total_time=%d' % seconds, '-timeout=4', '-print_final_stats=1', '-print_pcs=0',
                   '-verbosity=0', '-artifact_prefix=' + folder + '/', new, seeds]
        if m.declared:
            command.insert(1, '--profile=' + declare(m, clean, folder))
        environment = dict(os.environ, RES_OPTIONS='attempts:0')
        began = time.monotonic()
        try:
            done = subprocess.run(command, capture_output=True, env=environment, timeout=seconds + 60)
            said, status = done.stderr.decode(errors='replace'), done.returncode
        except subprocess.TimeoutExpired as late:
            said, status = (late.stderr or b'').decode(errors='replace'), 'hang'
        took = time.monotonic() - began
    units = re.search(r'number_of_executed_units:\s*(\d+)', said)
    executions = int(units.group(1)) if units else 0
    broken = list(dict.fromkeys(re.findall(r'selvage: broken: (\S+)', said)))
    if m.speechless:
        return status == 2 and 'no provider offers anything' in said, took, executions, 'offers nothing, as the target says'
    if broken:
        return True, took, executions, ', '.join(broken)
    if status == 0:
        return False, took, executions, 'nothing'
    if status == 2:
        return False, took, executions, said.strip().splitlines()[-1] if said.strip() else 'could not run'
    if 'ERROR: libFuzzer: timeout' in said or status == 'hang':
        return True, took, executions, 'does not return'
    return True, took, executions, 'ends the process (%s)' % status


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--seconds', type=int, default=300)
    parser.add_argument('--jobs', type=int, default=2)
    parser.add_argument('--only', help='a file of names, as --survivors writes them')
    parser.add_argument('--survivors', help='where to write the names of those that were not found')
    parser.add_argument('names', nargs='*', help='mutants whose names begin so (default: all)')
    options = parser.parse_args()
    if shutil.which(TOOL) is None:
        print('fuzz/score.py: %s is not built: cmake --build build/fuzz --target fuzz_tool selvage_mutant' % TOOL, file=sys.stderr)
        return 2
    every = mutants()
    make_links(every)
    clean = next(m for m in every if m.name == 'clean').library
    chosen = [m for m in every if m.clauses or m.speechless]
    if options.names:
        chosen = [m for m in chosen if any(m.name.startswith(n) for n in options.names)]
    if options.only:
        with open(options.only) as file:
            names = set(file.read().split())
        chosen = [m for m in chosen if m.name in names]
    found, judged, survivors = 0, 0, []
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for m, result in zip(chosen, pool.map(lambda m: fuzz(m, options.seconds, clean), chosen)):
            if result is None:
                continue
            ok, took, executions, what = result
            judged += 1
            found += ok
            if not ok:
                survivors.append(m.name)
            print('%-8s %-34s %6.1f s %9d executions  %s' % ('found' if ok else 'SURVIVED', m.name, took, executions,
                                                             what if ok else '%s  (%s)' % (m.clauses, what)), flush=True)
    if options.survivors:
        with open(options.survivors, 'w') as file:
            file.write(''.join(name + '\n' for name in survivors))
    share = found / judged if judged else 0
    print('fuzzing found %d of %d mutants (%.1f %%) within %d s each' % (found, judged, 100 * share, options.seconds))
    return 0 if share >= 0.9 else 1


if __name__ == '__main__':
    sys.exit(main())
