"""How Debian's Open MPI is made to move every message through libfabric."""
import os

from workplace import ROOT

PACKAGES = ('openmpi-bin', 'libopenmpi-dev')
_SHIM_SOURCE = os.path.join(ROOT, 'impl/test/programs/mpi/local_shim.c')


def shim(workplace):
    """Takes FI_REMOTE_COMM out of Open MPI's queries, which a provider that reaches this machine only has to refuse; and
    FI_LOCAL_COMM, which the shm provider of libfabric 1.17 does not know."""
    library = workplace.path('local_shim.so')
    if workplace.newer(library, _SHIM_SOURCE):
        workplace.make('local_shim', 'cc', '-shared', '-fPIC', '-O1', '-o', library, _SHIM_SOURCE, '-ldl')
    return library


def compiled(workplace, name, sources, headers=()):
    """A program of MPI calls, compiled for Open MPI."""
    program = workplace.path('open_mpi', name)
    os.makedirs(os.path.dirname(program), exist_ok=True)
    if workplace.newer(program, *sources, *headers):
        workplace.make(f'open_mpi/{name}', 'mpicc.openmpi', '-O1', '-g', '-w', '-o', program, *sources)
    return program


def command(provider, ranks, *program, one_sided=False):
    """mpirun with the matching layer over the provider, or one-sided calls by remote access through it."""
    options = ['mpirun.openmpi', '--oversubscribe', '--allow-run-as-root', '--bind-to', 'none', '--mca', 'plm', 'isolated',
               '--mca', 'mpi_yield_when_idle', '1', '--mca', 'pml', 'cm', '--mca', 'mtl', 'ofi',
               '--mca', 'mtl_ofi_provider_include', provider]
    if one_sided:
        options += ['--mca', 'osc', 'rdma', '--mca', 'btl', 'ofi,self', '--mca', 'btl_ofi_provider_include', provider]
    else:
        options += ['--mca', 'osc', 'pt2pt', '--mca', 'btl', 'self']
    return (*options, '-n', str(ranks), *program)


def environment(workplace, provider):
    # PMIx 4.2.2 keeps what processes publish in shared memory by default, and spawned processes then hang in PMIx_Init now
    # and then, before libfabric is touched, with any libfabric (docs/endurance.md).
    variables = {'PMIX_MCA_gds': 'hash'}
    if provider == 'shm':
        variables['LD_PRELOAD'] = shim(workplace)
    if 'ofi_rxm' in provider:  # Open MPI takes the layered name only where fi_getinfo names it without being asked for it
        variables['FI_PROVIDER'] = provider
    return variables
