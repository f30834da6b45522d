#!/usr/bin/env python3
"""The driver judged by programs made up here: what passes, fails, spins, sleeps, daemonizes, and how pages count it."""
import fcntl
import io
import os
import signal
import subprocess
import sys
import tarfile
import tempfile
import unittest
import unittest.mock

sys.dont_write_bytecode = True  # nothing is left in the tree
sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
import clients  # noqa: E402
import debian  # noqa: E402
import record  # noqa: E402
import report  # noqa: E402
import watch  # noqa: E402
from case import FAILED, HUNG, PASSED, Case, Limits, Outcome, last_words  # noqa: E402
from programs import mpich  # noqa: E402
from tally import Result, Tally, broken  # noqa: E402
from workplace import DEBIAN, OWN, Workplace  # noqa: E402


def shell(text, **more):
    return Case('made up', 'tcp', 1, ('sh', '-c', text), **more)


class Watching(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        watch.adopt_orphans()

    def run_case(self, case):
        with tempfile.TemporaryDirectory() as folder:
            return watch.run(case, folder, dict(os.environ))

    def test_status_and_output_of_a_program_are_returned(self):
        outcome = self.run_case(shell('echo here; exit 3'))
        self.assertEqual((outcome.status, outcome.output, outcome.ended), (3, 'here\n', ''))

    def test_a_file_that_a_case_names_is_part_of_its_output(self):
        outcome = self.run_case(shell('echo inside > result', results=('result', 'missing')))
        self.assertEqual(outcome.output, 'inside\n')

    def test_a_program_that_spins_is_ended_by_its_processor_time(self):
        outcome = self.run_case(shell('while :; do :; done', limits=Limits(work=1)))
        self.assertIsNone(outcome.status)
        self.assertIn('processor time', outcome.ended)

    def test_processor_time_of_children_counts(self):
        outcome = self.run_case(shell('sh -c "while :; do :; done" & sleep 1000', limits=Limits(work=1)))
        self.assertIn('processor time', outcome.ended)

    def test_a_program_whose_processes_all_sleep_is_ended(self):
        outcome = self.run_case(shell('sleep 1000 & sleep 1000', limits=Limits(sleep=2)))
        self.assertIn('slept', outcome.ended)

    def test_a_program_that_works_now_and_then_does_not_sleep(self):
        text = 'for i in 1 2 3 4 5 6; do sleep 0.7; j=0; while [ $j -lt 60000 ]; do j=$((j+1)); done; done'
        outcome = self.run_case(shell(text, limits=Limits(sleep=3)))
        self.assertEqual((outcome.status, outcome.ended), (0, ''))

    def test_nothing_of_a_run_is_alive_behind_it(self):
        outcome = self.run_case(shell('setsid sh -c "echo $$; exec sleep 1000" & sleep 0.2'))
        self.assertEqual(outcome.status, 0)
        self.assertEqual(watch.descendants(os.getpid()), {})

    def test_a_signal_is_a_negative_status(self):
        self.assertEqual(self.run_case(shell('kill -9 $$')).status, -signal.SIGKILL)

    def test_what_a_killed_process_left_in_shared_memory_is_removed_and_nothing_else(self):
        other = f'/dev/shm/selvage-clients-test-other-{os.getpid()}'
        with open(other, 'w', encoding='ascii'):
            pass
        try:
            outcome = self.run_case(shell('echo x > /dev/shm/selvage-clients-test-$$; echo $$; kill -9 $$'))
            self.assertFalse(os.path.exists('/dev/shm/selvage-clients-test-' + outcome.output.strip()))
            self.assertTrue(os.path.exists(other))
        finally:
            os.unlink(other)


class Reasons(unittest.TestCase):
    def test_the_line_that_names_an_error_is_the_reason(self):
        self.assertEqual(last_words('one\nFound 3 errors\nlast'), 'Found 3 errors')

    def test_without_such_a_line_it_is_the_last(self):
        self.assertEqual(last_words('one\nlast\n----\n'), 'last')


def result(name, library, verdict, program='some'):
    return Result(program, name, 'tcp', 2, library, verdict, '', 0.1, '2026-01-01')


class Counting(unittest.TestCase):
    def setUp(self):
        self.tally = Tally()
        for name, own, debian in (('a', PASSED, PASSED), ('b', FAILED, PASSED), ('c', HUNG, HUNG), ('d', PASSED, HUNG)):
            self.tally.add(result(name, OWN, own))
            self.tally.add(result(name, DEBIAN, debian))

    def test_broken_is_what_fails_here_and_passes_there(self):
        self.assertEqual([own.name for own, debian in self.tally.pairs() if broken(own, debian)], ['b'])

    def test_without_the_other_library_every_failure_is_broken(self):
        self.assertTrue(broken(result('x', OWN, HUNG), None))
        self.assertFalse(broken(result('x', OWN, PASSED), None))

    def test_the_page_counts_and_names_what_differs(self):
        page = report.page(self.tally)
        self.assertIn('| some | tcp | 2 | 2 | 1 | 1 | 0 | 2 | 0 | 2 | 0 | 2026-01-01 |', page)
        differing = page.partition('## Cases that differ')[2].partition('## Cases that fail')[0]
        self.assertIn('`some b`', differing)
        self.assertIn('`some d`', differing)
        self.assertNotIn('`some c`', differing)
        self.assertIn('`some c`', page.partition('## Cases that fail or hang on both')[2])

    def test_what_a_page_says_of_programs_that_were_not_run_again_stays(self):
        other = Tally()
        for library, verdict in ((OWN, PASSED), (DEBIAN, HUNG)):
            other.add(result('x', library, verdict, 'other'))
        both = Tally()
        for library in (OWN, DEBIAN):
            both.add(result('y', library, HUNG, 'third'))
        before = report.page(both, report.page(other, report.page(self.tally)))
        page = report.page(self.tally, before)
        for line in ('| other | tcp | 2 | 1 | 0 | 0 | 0 | 0 | 0 | 1 | 0 | 2026-01-01 |', '* `other x`', '* `third y`', '* `some b`'):
            self.assertEqual(page.count(line), 1, line)
        self.assertEqual(page.count('| program |'), 1)
        self.assertEqual(sorted(report.page(self.tally, page).splitlines()), sorted(page.splitlines()))

    def test_rows_of_a_program_that_was_run_again_are_replaced(self):
        again = Tally()
        again.add(result('a', OWN, FAILED))
        page = report.page(again, report.page(self.tally))
        self.assertIn('| some | tcp | 2 | 0 | 1 | 0 | 0 |', page)
        self.assertNotIn('`some d`', page)

    def test_rows_of_other_providers_of_a_program_stay(self):
        other = Tally()
        for library, verdict in ((OWN, PASSED), (DEBIAN, HUNG)):
            other.add(Result('some', 'x', 'tcp, sockets', 2, library, verdict, '', 0.1, '2026-01-01'))
        page = report.page(self.tally, report.page(other))
        for line in ('| some | tcp | 2 | 2 | 1 |', '| some | tcp, sockets | 2 | 1 | 0 |', '* `some x`, tcp, sockets, 2 ranks:',
                     '* `some b`, tcp, 2 ranks:'):
            self.assertEqual(page.count(line), 1, line)
        self.assertEqual(sorted(report.page(other, page).splitlines()), sorted(page.splitlines()))

    def test_notes_stay(self):
        notes = '\n## Notes\n\n* Written by hand.\n'
        for before in ('', report.page(self.tally)):
            self.assertTrue(report.page(self.tally, before + notes).endswith(notes))

    def test_debians_library_runs_what_is_broken_alone(self):
        class Program:
            name = 'made up'
        ran = []
        options = clients.parse(['--debian-where-broken'])
        for verdict in (PASSED, FAILED):
            def run(_, program, case, library, verdict=verdict):
                ran.append((verdict, library))
                return Result(program.name, case.name, case.provider, case.ranks, library, verdict, '', 0.1, '2026-01-01')
            with unittest.mock.patch('clients.run_case', run):
                clients.run_on_libraries(None, Program, shell(''), options)
        self.assertEqual(ran, [(PASSED, OWN), (FAILED, OWN), (FAILED, DEBIAN)])

    def test_the_end_says_how_many_are_broken(self):
        lines = []
        self.assertEqual(report.end(self.tally, lines.append), 1)
        self.assertTrue(any(line.startswith('BROKEN `some b`') for line in lines))

    def test_results_are_kept_from_one_run_to_the_next_and_replaced(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, 'results.json')
            first = Tally(path)
            first.add(result('a', OWN, FAILED))
            first.save()
            second = Tally(path)
            second.add(result('a', OWN, PASSED))
            self.assertEqual([entry.verdict for entry in second.results.values()], [PASSED])


class Ways(unittest.TestCase):
    def test_tcp_is_run_through_memory_and_through_sockets(self):
        program = type('Program', (), {'providers': ('tcp', 'shm')})
        self.assertEqual(list(clients.ways(program)), ['tcp', 'tcp, sockets', 'shm'])

    def test_cases_by_sockets_are_those_of_tcp_and_say_so(self):
        program = type('Program', (), {'cases': lambda _, workplace, provider, quick: [
            Case('made up', provider, 1, ('it', provider), {'A': 'a'})]})()
        for provider, variables in (('tcp', {'A': 'a'}), ('tcp, sockets', {'A': 'a', 'FI_SELVAGE_LOCAL': '0'})):
            case, = clients.cases_of(None, program, provider, False)
            self.assertEqual((case.provider, case.command, case.environment), (provider, ('it', 'tcp'), variables))


class Judges(unittest.TestCase):
    def test_a_case_of_mpich_says_that_it_found_nothing_in_either_spelling(self):
        judge = clients.load('mpich').judge_case
        self.assertEqual(judge(Outcome(0, ' No Errors\n', 1.0, 1.0))[0], PASSED)
        self.assertEqual(judge(Outcome(0, 'No errors\n', 1.0, 1.0))[0], PASSED)
        self.assertEqual(judge(Outcome(0, 'Found 3 errors; No Errors were expected\n', 1.0, 1.0))[0], FAILED)
        self.assertEqual(judge(Outcome(1, ' No Errors\n', 1.0, 1.0))[0], FAILED)

    def test_a_case_of_mpich_whose_status_tells_ends_with_one_that_no_crash_made(self):
        judge = clients.load('mpich').judges['TestStatus']
        self.assertEqual(judge(Outcome(3, '=   EXIT CODE: 3\n', 1.0, 1.0))[0], PASSED)
        self.assertEqual(judge(Outcome(0, '', 1.0, 1.0))[0], FAILED)
        self.assertEqual(judge(Outcome(139, '=   EXIT CODE: 139\n', 1.0, 1.0))[0], FAILED)
        both = clients.load('mpich').judges['TestStatusNoErrors']
        self.assertEqual(both(Outcome(1, ' No Errors\n', 1.0, 1.0))[0], PASSED)
        self.assertEqual(both(Outcome(1, '', 1.0, 1.0))[0], FAILED)
        self.assertEqual(both(Outcome(0, ' No Errors\n', 1.0, 1.0))[0], FAILED)

    def mpich_of(self, folder, lists):
        """MPICH with lists of these texts, and a program for each name in them."""
        program = clients.load('mpich')
        program.tests, program.source, program.prefix, program.shim = folder, '/nowhere', '/mpich', '/shim.so'
        for path, text in lists.items():
            path = os.path.join(folder, path)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, 'w', encoding='ascii') as file:
                file.write(text)
            for line in text.splitlines():
                open(os.path.join(os.path.dirname(path), line.split()[0]), 'w', encoding='ascii').close()
        for name in program.folders:
            os.makedirs(os.path.join(folder, name), exist_ok=True)
        return program

    def test_a_line_of_a_list_of_mpich_says_how_it_is_run_and_judged(self):
        line = 'timeout 2 arg=-a env=X=y=z resultTest=TestErrFatal timeLimit=10\nbroken 1 xfail=ticket1\nabort 4 mpiexecarg=-o\n'
        with tempfile.TemporaryDirectory() as folder:
            case, = self.mpich_of(folder, {'init/testlist': line}).cases(Workplace(folder, '/x'), 'tcp', False)
            self.assertEqual(case.command, ('/mpich/bin/mpiexec', '-launcher', 'fork', '-n', '2', f'{folder}/init/timeout', '-a'))
        self.assertEqual((case.name, case.ranks), ('init/timeout -a X=y=z', 2))
        self.assertEqual(case.environment, {'FI_PROVIDER': 'tcp', 'LD_PRELOAD': '/shim.so', 'X': 'y=z', 'MPIEXEC_TIMEOUT': '10'})

    def test_cases_whose_threads_make_communicators_in_any_order_are_left_out_of_a_list(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, 'testlist.in')
            with open(path, 'w', encoding='utf-8') as file:
                file.write('ctxdup 4\n@comm_overlap@ctxidup 4\n')
            self.assertEqual([entry.name for entry in mpich.entries(path)], ['ctxdup', 'ctxidup'])
            self.assertEqual([entry.name for entry in mpich.entries(path, overlaps=False)], ['ctxdup'])

    def test_cases_of_mpich_with_other_algorithms_are_of_the_whole_alone(self):
        with tempfile.TemporaryDirectory() as folder:
            program = self.mpich_of(folder, {'coll/testlist': 'bcast 4\n', 'coll/testlist.cvar': 'bcast 4 env=ALGORITHM=ring\n'})
            for program.whole, names in ((False, ['coll/bcast']), (True, ['coll/bcast', 'coll/bcast ALGORITHM=ring'])):
                self.assertEqual([case.name for case in program.cases(Workplace(folder, '/x'), 'tcp', False)], names)

    def judged(self, program, name, text):
        case = next(case for case in clients.load(program).cases(Workplace(tempfile.gettempdir(), '/x'), 'tcp;ofi_rxm', False)
                    if case.name == name)
        return case.judge(Outcome(0, text, 1.0, 1.0))[0]

    def test_a_test_of_coarrays_says_that_it_passed(self):
        self.assertEqual(self.judged('coarrays', 'get_array', ' Test passed.\n'), PASSED)
        self.assertEqual(self.judged('coarrays', 'get_array', ' get_array_test failed\n'), FAILED)

    def test_an_energy_of_nwchem_is_compared(self):
        for energy, verdict in (('-76.026809378187', PASSED), ('-76.026819378187', FAILED)):
            self.assertEqual(self.judged('nwchem', 'scf', f'         Total SCF energy =    {energy}\n'), verdict)
        self.assertEqual(self.judged('nwchem', 'mp2', '         Total SCF energy =    -76.230754341646\n'), FAILED)

    def test_a_solution_of_mumps_is_compared_real_or_complex(self):
        end = '\n Entering DMUMPS 5.5.1 with JOB =  -2\n'
        real = '  Solution is   0.99999999999999878  2.0000000000000004  3.0000000000000004  3.9999999999999996  4.9999999999999991'
        self.assertEqual(self.judged('mumps', 'dsimpletest', real + end), PASSED)
        self.assertEqual(self.judged('mumps', 'dsimpletest', real.replace('  2.0', '  2.1') + end), FAILED)
        self.assertEqual(self.judged('mumps', 'dsimpletest', end), FAILED)
        pairs = ' '.join(f'({value}.0000000,0.00000000E+00)' for value in (1, 2, 3, 4, 5))
        self.assertEqual(self.judged('mumps', 'csimpletest', f'  Solution is {pairs}' + end), PASSED)

    def test_what_lammps_computes_is_compared_at_every_step(self):
        lines = {0: '       0            3   -6.7733681   -2.2744931   -3.7033504 ',
                 20: '      20    1.6670485   -4.7855458   -2.2855982     5.719688 ',
                 40: '      40    1.6599439   -4.7720477   -2.2827543    5.7190105 '}
        self.assertEqual(self.judged('lammps', 'melt', '\n'.join(lines.values())), PASSED)
        wrong = lines | {20: lines[20].replace('1.667', '1.668')}
        self.assertEqual(self.judged('lammps', 'melt', '\n'.join(wrong.values())), FAILED)
        self.assertEqual(self.judged('lammps', 'melt', lines[0]), FAILED)

    WHOLE = ''.join(f'REAL {part} TESTS:   75 TESTS;   50 PASSED,   25 SKIPPED,    0 FAILED.\n'
                    for part in ('SDRV', 'BSBR', 'SUM', 'AMX', 'AMN')) + 'killed other procs, exiting with error #-1.\n'

    def verdict(self, text):
        judge = next(case.judge for case in clients.load('scalapack').cases(Workplace(tempfile.gettempdir(), '/x'), 'tcp', False)
                     if case.name == 'xCbtest')
        return judge(Outcome(255, text, 1.0, 1.0))[0]

    def test_a_blacs_run_is_judged_by_its_summaries(self):
        self.assertEqual(self.verdict(self.WHOLE), PASSED)
        self.assertEqual(self.verdict(self.WHOLE.replace(' 0 FAILED', ' 3 FAILED', 1)), FAILED)

    def test_a_blacs_run_that_ends_early_fails(self):
        self.assertEqual(self.verdict(self.WHOLE.replace('killed', '')), FAILED)
        self.assertEqual(self.verdict(''.join(self.WHOLE.splitlines(True)[1:])), FAILED)
        self.assertEqual(self.verdict(''), FAILED)


