// Multicast groups that an endpoint has joined (fi_join(3)).
//
// Whoever receives from a group has a socket for it, bound to the address and port of the group: a socket that is bound
// to the endpoint's own address would not be given what is sent to another one, and the port of a group need not be the
// endpoint's. Several endpoints of a machine may be in one group (SO_REUSEADDR), and each is given every datagram, a
// member's own ones included. Groups that are only sent to have no socket: datagrams leave through the endpoint's.
//
// What fi_mc_addr returns is the group's place in the endpoint's list, and is looked up there: it means nothing without
// FI_MULTICAST, and no number of an application is followed as a pointer.
//
// The list is protected by the lock of the endpoint.
#pragma once

#include <rdma/fi_cm.h>

#include <cstdlib>

#include "impl/endpoint/ep.h"

namespace selvage::impl::udp {

class UdpPath;

struct Group {
    fid_mc descriptor{};
    UdpPath* path = nullptr;
    Endpoint* endpoint = nullptr;  // holds a use of it
    SocketAddress address;
    int socket = -1;  // negative: nothing is received
    bool sends = false;
};

class GroupList {
public:
    GroupList() = default;
    ~GroupList() { free(list_); }
    GroupList(const GroupList&) = delete;
    GroupList& operator=(const GroupList&) = delete;

    // The number of a new member, or FI_ADDR_NOTAVAIL when memory is short.
    fi_addr_t add(Group& group);
    void remove(const Group& group);
    // nullptr when there is none.
    const Group* find(fi_addr_t number) const { return number < size_ ? list_[number] : nullptr; }
    size_t size() const { return size_; }  // places, not all of which need be taken

private:
    Group** list_ = nullptr;
    size_t size_ = 0;
};

// By which interface datagrams to groups leave a socket, and that it is given those of its own groups alone.
int choose_interface(int socket, const Domain& domain);
// A socket that receives what is sent to the group at the domain's interface. 0 or a negative errno.
int open_group(const SocketAddress& group, const Domain& domain, int* socket);

}  // namespace selvage::impl::udp
