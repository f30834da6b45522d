// An address vector of a million addresses: what an insertion and a look-up cost, small and large.
//   impl_addresses [NUMBER]
#include <netinet/in.h>
#include <time.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "impl/test/crowd/random.h"
#include "impl/test/crowd/station.h"

namespace selvage::impl::test {
namespace {

// Nanoseconds of processor time, as the machine may be busy.
constexpr double kInsertAtMost = 1000;
// What a look-up among all costs more than one among a tenth of them, in what one read of memory of that size costs
// more: the caches hold less of it. A look-up reads one place of the vector, and the next line of it at times.
constexpr double kReadsAtMost = 2;
constexpr size_t kTimes = 100'000;  // of each measurement

double now() {
    timespec time;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) * 1e9 + static_cast<double>(time.tv_nsec);
}

sockaddr_in address_of(size_t i) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(0x0a000000u + static_cast<uint32_t>(i >> 4));
    address.sin_port = htons(static_cast<uint16_t>(1000 + i % 16));
    return address;
}

double look_up(fid_av* av, const std::vector<fi_addr_t>& addresses, size_t count) {
    Random random(1);
    const double start = now();
    for (size_t k = 0; k < kTimes; ++k) {
        const size_t i = random.below(count);
        sockaddr_in found;
        size_t size = sizeof found;
        SELVAGE_MUST(fi_av_lookup(av, addresses[i], &found, &size));
        const sockaddr_in expected = address_of(i);
        if (found.sin_addr.s_addr != expected.sin_addr.s_addr || found.sin_port != expected.sin_port) {
            give_up("fi_av_lookup", "gives another address");
        }
    }
    return (now() - start) / kTimes;
}

// One read of the same memory as a look-up that reads one place has.
double read_plainly(const std::vector<sockaddr_in>& names, size_t count) {
    Random random(1);
    unsigned sum = 0;
    const double start = now();
    // The next place depends on what was read, as it does for whoever waits for a look-up.
    for (size_t k = 0; k < kTimes; ++k) sum += names[random.below(count) ^ (sum & 1)].sin_port & 1;
    const double spent = now() - start;
    return sum > kTimes ? HUGE_VAL : spent / kTimes;
}

void run(size_t count) {
    Station station({.provider = "tcp", .caps = FI_MSG, .service = {}});
    std::vector<sockaddr_in> names(count);
    for (size_t i = 0; i < count; ++i) names[i] = address_of(i);
    std::vector<fi_addr_t> addresses(count);
    const size_t few = 1000;
    if (fi_av_insert(station.av, names.data(), few, addresses.data(), 0, nullptr) != static_cast<int>(few)) {
        give_up("fi_av_insert", "of a thousand");
    }
    const double small = look_up(station.av, addresses, few);
    const double start = now();
    // One at a time, then all at once.
    for (size_t i = few; i < count / 2; ++i) {
        if (fi_av_insert(station.av, &names[i], 1, &addresses[i], 0, nullptr) != 1) give_up("fi_av_insert", "of one");
    }
    const double middle = now();
    const size_t rest = count - count / 2;
    if (fi_av_insert(station.av, &names[count / 2], rest, &addresses[count / 2], 0, nullptr) !=
        static_cast<int>(rest)) {
        give_up("fi_av_insert", "of many");
    }
    const double one_by_one = (middle - start) / static_cast<double>(count / 2 - few);
    const double at_once = (now() - middle) / static_cast<double>(rest);
    // By turns, and the least of each: what else runs on the machine takes of the caches that both live from.
    double medium = HUGE_VAL, large = HUGE_VAL, medium_read = HUGE_VAL, large_read = HUGE_VAL;
    for (int round = 0; round < 8; ++round) {
        medium = std::min(medium, look_up(station.av, addresses, count / 10));
        medium_read = std::min(medium_read, read_plainly(names, count / 10 - 1));
        large = std::min(large, look_up(station.av, addresses, count));
        large_read = std::min(large_read, read_plainly(names, count - 1));
    }
    printf(
        "%zu addresses: insert %.0f ns one at a time, %.0f ns at once; look-up %.1f ns among %zu, %.1f ns among a "
        "tenth, %.1f ns among all; a plain read %.1f and %.1f ns\n",
        count, one_by_one, at_once, small, few, medium, large, medium_read, large_read);
    if (one_by_one > kInsertAtMost || at_once > kInsertAtMost) give_up("an insertion", "is dearer than promised");
    if (large - medium > kReadsAtMost * (large_read - medium_read))
        give_up("a look-up", "grows with the number of addresses");
}

}  // namespace
}  // namespace selvage::impl::test

int main(int count, char** arguments) {
    selvage::impl::test::run(count > 1 ? std::stoul(arguments[1]) : 1'000'000);
    return 0;
}
