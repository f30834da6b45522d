// Names of an endpoint's sockets: abstract ones, made of its random instance id, so that no file has to be removed.
#ifndef SELVAGE_IMPL_TRANSPORT_SHM_SOCKET_NAME_H
#define SELVAGE_IMPL_TRANSPORT_SHM_SOCKET_NAME_H

#include <sys/socket.h>
#include <sys/un.h>

#include <cstdio>

#include "impl/transport/shm/layout.h"

namespace selvage::impl::shm {

// `kind` tells the sockets of one endpoint apart: at most 31 characters. Returns the length for bind() and its kin.
inline socklen_t socket_name(const char* kind, const uint8_t (&instance)[kIdBytes], sockaddr_un* out) {
    *out = {};
    out->sun_family = AF_UNIX;
    char* to = out->sun_path + 1;  // an abstract name begins with a zero byte
    to += snprintf(to, 32, "%s-", kind);
    for (const uint8_t byte : instance) to += snprintf(to, 3, "%02x", byte);
    return static_cast<socklen_t>(to - reinterpret_cast<char*>(out));
}

}  // namespace selvage::impl::shm

#endif
