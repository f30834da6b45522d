"""Debian's programs that link with libfabric directly: fi_info in its forms, fi_strerror, fi_pingpong on each endpoint type."""
import re

from case import FAILED, PASSED, Case, Limits, Program, by_status

# The server says nothing when it listens, so its port is looked at. A port of its own, below those that the kernel gives out.
PINGPONG = '''port=$((16000 + $$ % 16000))
fi_pingpong "$@" -B $port > server 2>&1 & server=$!
for _ in $(seq 600); do
    ss -Htln "sport = :$port" | grep -q . && break
    kill -0 $server 2>/dev/null || { cat server; exit 1; }
    sleep 0.1
done
fi_pingpong "$@" -P $port 127.0.0.1 || { cat server; exit 1; }
wait $server || { cat server; exit 1; }
'''
SIZES = ('1', '64', '4096', '65536', '1048576')


def names_provider(provider):
    def judge(outcome):
        verdict, reason = by_status(outcome)
        if verdict == PASSED and not re.search(f'(provider|prov_name): {provider}(;.*)?$', outcome.output, re.M):
            return FAILED, 'the provider is not listed'
        return verdict, reason
    return judge


class Program(Program):
    name = 'fabric_tools'
    packages = ('libfabric-bin', 'iproute2')
    providers = (*Program.providers, 'udp')

    def cases(self, workplace, provider, quick):
        datagrams = provider == 'udp'
        for form in ((), ('-v',), ('-t', 'FI_EP_DGRAM' if datagrams else 'FI_EP_RDM'),
                     ('-c', 'FI_MSG' if datagrams else 'FI_MSG|FI_TAGGED'), ('-m', 'FI_CONTEXT')):
            yield Case(f'fi_info {" ".join(form)}'.strip(), provider, 1, ('fi_info', '-p', provider, *form),
                       judge=names_provider(provider))
        if provider == 'tcp':
            for form in ('-l', '-e', '--version', '-v'):
                yield Case(f'fi_info {form} of all', provider, 1, ('fi_info', form))
            yield Case('fi_strerror 11', provider, 1, ('fi_strerror', '11'))
        for kind in ('rdm', 'msg') if provider == 'tcp' else ('dgram',) if datagrams else ('rdm',):
            for size in SIZES[:2] if datagrams else SIZES[1:3] if quick else SIZES:
                count = '5' if int(size) > 65536 else '50'
                yield Case(f'fi_pingpong {kind} {size}', provider, 2,
                           ('bash', 'pingpong.sh', '-p', provider, '-e', kind, '-I', count, '-S', size, '-c'),
                           files={'pingpong.sh': PINGPONG}, limits=Limits(work=120))
