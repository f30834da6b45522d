// Queries to the kernel's routing tables: links, addresses, and where a packet would go (rtnetlink(7)).
//
// Invariants: nothing blocks, as the kernel has answered when the query is sent; an answer is read into one buffer
// of kAnswerBytes, part by part, and no length in it is trusted; what comes from another process is not looked at. An
// answer is either visited whole or an error.
// One thread at a time. Owner: a discovery, for as long as it runs.
#pragma once

#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <sys/socket.h>

#include <cstddef>
#include <cstdint>

namespace selvage::impl {

// The attributes behind the fixed part of a message, or nested in one: rtattr::rta_type and bytes.
class RouteAttributes {
public:
    RouteAttributes(const void* bytes, size_t size) : at_(static_cast<const char*>(bytes)), left_(size) {}
    // Of a message whose fixed part is a Fixed; none when it is shorter than that.
    template <typename Fixed>
    static RouteAttributes of(const nlmsghdr& message) {
        const size_t fixed = NLMSG_LENGTH(NLMSG_ALIGN(sizeof(Fixed)));
        if (message.nlmsg_len < fixed) return {nullptr, 0};
        return {reinterpret_cast<const char*>(&message) + fixed, message.nlmsg_len - fixed};
    }
    // The next one, or nullptr.
    const rtattr* next();

private:
    const char* at_;
    size_t left_;
};

inline size_t payload_size(const rtattr& attribute) { return attribute.rta_len - RTA_LENGTH(0); }
inline const void* payload(const rtattr& attribute) {
    return reinterpret_cast<const char*>(&attribute) + RTA_LENGTH(0);
}
// True when the attribute holds exactly one T, which is copied.
template <typename T>
bool read_attribute(const rtattr& attribute, T* out) {
    if (payload_size(attribute) != sizeof *out) return false;
    __builtin_memcpy(out, payload(attribute), sizeof *out);
    return true;
}
// Copies a text of at most size - 1 bytes and ends it.
void read_text(const rtattr& attribute, char* out, size_t size);

class RouteSocket {
public:
    // A message of an answer; `message` has at least the length that its header names.
    class Visitor {
    public:
        virtual void visit(const nlmsghdr& message) = 0;

    protected:
        ~Visitor() = default;
    };

    RouteSocket() = default;
    ~RouteSocket();
    RouteSocket(const RouteSocket&) = delete;
    RouteSocket& operator=(const RouteSocket&) = delete;

    // These return 0 or an errno.
    int open();
    int dump_links(Visitor& visitor) const;
    int dump_addresses(Visitor& visitor) const;
    // The route of an address of that family, with its prefix.
    int find_route(sa_family_t family, const void* address, size_t size, Visitor& visitor) const;

    int descriptor() const { return socket_; }

private:
    static constexpr size_t kAnswerBytes = 32768;  // the most that the kernel puts into one part
    int query(const void* request, size_t size, Visitor& visitor) const;
    int receive(Visitor& visitor, bool* done) const;

    int socket_ = -1;
    char* answer_ = nullptr;
};

}  // namespace selvage::impl