class Sources(unittest.TestCase):
    def fetch(self, folder, apt_get):
        """What debian.source() gives with this script as apt-get."""
        script = os.path.join(folder, 'apt-get')
        with open(script, 'w', encoding='utf-8') as file:
            file.write(f'#!/bin/sh\ncase "$*" in *" source "*) ;; *) exit 0 ;; esac\n{apt_get}')
        os.chmod(script, 0o755)
        with unittest.mock.patch.dict(os.environ, {'PATH': f'{folder}:{os.environ["PATH"]}'}), \
                unittest.mock.patch.object(debian, '_mirror', lambda: ('http://nowhere', 'bookworm')):
            return debian.source('some', os.path.join(folder, 'sources'))

    def test_a_tarball_that_came_without_the_description_of_its_package_is_taken(self):
        with tempfile.TemporaryDirectory() as folder:
            place = self.fetch(folder, 'mkdir some-1 && touch some-1/README && tar cJf some_1.orig.tar.xz some-1\n'
                                       'echo "E: Failed to fetch some_1-2.dsc  404" >&2; exit 100\n')
            self.assertTrue(os.path.exists(os.path.join(place, 'README')))

    def test_what_has_no_tarball_is_unavailable_for_the_reason_that_was_given(self):
        with tempfile.TemporaryDirectory() as folder, self.assertRaisesRegex(clients.Unavailable, 'no such package'):
            self.fetch(folder, 'echo "E: no such package" >&2; exit 100\n')


