"""Upstream's own tests, fabtests 2.1.0, out of the source package of Debian 13: they need the interface of libfabric 2.x, which is built
from the same source beside them. What the page calls Debian's is that libfabric 2.1.0 here, which the programs find by themselves.

The lists of cases are those of its runfabtests.sh, which starts a server, waits a second, and starts a client. Not taken: its lists of
what a provider is excused from; types of endpoints that a provider has none of, or for which fabtests names internet addresses (shm).

fi_ubertest runs whole files of settings, 1,488 for shm. Its file for tcp (384) is not taken: of 16 bytes in six parts it sends 17, as it
rounds each part, and calls what arrives an error; upstream's providers take four parts, which it never rounds so. On this library all
but those 9 or 10 of these settings pass, or are left out by fi_ubertest itself (8).
"""
import os
import re
import shlex

import debian
from case import FAILED, PASSED, SKIPPED, Case, Limits, Program, last_words

SUITE = 'trixie'
WITHOUT = ('verbs', 'efa', 'psm2', 'psm3', 'opx', 'usnic')
LISTS = {'unit': 'unit_tests', 'functional': 'functional_tests', 'short': 'short_tests'}
NOT_THERE = {38, 61}  # ENOSYS, ENODATA
PAIR = '''"$@" -s 127.0.0.1 > server 2>&1 & server=$!
sleep 1
"$@" -s 127.0.0.1 127.0.0.1; client=$?
[ $client = 0 ] || kill -9 $server 2> /dev/null
wait $server; server=$?
cat server
[ $client = 0 ] && exit $server
exit $client
'''
UBERTEST = '''port=$((20000 + $$ % 20000))
"$1" -x -q $port > server 2>&1 & server=$!
sleep 1
"$1" -u "$2" -q $port 127.0.0.1 > client 2>&1; client=$?
[ $client = 0 ] || kill -9 $server 2> /dev/null
wait $server; server=$?
tail -n 20 server client
[ $client = 0 ] && exit $server
exit $client
'''
SETTINGS = {'shm': ('shm/quick.test',), 'udp': ('udp/functional.test',)}
# Kinds of endpoints, by what names them in a command.
KINDS = {'msg': r'-e msg|^fi_msg|^fi_cm_data', 'dgram': r'-e dgram|^fi_dgram'}
ABSENT = {'shm': ('msg', 'dgram'), 'tcp': ('dgram',), 'tcp;ofi_rxm': ('msg', 'dgram'), 'udp': ('msg',)}
QUICK = ('fi_rdm', 'fi_rdm_rma_trigger', 'fi_rdm_tagged_peek', 'fi_scalable_ep', 'fi_rdm_shared_av', 'fi_eq_test', 'fi_cq_test',
         'fi_setopt_test', 'fi_rdm_tagged_pingpong -I 5', 'fi_rdm_atomic -I 5 -o all')


def judge(outcome):
    if outcome.status == 0:
        return PASSED, ''
    if outcome.status in NOT_THERE:
        return SKIPPED, ''
    return FAILED, f'status {outcome.status}: {last_words(outcome.output)}'


def list_of(text, name):
    """The commands of one array of the script."""
    found = re.search(rf'^{name}=\(\n(.*?)^\)', text, re.M | re.S)
    return re.findall(r'"([^"\n]+)"', found.group(1)) if found else []


def has_kind(command, provider):
    if provider == 'udp' and not re.search(KINDS['dgram'], command):
        return False
    return not any(re.search(KINDS[kind], command) for kind in ABSENT[provider])


class Program(Program):
    name = 'fabtests'
    providers = (*Program.providers, 'udp')
    packages = ('build-essential', 'autoconf', 'automake', 'libtool')

    def prepare(self, workplace):
        self.prefix = workplace.path('fabtests')
        self.source = debian.source('libfabric', workplace.path('sources'), SUITE)
        if os.path.exists(os.path.join(self.prefix, '.installed')):
            return
        print('   building libfabric 2.1.0 and fabtests, some five minutes of two processors', flush=True)
        tests = os.path.join(self.source, 'fabtests')
        without = [f'--enable-{provider}=no' for provider in WITHOUT]
        for folder, options in ((self.source, ['--disable-static', *without]), (tests, [f'--with-libfabric={self.prefix}'])):
            workplace.make('fabtests-configure', './autogen.sh', cwd=folder)
            workplace.make('fabtests-configure', './configure', f'--prefix={self.prefix}', *options, cwd=folder)
            workplace.make('fabtests-make', 'make', '-j2', cwd=folder)
            workplace.make('fabtests-make', 'make', 'install', cwd=folder)
        open(os.path.join(self.prefix, '.installed'), 'w', encoding='utf-8').close()

    def cases(self, workplace, provider, quick):
        with open(os.path.join(self.source, 'fabtests/scripts/runfabtests.sh'), encoding='utf-8') as file:
            script = file.read()
        for kind, array in LISTS.items():
            for text in list_of(script, array):
                text = re.sub('GOOD_ADDR|SERVER_ADDR', '127.0.0.1', text)
                if not has_kind(text, provider) or (quick and text not in QUICK):
                    continue
                command = (os.path.join(self.prefix, 'bin', text.split()[0]), *shlex.split(text)[1:], '-p', provider)
                alone = kind == 'unit'
                yield Case(text, provider, 1 if alone else 2, command if alone else ('bash', 'pair.sh', *command),
                           files={} if alone else {'pair.sh': PAIR}, limits=Limits(work=120), judge=judge)
        for settings in () if quick else SETTINGS.get(provider, ()):
            command = ('bash', 'ubertest.sh', os.path.join(self.prefix, 'bin/fi_ubertest'),
                       os.path.join(self.prefix, 'share/fabtests/test_configs', settings))
            yield Case(f'fi_ubertest {settings}', provider, 2, command, files={'ubertest.sh': UBERTEST}, limits=Limits(work=600),
                       judge=judge)
