// An address vector of many addresses, which an enabled endpoint is bound to.
#include <fmt/format.h>
#include <netinet/in.h>

#include <algorithm>
#include <array>
#include <ctime>
#include <random>
#include <vector>

#include "conformance/bench/many/endpoint_worker.h"
#include "conformance/bench/many/workers.h"
#include "conformance/bench/statistics.h"

namespace selvage::conformance::bench::many {
namespace {

/// Look-ups by the clock, and how often: the median counts.
constexpr std::size_t kLookUps = 10'000;
constexpr std::size_t kTimes = 15;

/// 16 ports on each of some hosts.
sockaddr_in address_of(std::size_t i) {
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(0x0a000000U + static_cast<std::uint32_t>(i / 16));
    address.sin_port = htons(static_cast<std::uint16_t>(1000 + i % 16));
    return address;
}

/// Of this process, which does all of it: where others want the processor, too, the clock on the wall is theirs.
double processor_time() {
    timespec time = {};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) * 1e9 + static_cast<double>(time.tv_nsec);
}

/// @return nanoseconds of one.
template <class What>
double time_of(std::size_t count, What what) {
    const double began = processor_time();
    what();
    return (processor_time() - began) / static_cast<double>(count);
}

class Addresses : public EndpointWorker {
public:
    Addresses(const Entries& entries, const Scenario& scenario, Board& board, std::size_t number)
        : EndpointWorker(entries, scenario, board, number), addresses_(scenario.count) {
        if (endpoints_.ground().info->addr_format != FI_SOCKADDR_IN)
            throw CannotMeasure("its addresses are not those of IPv4");
        for (std::size_t i = 0; i < scenario.count; ++i) names_.push_back(address_of(i));
    }

private:
    void open() override { endpoints_.open({.addresses = names_.size()}); }
    void know() override {
        figure(Figure::Insert) = time_of(names_.size(), [&] { insert(0, names_.size()); });
    }
    void talk(const Order&) override {
        figure(Figure::LookUp) = median_look_up();
        open();
        figure(Figure::InsertOne) = time_of(names_.size(), [&] {
            for (std::size_t i = 0; i < names_.size(); ++i) insert(i, 1);
        });
    }
    double& figure(Figure f) { return report().figures[index_of(f)]; }
    void insert(std::size_t first, std::size_t count) {
        const int inserted = fi_av_insert(endpoints_.av(), &names_[first], count, &addresses_[first], 0, nullptr);
        if (inserted != static_cast<int>(count)) throw CannotMeasure(fmt::format("fi_av_insert returns {}", inserted));
    }
    double look_up(std::minstd_rand& random) {
        std::uniform_int_distribution<std::size_t> any(0, names_.size() - 1);
        std::vector<std::size_t> which(kLookUps);
        std::generate(which.begin(), which.end(), [&] { return any(random); });
        return time_of(kLookUps, [&] {
            for (const std::size_t i : which) {
                sockaddr_in found = {};
                std::size_t size = sizeof found;
                endpoints_.ground().must(fi_av_lookup(endpoints_.av(), addresses_[i], &found, &size), "fi_av_lookup");
                if (found.sin_port != names_[i].sin_port || found.sin_addr.s_addr != names_[i].sin_addr.s_addr)
                    throw CannotMeasure("fi_av_lookup gives another address");
            }
        });
    }
    double median_look_up() {
        std::minstd_rand random(1);
        std::vector<double> samples(kTimes);
        for (double& s : samples) s = look_up(random);
        return median(samples);
    }

    std::vector<sockaddr_in> names_;
    std::vector<fi_addr_t> addresses_;
};

}  // namespace

std::unique_ptr<Worker> make_addresses(const Entries& entries, const Scenario& scenario, Board& board,
                                       std::size_t number) {
    return std::make_unique<Addresses>(entries, scenario, board, number);
}

}  // namespace selvage::conformance::bench::many
