"""Where programs are made ready and run: build/clients/, the library under test, and the environment of each library."""
import os
import shutil
import subprocess

from case import Unavailable

ROOT = os.path.realpath(os.path.join(os.path.dirname(__file__), '../../..'))
OWN, DEBIAN = 'own', 'debian'


class Workplace:
    def __init__(self, folder, library):
        self.folder, self.library = folder, library
        os.makedirs(folder, exist_ok=True)

    def path(self, *parts):
        return os.path.join(self.folder, *parts)

    def environment(self, which, case):
        """That of a case on a library. Debian's is found where the linker looks by itself."""
        kept = {name: value for name, value in os.environ.items()
                if not name.startswith(('FI_', 'OMPI_', 'MPIR_', 'PMIX_', 'LD_'))}
        kept |= {'LC_ALL': 'C.UTF-8', 'TMPDIR': self.path('run')}
        if which == OWN:
            kept['LD_LIBRARY_PATH'] = self.library
        return kept | case.environment

    @staticmethod
    def has(command):
        return shutil.which(command) is not None

    def make(self, what, *command, cwd=None, log=None):
        """Runs a step of a build. Raises Unavailable with the last words where it fails."""
        log = log or self.path(f'{what.replace("/", "-")}.log')
        with open(log, 'a', encoding='utf-8') as output:
            status = subprocess.run(('nice', '-n', '10', *command), cwd=cwd or self.folder, stdin=subprocess.DEVNULL,
                                    stdout=output, stderr=subprocess.STDOUT, check=False).returncode
        if status:
            raise Unavailable(f'{what}: {" ".join(command[:3])} ended with status {status}, see {log}')

    def newer(self, product, *sources):
        """Whether the product has to be made (again)."""
        if not os.path.exists(product):
            return True
        made = os.path.getmtime(product)
        return any(os.path.getmtime(source) > made for source in sources)
