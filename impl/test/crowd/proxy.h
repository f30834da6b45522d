// A man in the middle: passes a TCP stream on in both directions, and after a while damages it.
#pragma once

#include <netinet/in.h>

#include "impl/test/crowd/random.h"

namespace selvage::impl::test {

class Proxy {
public:
    // Listens on a port of the loopback interface; who calls there is connected to `target`.
    Proxy(const sockaddr_in& target, Random& random);
    ~Proxy();
    Proxy(const Proxy&) = delete;
    Proxy& operator=(const Proxy&) = delete;

    const sockaddr_in& address() const { return address_; }
    // Moves what there is to move. False once the stream has ended.
    bool pump();

private:
    bool move(int from, int to, size_t* passed);
    void damage(std::byte* bytes, size_t size);

    Random& random_;
    sockaddr_in target_;
    sockaddr_in address_{};
    int listener_ = -1;
    int caller_ = -1;
    int callee_ = -1;
    size_t passed_[2] = {};
    size_t clean_;  // bytes in each direction before the damage begins
};

// A socket that is connected to there, or -1.
int call(const sockaddr_in& target);

}  // namespace selvage::impl::test
