// See slow_cable.h.
#include "impl/test/tcp/slow_cable.h"

#include <fcntl.h>
#include <linux/if.h>
#include <linux/if_tun.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <deque>
#include <stdexcept>

namespace selvage::impl::test {
namespace {

constexpr size_t kPacketMax = 66u << 10;
constexpr int64_t kSecond = 1'000'000'000;

int64_t now() {
    timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * kSecond + time.tv_nsec;
}

// One direction of a cable.
class Direction {
public:
    Direction(const Cable& cable, int from, int to) : cable_(cable), from_(from), to_(to) {}

    int from() const { return from_; }
    // When the next packet arrives; INT64_MAX if none is under way.
    int64_t next() const { return packets_.empty() ? INT64_MAX : packets_.front().arrives; }
    void take_all() {
        for (int i = 0; i < 64; ++i) {
            const ssize_t size = read(from_, buffer_, sizeof buffer_);
            if (size <= 0) return;
            if (cable_.drop_every && ++taken_ % cable_.drop_every == 0) continue;
            const int64_t time = now();
            free_at_ = std::max(free_at_, time);
            if (cable_.megabits) free_at_ += size * 8000 / cable_.megabits;
            packets_.push_back({free_at_ + cable_.round_trip * (kSecond / 2000), {buffer_, buffer_ + size}});
        }
    }
    void give_due() {
        for (const int64_t time = now(); !packets_.empty() && packets_.front().arrives <= time; packets_.pop_front()) {
            const auto& bytes = packets_.front().bytes;
            (void)!write(to_, bytes.data(), bytes.size());  // to a device that is down nothing comes
        }
    }

private:
    struct Packet {
        int64_t arrives;
        std::vector<char> bytes;
    };
    Cable cable_;
    int from_;
    int to_;
    uint64_t taken_ = 0;
    int64_t free_at_ = 0;  // when what was taken has been sent
    std::deque<Packet> packets_;
    char buffer_[kPacketMax];
};

}  // namespace

int make_tunnel(const std::string& name, bool whole) {
    const int tunnel = open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC);
    ifreq request{};
    strncpy(request.ifr_name, name.c_str(), sizeof request.ifr_name - 1);
    request.ifr_flags = IFF_TUN | IFF_NO_PI | IFF_VNET_HDR;
    const unsigned offload = TUN_F_CSUM | (whole ? TUN_F_TSO4 | TUN_F_TSO6 : 0u);
    if (tunnel < 0 || ioctl(tunnel, TUNSETIFF, &request) || ioctl(tunnel, TUNSETOFFLOAD, offload))
        throw std::runtime_error("a TUN device");
    return tunnel;
}

void run_cables(const std::vector<CableEnds>& cables) {
    std::deque<Direction> directions;
    std::vector<pollfd> polled;
    for (const CableEnds& each : cables) {
        directions.emplace_back(each.cable, each.ends[0], each.ends[1]);
        directions.emplace_back(each.cable, each.ends[1], each.ends[0]);
    }
    for (const Direction& each : directions) polled.push_back({.fd = each.from(), .events = POLLIN, .revents = 0});
    for (;;) {
        int64_t next = INT64_MAX;
        for (const Direction& each : directions) next = std::min(next, each.next());
        const int64_t wait = std::clamp<int64_t>(next - now(), 0, kSecond);
        const timespec limit{.tv_sec = wait / kSecond, .tv_nsec = wait % kSecond};
        ppoll(polled.data(), polled.size(), &limit, nullptr);
        for (Direction& each : directions) {
            each.take_all();
            each.give_due();
        }
    }
}

}  // namespace selvage::impl::test
