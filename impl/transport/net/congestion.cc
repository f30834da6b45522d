// See congestion.h.
#include "impl/transport/net/congestion.h"

#include <netinet/tcp.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "impl/transport/net/sockets.h"

namespace selvage::impl::net {
namespace {

constexpr char kPlain[] = "reno";

struct Name {
    char text[16] = {};  // TCP_CA_NAME_MAX
};

Name name_of(int socket) {
    Name name;
    socklen_t size = sizeof name.text - 1;
    if (getsockopt(socket, IPPROTO_TCP, TCP_CONGESTION, name.text, &size)) return {};
    return name;
}

// What new sockets have. It is read once: a change while the process runs is for later ones.
const Name& system_choice() {
    static const Name choice = [] {
        const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        const Name name = socket < 0 ? Name{} : name_of(socket);
        if (socket >= 0) close(socket);
        return name;
    }();
    return choice;
}

void set_name(int socket, const char* name) {
    (void)setsockopt(socket, IPPROTO_TCP, TCP_CONGESTION, name, static_cast<socklen_t>(strlen(name)));
}

}  // namespace

bool paces(const char* algorithm) { return strncmp(algorithm, "bbr", 3) == 0; }

const char* congestion_of(bool one_machine, const char* now, const char* system) {
    if (one_machine) return kPlain;
    return paces(system) && strcmp(now, kPlain) == 0 ? system : nullptr;
}

void begin_unpaced(int socket) {
    if (paces(system_choice().text)) set_name(socket, kPlain);
}

void choose_congestion(int socket) {
    const bool one_machine = local_address(socket).same_host(remote_address(socket));
    const Name now = one_machine ? Name{} : name_of(socket);
    if (const char* name = congestion_of(one_machine, now.text, system_choice().text)) set_name(socket, name);
}

void choose_accepted(int socket, const SocketAddress& from) {
    if (paces(system_choice().text) && !local_address(socket).same_host(from)) choose_congestion(socket);
}

}  // namespace selvage::impl::net
