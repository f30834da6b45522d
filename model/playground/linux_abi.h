// What the model takes from Linux, for a compiler of WebAssembly: included before every source (-include).
//
// The model reads and prints socket addresses byte by byte and errors by number; wasi-libc numbers families and errors
// otherwise, lays out sockaddr_in6 otherwise, and lacks some errors.  Here they are as on Linux, so that the page
// answers byte by byte as the tool does.
#pragma once

#ifdef __wasi__

#include <errno.h>

#define sockaddr_in wasi_sockaddr_in
#define sockaddr_in6 wasi_sockaddr_in6
#include <arpa/inet.h>
#undef sockaddr_in
#undef sockaddr_in6

#undef AF_INET
#undef AF_INET6
#define AF_INET 2
#define AF_INET6 10

struct sockaddr_in {
    sa_family_t sin_family;
    in_port_t sin_port;
    struct in_addr sin_addr;
    unsigned char sin_zero[8];
};

struct sockaddr_in6 {
    sa_family_t sin6_family;
    in_port_t sin6_port;
    uint32_t sin6_flowinfo;
    struct in6_addr sin6_addr;
    uint32_t sin6_scope_id;
};

// The two functions of wasi-libc that take a family: 1 and 2 are its own numbers.
static inline int linux_inet_pton(int family, const char* text, void* out) {
    return inet_pton(family == AF_INET ? 1 : 2, text, out);
}
static inline const char* linux_inet_ntop(int family, const void* address, char* out, socklen_t size) {
    return inet_ntop(family == AF_INET ? 1 : 2, address, out, size);
}
#define inet_pton linux_inet_pton
#define inet_ntop linux_inet_ntop

// rdma/fi_eq.h includes pthread.h; wasi-libc has its types elsewhere, and the system's header is not for this target.
#define _PTHREAD_H 1

// The errors that rdma/fi_errno.h takes from the system.
#undef EPERM
#undef ENOENT
#undef EINTR
#undef EIO
#undef E2BIG
#undef EBADF
#undef EAGAIN
#undef ENOMEM
#undef EACCES
#undef EFAULT
#undef EBUSY
#undef ENODEV
#undef EINVAL
#undef EMFILE
#undef ENOSPC
#undef ENOSYS
#undef EWOULDBLOCK
#undef ENOMSG
#undef ENODATA
#undef EOVERFLOW
#undef EMSGSIZE
#undef ENOPROTOOPT
#undef EOPNOTSUPP
#undef EADDRINUSE
#undef EADDRNOTAVAIL
#undef ENETDOWN
#undef ENETUNREACH
#undef ECONNABORTED
#undef ECONNRESET
#undef ENOBUFS
#undef EISCONN
#undef ENOTCONN
#undef ESHUTDOWN
#undef ETIMEDOUT
#undef ECONNREFUSED
#undef EHOSTDOWN
#undef EHOSTUNREACH
#undef EALREADY
#undef EINPROGRESS
#undef EREMOTEIO
#undef ECANCELED
#undef EKEYREJECTED
#define EPERM 1
#define ENOENT 2
#define EINTR 4
#define EIO 5
#define E2BIG 7
#define EBADF 9
#define EAGAIN 11
#define ENOMEM 12
#define EACCES 13
#define EFAULT 14
#define EBUSY 16
#define ENODEV 19
#define EINVAL 22
#define EMFILE 24
#define ENOSPC 28
#define ENOSYS 38
#define EWOULDBLOCK 11
#define ENOMSG 42
#define ENODATA 61
#define EOVERFLOW 75
#define EMSGSIZE 90
#define ENOPROTOOPT 92
#define EOPNOTSUPP 95
#define EADDRINUSE 98
#define EADDRNOTAVAIL 99
#define ENETDOWN 100
#define ENETUNREACH 101
#define ECONNABORTED 103
#define ECONNRESET 104
#define ENOBUFS 105
#define EISCONN 106
#define ENOTCONN 107
#define ESHUTDOWN 108
#define ETIMEDOUT 110
#define ECONNREFUSED 111
#define EHOSTDOWN 112
#define EHOSTUNREACH 113
#define EALREADY 114
#define EINPROGRESS 115
#define EREMOTEIO 121
#define ECANCELED 125
#define EKEYREJECTED 129

#endif  // __wasi__