class Recording(unittest.TestCase):
    def test_what_is_loaded_before_stays_in_front_of_the_recorder(self):
        added = record.environment('/lib/recorder.so', '/run', {'LD_PRELOAD': '/shim.so'})
        self.assertEqual(added, {'LD_PRELOAD': '/shim.so:/lib/recorder.so', 'SELVAGE_RECORD': '/run/%p.trace'})

    def test_the_same_traces_make_the_same_archive(self):
        with tempfile.TemporaryDirectory() as folder:
            for name in ('12.trace', '9.trace'):
                with open(os.path.join(folder, name), 'w', encoding='ascii') as file:
                    file.write(name)
            archives = []
            for name in ('a', 'b'):
                self.assertRegex(record.pack(folder, os.path.join(folder, name)), '^2 traces')
                with open(os.path.join(folder, name), 'rb') as file:
                    archives.append(file.read())
            with tarfile.open(os.path.join(folder, 'a')) as archive:
                self.assertEqual(archive.extractfile('1.trace').read(), b'9.trace')
        self.assertEqual(*archives)

    def test_a_run_without_a_trace_makes_no_archive(self):
        with tempfile.TemporaryDirectory() as folder:
            self.assertIn('no process', record.pack(folder, os.path.join(folder, 'a')))
            self.assertEqual(os.listdir(folder), [])


