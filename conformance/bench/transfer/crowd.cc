// See crowd.h.
#include "conformance/bench/transfer/crowd.h"

#include <sys/statvfs.h>

#include <fstream>
#include <string>

namespace selvage::conformance::bench::transfer {
namespace {

constexpr std::size_t kSmall = 8;
constexpr std::size_t kPerSender = kWindow / kSenders;

/// Memory of this process that no file stands behind, and all that lies in /dev/shm, in bytes.
double memory_used() {
    std::ifstream status("/proc/self/status");
    double bytes = 0;
    for (std::string word; status >> word;) {
        double kib = 0;
        if (word == "RssAnon:" && status >> kib) bytes = kib * 1024;
    }
    struct statvfs shm = {};
    if (statvfs("/dev/shm", &shm) == 0)
        bytes += static_cast<double>(shm.f_blocks - shm.f_bfree) * static_cast<double>(shm.f_frsize);
    return bytes;
}

void gather(Port& port, std::size_t count) { give(port, {Order::What::Crowd, Operation::Tagged, 0, count, 0}); }

/// Each of the crowd has sent one message, and it has come.
void be_greeted(Port& port, std::size_t count) {
    const std::uint64_t expected = port.received + count;
    for (std::size_t i = 0; i < count; ++i) take_tagged(port, kSmall);
    give(port, {Order::What::Greet, Operation::Tagged, kSmall, count, 0});
    port.await(port.received, expected);
    send_value(port.link(), true);
}

std::vector<double> flooded(Port& port, const Blocks& blocks) {
    const auto take_window = [&] {
        for (std::size_t i = 0; i < kWindow; ++i) take_tagged(port, kSmall);
    };
    take_window();
    std::uint64_t left = blocks.turns();
    std::uint64_t received = port.received;  // before the order: the first may come with the answer to it
    give(port, {Order::What::Flood, Operation::Tagged, kSmall, kPerSender, blocks.turns()});
    return time_blocks(blocks, [&] {
        port.await(port.received, received += kWindow);
        if (--left > 0) take_window();
        const std::uint64_t sent = port.sent;
        put_tagged(port, kAnswer);
        port.await(port.sent, sent + 1);
    });
}

std::vector<double> many_to_one(Port& port, const Effort& effort) {
    gather(port, kSenders);
    be_greeted(port, kSenders);
    flooded(port, {});
    const auto tried = flooded(port, {3, 16});
    const double fastest = *std::min_element(tried.begin(), tried.end());
    auto samples =
        in_helpings(blocks_for(fastest, effort), effort, [&](const Blocks& blocks) { return flooded(port, blocks); });
    for (double& s : samples) s = static_cast<double>(kWindow) * 1e9 / s;
    return samples;
}

std::vector<double> beside_idle(Port& port, const Item& item, const Effort& effort) {
    gather(port, kIdle);
    be_greeted(port, kIdle);
    Item ping = item;
    ping.kind = Kind::Latency;
    return measure(port, ping, effort);
}

std::vector<double> of_endpoints(Port& port) {
    std::vector<std::unique_ptr<Port>> more;
    const double before = memory_used();
    for (std::size_t i = 0; i < kEndpoints; ++i) {
        more.push_back(std::make_unique<Port>(port.ground(), port.link()));
        more.back()->open_unconnected();
    }
    return {(memory_used() - before) / static_cast<double>(kEndpoints)};
}

std::vector<double> of_peers(Port& port) {
    gather(port, kIdle);
    const double before = memory_used();
    be_greeted(port, kIdle);
    return {(memory_used() - before) / static_cast<double>(kIdle)};
}

}  // namespace

std::vector<double> measure_crowd(Port& port, const Item& item, const Effort& effort) {
    if (item.kind == Kind::ManyToOne) return many_to_one(port, effort);
    if (item.kind == Kind::Idle) return beside_idle(port, item, effort);
    return item.kind == Kind::EndpointMemory ? of_endpoints(port) : of_peers(port);
}

void Crowd::open(std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
        ports_.push_back(std::make_unique<Port>(main_.ground(), main_.link()));
        ports_.back()->open_unconnected();
        ports_.back()->know(near_);
    }
    send_value(main_.link(), true);
}

unsigned Crowd::reap() {
    unsigned came = main_.reap();
    for (auto& port : ports_) came += port->reap();
    return came;
}

std::uint64_t Crowd::sent() const {
    std::uint64_t all = 0;
    for (const auto& port : ports_) all += port->sent;
    return all;
}

void Crowd::greet() {
    const std::uint64_t expected = sent() + ports_.size();
    for (auto& port : ports_) put_tagged(*port, kSmall);
    send_value(main_.link(), true);
    as_value<bool>(main_.link().receive_during([&] { reap(); }));
    main_.keep_at([&] { return reap(); }, [&] { return sent() >= expected; });
}

void Crowd::flood(const Order& order) {
    take_tagged(main_, kAnswer);
    send_value(main_.link(), true);
    std::uint64_t received = main_.received;
    for (std::uint64_t left = order.turns; left > 0; --left) {
        const std::uint64_t expected = sent() + order.window * ports_.size();
        for (std::size_t i = 0; i < order.window; ++i) {
            for (auto& port : ports_) put_tagged(*port, order.size);
        }
        ++received;
        main_.keep_at([&] { return reap(); }, [&] { return main_.received >= received && sent() >= expected; });
        if (left > 1) take_tagged(main_, kAnswer);
    }
}

void Crowd::serve(const Order& order) {
    if (order.what == Order::What::Crowd) return open(order.window);
    if (order.what == Order::What::Greet) return greet();
    flood(order);
}

}  // namespace selvage::conformance::bench::transfer
