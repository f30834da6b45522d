// Two endpoints with rails (rail_pair.h) whose links can be made silent (silent_link.h).
#pragma once

#include <cstdlib>

#include "impl/test/tcp/rail_pair.h"
#include "impl/test/tcp/silent_link.h"

namespace selvage::impl::test {

// FI_TCP_LINK_TIMEOUT of endpoints that are made in its time.
class LinkTimeout {
public:
    explicit LinkTimeout(const char* milliseconds) { setenv("FI_TCP_LINK_TIMEOUT", milliseconds, 1); }
    ~LinkTimeout() { unsetenv("FI_TCP_LINK_TIMEOUT"); }
    LinkTimeout(const LinkTimeout&) = delete;
    LinkTimeout& operator=(const LinkTimeout&) = delete;
};

struct SilentPair : RailPair {
    using RailPair::RailPair;
    SilentLink silence(unsigned last) {
        return {ntohl(loopback_of(last).v4.sin_addr.s_addr), b.transport.address().port()};
    }
    bool counts() {
        return run({&a, &b},
                   [&] { return to_b->kept && to_b->rails->first.can_move() && to_a()->rails->first.can_move(); });
    }
    bool connect() { return RailPair::connect() && counts(); }
    void progress_for(int milliseconds) {
        (void)run(
            {&a, &b}, [] { return false; }, milliseconds);
    }
    bool is_acknowledged() { return to_b->rails->first.kept.empty() && to_a()->rails->first.kept.empty(); }
    bool was_lost() { return to_b->rails->first.lost_since || to_a()->rails->first.lost_since; }
    void expect_all_whole() {
        expect_whole(a);
        expect_whole(b);
    }
};

}  // namespace selvage::impl::test
