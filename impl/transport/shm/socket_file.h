// Sockets of an endpoint that only its own user can send to: bound to files beside its region, mode 0600.
//
//     /dev/shm/selvage-bell-<uid>-<instance id in hex>     bell.h
//     /dev/shm/selvage-who-<uid>-<instance id in hex>      introductions.h
//
// The kernel asks for permission to write to the file of whoever sends. A socket with an abstract name would need no
// file, but has no permissions, can be found in /proc/net/unix by anybody, and is not there for processes in another
// network namespace, as containers are that share /dev/shm.
//
// The file has to be removed like the region is, and together with it: by the endpoint when it closes, or by whoever
// removes the region of a dead one and finds the instance id in it. So a socket is bound after its region was made and
// its file goes before the region does.
#pragma once

#include <sys/socket.h>
#include <sys/un.h>

#include "impl/transport/shm/layout.h"

namespace selvage::impl::shm {

enum class SocketKind : uint8_t { Bell, Introductions };

// Returns the length for bind() and its kin.
socklen_t socket_file_name(SocketKind kind, const uint8_t (&instance)[kIdBytes], sockaddr_un* out);
// Binds a new socket. 0 or a negative errno.
int bind_socket_file(int socket, SocketKind kind, const uint8_t (&instance)[kIdBytes]);
void remove_socket_file(SocketKind kind, const uint8_t (&instance)[kIdBytes]);
// All that the endpoint with this instance id may have left behind.
void remove_socket_files(const uint8_t (&instance)[kIdBytes]);

}  // namespace selvage::impl::shm
