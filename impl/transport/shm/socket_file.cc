// See socket_file.h.
#include "impl/transport/shm/socket_file.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <iterator>

namespace selvage::impl::shm {
namespace {

constexpr const char* kNames[] = {"bell", "who"};

}  // namespace

socklen_t socket_file_name(SocketKind kind, const uint8_t (&instance)[kIdBytes], sockaddr_un* out) {
    *out = {};
    out->sun_family = AF_UNIX;
    char* to = out->sun_path;
    // At most 24 + 10 + 1 characters, and 32 digits.
    to += snprintf(to, 40, "/dev/shm/selvage-%s-%u-", kNames[static_cast<size_t>(kind)], geteuid());
    for (const uint8_t byte : instance) to += snprintf(to, 3, "%02x", byte);
    return static_cast<socklen_t>(to + 1 - reinterpret_cast<char*>(out));
}

int bind_socket_file(int socket, SocketKind kind, const uint8_t (&instance)[kIdBytes]) {
    sockaddr_un name;
    const socklen_t length = socket_file_name(kind, instance, &name);
    // The file gets the mode of the socket, less the umask: it is never there with another.
    if (fchmod(socket, 0600) || bind(socket, reinterpret_cast<const sockaddr*>(&name), length)) return -errno;
    return 0;
}

void remove_socket_file(SocketKind kind, const uint8_t (&instance)[kIdBytes]) {
    sockaddr_un name;
    socket_file_name(kind, instance, &name);
    unlink(name.sun_path);
}

void remove_socket_files(const uint8_t (&instance)[kIdBytes]) {
    for (size_t kind = 0; kind < std::size(kNames); ++kind) {
        remove_socket_file(static_cast<SocketKind>(kind), instance);
    }
}

}  // namespace selvage::impl::shm
