"""Gets programs from Debian: binary packages, and source packages without a change to the system's lists."""
import glob
import os
import subprocess

from case import Unavailable

_KEYRING = '/usr/share/keyrings/debian-archive-keyring.gpg'


def _output(*command):
    return subprocess.run(command, capture_output=True, text=True, check=False)


def _installed(package):
    return 'ok installed' in _output('dpkg-query', '-W', '-f=${Status}', package).stdout


def install(packages):
    """Installs what is missing; needs root for that."""
    missing = [package for package in packages if not _installed(package)]
    if not missing:
        return
    root = [] if os.geteuid() == 0 else ['sudo', '-n']
    result = _output(*root, 'env', 'DEBIAN_FRONTEND=noninteractive', 'apt-get', 'install', '-y', '-qq',
                     '--no-install-recommends', *missing)
    if result.returncode:
        errors = [line for line in (result.stderr + result.stdout).splitlines() if line.startswith('E:')]
        raise Unavailable(f'apt-get install {" ".join(missing)}: {errors[0] if errors else "failed"}')


def version(package):
    return _output('dpkg-query', '-W', '-f=${Version}', package).stdout


def _mirror():
    """The address and suite that binary packages come from."""
    for line in _output('apt-cache', 'policy').stdout.splitlines():
        words = line.split()
        if len(words) > 3 and words[0] == '500' and words[2].endswith('/main') and 'security' not in words[1] and \
                'updates' not in words[2]:
            return words[1], words[2].split('/')[0]
    raise Unavailable('apt-cache policy names no Debian mirror')


def _apt(folder, suite):
    """Options that give apt-get lists of source packages of its own, below a folder: of this suite, or the system's."""
    address, own = _mirror()
    for part in ('lists/partial', 'cache/archives/partial'):
        os.makedirs(os.path.join(folder, part), exist_ok=True)
    listed = os.path.join(folder, 'source.list')
    with open(listed, 'w', encoding='utf-8') as file:
        file.write(f'deb-src [signed-by={_KEYRING}] {address} {suite or own} main\n')
    return ['-o', f'Dir::Etc::sourcelist={listed}', '-o', 'Dir::Etc::sourceparts=-',
            '-o', f'Dir::State::lists={folder}/lists', '-o', f'Dir::Cache={folder}/cache', '-o', 'APT::Sandbox::User=root']


def source(package, folder, suite=None):
    """Unpacks the upstream tarball of a source package below a folder, once: of the system's suite, or of another one. Returns where
    it is."""
    place = os.path.join(folder, package)
    if os.path.exists(os.path.join(place, '.unpacked')):
        return place
    os.makedirs(place, exist_ok=True)
    lists = f'apt-{suite}' if suite else 'apt'
    apt = _apt(os.path.join(folder, lists), suite)
    if not glob.glob(os.path.join(folder, lists, 'lists/*Sources*')):
        subprocess.run(['apt-get', *apt, 'update', '-qq'], capture_output=True, check=False)
    got = subprocess.run(['apt-get', *apt, 'source', '--download-only', package], cwd=place, capture_output=True, text=True,
                         check=False)
    tarballs = [name for name in glob.glob(os.path.join(place, '*.orig.tar.*')) if not name.endswith('.asc')]
    if not tarballs:  # of a package that was just replaced the mirror may lack the description, which is not wanted
        reason = [line for line in got.stderr.splitlines() if line.startswith('E:')]
        raise Unavailable(f'apt-get source {package}: {reason[0][3:] if reason else "failed"}')
    subprocess.run(['tar', 'xf', tarballs[0], '--strip-components=1'], cwd=place, check=True)
    open(os.path.join(place, '.unpacked'), 'w', encoding='utf-8').close()
    return place