class Environments(unittest.TestCase):
    def test_only_the_library_under_test_is_put_in_front(self):
        with tempfile.TemporaryDirectory() as folder:
            place = Workplace(folder, '/somewhere')
            self.assertEqual(place.environment(OWN, shell(''))['LD_LIBRARY_PATH'], '/somewhere')
            self.assertNotIn('LD_LIBRARY_PATH', place.environment(DEBIAN, shell('')))

    def test_variables_of_libfabric_and_mpi_are_the_cases_own(self):
        with tempfile.TemporaryDirectory() as folder:
            os.environ['FI_PROVIDER'] = 'verbs'
            try:
                place = Workplace(folder, '/somewhere')
                self.assertNotIn('FI_PROVIDER', place.environment(OWN, shell('')))
                self.assertEqual(place.environment(OWN, shell('', environment={'FI_PROVIDER': 'tcp'}))['FI_PROVIDER'], 'tcp')
            finally:
                del os.environ['FI_PROVIDER']


class TheCommand(unittest.TestCase):
    def test_two_runs_do_not_share_a_folder(self):
        with tempfile.TemporaryDirectory() as folder:
            open(os.path.join(folder, 'libfabric.so.1'), 'w', encoding='ascii').close()
            with open(os.path.join(folder, 'lock'), 'w', encoding='ascii') as lock:
                fcntl.flock(lock, fcntl.LOCK_EX)
                with unittest.mock.patch('clients.own_is_loaded', return_value=True), \
                        unittest.mock.patch('sys.stderr', io.StringIO()) as said:
                    self.assertEqual(clients.main(['--library', folder, '--folder', folder]), 2)
        self.assertIn('another run', said.getvalue())

    def test_a_case_finds_the_programs_that_it_starts_by_a_relative_name(self):
        with tempfile.TemporaryDirectory() as folder:
            place = Workplace(folder, folder)
            case = shell('./true && echo started', links=('/bin/true',))
            program = type('Program', (), {'name': 'some'})
            self.assertEqual(clients.run_case(place, program, case, 'own').verdict, 'passed')

    def test_without_a_library_it_could_not_run(self):
        driver = os.path.join(os.path.dirname(os.path.realpath(__file__)), 'clients.py')
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run([sys.executable, driver, '--library', folder, '--folder', folder], capture_output=True, text=True,
                                  check=False)
        self.assertEqual(done.returncode, 2)
        self.assertIn('no libfabric.so.1', done.stderr)


if __name__ == '__main__':
    unittest.main()
