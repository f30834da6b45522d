// See floor.h.
#include "conformance/bench/transfer/floor.h"

#include <sys/uio.h>
#include <unistd.h>

#include <cstring>
#include <vector>

#include "conformance/bench/transfer/blocks.h"
#include "conformance/bench/transfer/link.h"
#include "conformance/bench/transfer/plan.h"
#include "conformance/bench/transfer/raw_rc.h"
#include "conformance/bench/transfer/raw_ring.h"
#include "conformance/bench/transfer/raw_tcp.h"
#include "conformance/bench/transfer/raw_udp.h"

namespace selvage::conformance::bench::transfer {
namespace {

/// Floors of one kind, at other sizes, stay in the same place; so do the rows' buffers.
struct Buffers {
    std::vector<std::byte> one = std::vector<std::byte>(kLargest, std::byte{1});
    std::vector<std::byte> other = std::vector<std::byte>(kLargest, std::byte{2});
};

/// What the far process has answered for good (Shared::ended): single lines, and those of the rings.
constexpr std::uint64_t kLines = 1, kRings = 2;

/// There and back, as the far process answers.
template <class Ping>
std::vector<double> pinging(const Effort& effort, Ping ping) {
    const auto tried = time_blocks({3, 256}, ping);
    const double fastest = *std::min_element(tried.begin(), tried.end());
    return in_helpings(blocks_for(fastest, effort), effort,
                       [&](const Blocks& blocks) { return time_blocks(blocks, ping); });
}

/// A cache line there and back.  The far process answers every number it sees, until told to stop.
std::vector<double> line(Link& link, const Effort& effort) {
    Shared& page = link.page();
    std::uint64_t turn = page.ping.load(std::memory_order_relaxed);
    const auto since = Clock::now();
    return pinging(effort, [&] {
        // Release and acquire, paired with the far process, as a library's must be.
        page.ping.store(++turn, std::memory_order_release);
        link.spin_until(since, [&] { return page.pong.load(std::memory_order_acquire) == turn; });
    });
}

void answer_lines(Link& link) {
    Shared& page = link.page();
    std::uint64_t seen = page.pong.load(std::memory_order_relaxed);
    while (page.ended.load(std::memory_order_relaxed) < kLines) {
        const std::uint64_t ping = page.ping.load(std::memory_order_acquire);
        if (ping == seen) continue;
        seen = ping;
        page.pong.store(seen, std::memory_order_release);
    }
}

/// Bytes per second of `copy`.
template <class Copy>
std::vector<double> copying(std::size_t size, const Effort& effort, Copy copy) {
    const auto tried = time_blocks({3, 4}, copy);
    auto samples = time_blocks(blocks_for(*std::min_element(tried.begin(), tried.end()), effort), copy);
    for (double& s : samples) s = static_cast<double>(size) * 1e9 / s;
    return samples;
}

std::vector<double> copied(Buffers& buffers, std::size_t size, const Effort& effort) {
    return copying(size, effort, [&] {
        std::memcpy(buffers.other.data(), buffers.one.data(), size);
        asm volatile("" ::: "memory");
    });
}

struct Source {
    pid_t process;
    std::byte* at;
};

std::vector<double> read_from(const Source& source, Buffers& buffers, std::size_t size, const Effort& effort) {
    const iovec here = {buffers.one.data(), size};
    const iovec there = {source.at, size};
    return copying(size, effort, [&] {
        if (process_vm_readv(source.process, &here, 1, &there, 1, 0) != static_cast<ssize_t>(size))
            throw CannotMeasure("process_vm_readv is not allowed");
    });
}

/// What a provider's floor is made of.
enum class Ware : std::uint8_t { Memory, Tcp, Udp, Rc };

Ware ware_of(const Workload& row) {
    if (row.place.provider == "udp") return Ware::Udp;
    if (row.place.kind != "latency" && row.place.kind != "bandwidth") return Ware::Memory;
    return row.place.provider.starts_with("verbs") ? Ware::Rc : Ware::Tcp;
}

/// What the far process is asked for.
struct Wanted {
    bool windows;
    std::size_t size;
    Blocks blocks;
};

template <class Raw>
std::vector<double> over_raw(Link& link, Raw& raw, const Workload& row, const Effort& effort) {
    const bool windows = row.place.kind != "latency";
    const std::size_t size = row.place.size;
    const auto run = [&](const Blocks& blocks) {
        send_value(link, Wanted{windows, size, blocks});
        return time_blocks(blocks, [&] { windows ? raw.send_window(size) : raw.ping(size); });
    };
    run({});
    const auto tried = run({3, size <= 4096 ? 16U : 2U});
    const double fastest = *std::min_element(tried.begin(), tried.end());
    auto samples = in_helpings(blocks_for(fastest, effort), effort, run);
    const double each = row.quantity == Quantity::Messages ? 1 : static_cast<double>(size);
    const double of_window = static_cast<double>(window_of(size)) * each;
    for (double& s : samples) s = windows ? of_window * 1e9 / s : s;
    return samples;
}

template <class Raw>
void answer_raw(Link& link) {
    Raw raw = Raw::accept(link);
    while (true) {
        const auto expected = receive_value<Wanted>(link);
        if (expected.size == 0) return;
        for (std::uint64_t left = expected.blocks.turns(); left > 0; --left)
            expected.windows ? raw.take_window(expected.size) : raw.pong(expected.size);
    }
}

void far_side(Link& link, Ware ware, RawRings& rings, Buffers& buffers, const Setting& setting) {
    hurry(setting, true);  // all floors of a provider take some tenths of a second
    if (ware == Ware::Tcp) return answer_raw<RawTcp>(link);
    if (ware == Ware::Udp) return answer_raw<RawUdp>(link);
    if (ware == Ware::Rc) return answer_raw<RawRc>(link);
    send_value(link, Source{getpid(), buffers.one.data()});
    answer_lines(link);
    rings.answer([&] { return link.page().ended.load(std::memory_order_relaxed) >= kRings; });
    link.receive();  // for good: the near process reads this one's memory now, and ends it
}

template <class Raw>
void near_side_raw(Link& link, Rows rows, const Setting& setting, const Tell& tell) {
    Raw raw = Raw::connect(link);
    for (const auto* row : rows) {
        tell.begin(*row);
        tell.samples(*row, over_raw(link, raw, *row, setting.effort));
    }
    send_value(link, Wanted{});
}

void near_side_shm(Link& link, RawRings& rings, Buffers& buffers, Rows rows, const Setting& setting, const Tell& tell) {
    const auto source = receive_value<Source>(link);
    const auto measure = [&](std::string_view kind, const auto& measured) {
        for (const auto* row : rows) {
            if (row->place.kind != kind) continue;
            tell.begin(*row);
            tell.samples(*row, measured(row->place.size));
        }
    };
    measure("line", [&](std::size_t) { return line(link, setting.effort); });
    link.page().ended.store(kLines, std::memory_order_relaxed);
    std::uint64_t turn = 0;
    const auto since = Clock::now();
    measure("ring", [&](std::size_t) { return pinging(setting.effort, [&] { rings.ping(link, ++turn, since); }); });
    link.page().ended.store(kRings, std::memory_order_relaxed);
    measure("memcpy", [&](std::size_t size) { return copied(buffers, size, setting.effort); });
    measure("vmread", [&](std::size_t size) { return read_from(source, buffers, size, setting.effort); });
}

}  // namespace

void floor_session(const std::string&, Rows rows, const Setting& setting, const Tell& tell) {
    if (rows.empty()) return;
    const Ware ware = ware_of(*rows.front());
    Buffers buffers;
    RawRings rings;
    TwoProcesses both(setting, [&](Link& link) { far_side(link, ware, rings, buffers, setting); });
    hurry(setting, true);
    if (ware == Ware::Tcp) near_side_raw<RawTcp>(both.link(), rows, setting, tell);
    if (ware == Ware::Udp) near_side_raw<RawUdp>(both.link(), rows, setting, tell);
    if (ware == Ware::Rc) near_side_raw<RawRc>(both.link(), rows, setting, tell);
    if (ware == Ware::Memory) near_side_shm(both.link(), rings, buffers, rows, setting, tell);
}

}  // namespace selvage::conformance::bench::transfer
