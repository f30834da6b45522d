// See plan.h.
#include "conformance/bench/transfer/plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <iterator>
#include <span>

#include "conformance/bench/transfer/count.h"
#include "conformance/bench/transfer/raw_rc.h"

namespace selvage::conformance::bench::transfer {
namespace {

constexpr std::array kProviders = {
    Provider{"shm", "shm", FI_EP_RDM},
    Provider{"tcp", "tcp", FI_EP_RDM},
    Provider{"tcp-msg", "tcp", FI_EP_MSG},
    Provider{"udp", "udp", FI_EP_DGRAM},
    // On machines that have a device alone.
    Provider{"verbs", "verbs;ofi_rxm", FI_EP_RDM},
    Provider{"verbs-msg", "verbs", FI_EP_MSG},
    Provider{"verbs-unregistered", "verbs;ofi_rxm", FI_EP_RDM, false},
};

struct OperationName {
    Operation operation;
    const char* name;
    const char* title;
};
constexpr std::array kOperations = {
    OperationName{Operation::Message, "msg", "message"},
    OperationName{Operation::Tagged, "tagged", "tagged"},
    OperationName{Operation::Write, "write", "RMA write"},
    OperationName{Operation::Read, "read", "RMA read"},
    OperationName{Operation::TakenWrite, "write-inject-complete", "RMA write, FI_INJECT_COMPLETE"},
    OperationName{Operation::Triggered, "triggered", "message, FI_TRIGGER"},
    OperationName{Operation::FetchAdd, "fetch-add", "fetch and add"},
    OperationName{Operation::CompareSwap, "compare-swap", "compare and swap"},
};

struct KindName {
    Kind kind;
    const char* name;
};
constexpr std::array kKinds = {
    KindName{Kind::Latency, "latency"},
    KindName{Kind::Bandwidth, "bandwidth"},
    KindName{Kind::Rate, "rate"},
    KindName{Kind::ManyToOne, "many-to-one"},
    KindName{Kind::Idle, "idle-peers"},
    KindName{Kind::EndpointMemory, "endpoint-memory"},
    KindName{Kind::PeerMemory, "peer-memory"},
};

constexpr std::array<std::size_t, 12> kSizes = {1,        8,        64,        256,       1 << 10, 4 << 10,
                                                16 << 10, 64 << 10, 256 << 10, 512 << 10, 1 << 20, 4 << 20};
/// Those that a packet of any link holds.
constexpr std::array<std::size_t, 4> kPacketSizes = {1, 8, 256, 1 << 10};
/// Copies of less are over before the clock is read.
constexpr std::size_t kLeastCopied = 64;
constexpr std::array<std::size_t, 4> kQuickSizes = {8, 4 << 10, 64 << 10, 1 << 20};

/// What is asked beyond being no slower, by name; the numbers are those that the project set itself.
struct RowGoal {
    const char* row;
    Goal goal;
};
const std::array kGoals = {
    RowGoal{"shm.tagged.latency.8", {.times = 2.5, .floor = 1.25}},
    RowGoal{"shm.tagged.rate.8", {.times = 4, .instructions = 150}},
    RowGoal{"shm.tagged.bandwidth.4096", {.times = 2.5}},
    RowGoal{"shm.tagged.bandwidth.65536", {.times = 2}},
    RowGoal{"shm.tagged.bandwidth.1048576", {.times = 2}},
    RowGoal{"shm.write.latency.8", {.times = 10}},
    RowGoal{"shm.read.latency.8", {.times = 3}},
    RowGoal{"shm.endpoint-memory", {}},
    RowGoal{"shm.peer-memory", {.below = 96 << 10}},
    RowGoal{"tcp.endpoint-memory", {}},
    RowGoal{"tcp.peer-memory", {.below = 64 << 10}},
    RowGoal{"tcp.tagged.latency.8", {.times = 1, .floor = 1.08}},
    RowGoal{"tcp.tagged.rate.8", {.times = 8}},
    RowGoal{"tcp.tagged.bandwidth.1048576", {.times = 1.25, .floor = 0.85}},
    RowGoal{"tcp.write.bandwidth.65536", {.times = 1.5}},
    RowGoal{"tcp.read.bandwidth.65536", {.times = 1.5}},
    RowGoal{"udp.msg.latency.8", {.times = 1, .floor = 1.1}},
    RowGoal{"udp.msg.rate.8", {.times = 1, .floor = 1}},
    RowGoal{"verbs.msg.latency.8", {.times = 1, .floor = 1.15}},
    RowGoal{"verbs.tagged.latency.8", {.times = 1, .floor = 1.15}},
    RowGoal{"verbs-msg.msg.latency.8", {.times = 1, .floor = 1.15}},
    RowGoal{"verbs-unregistered.msg.latency.8", {.times = 1, .floor = 1.15}},
};
constexpr Goal kNoSlower{.times = 1};
/// A message that waits for a counter costs at most so many times what a plain one does.
constexpr Goal kAsPlain{.beside = 1.2};

Goal goal_of(const std::string& name) {
    const auto* found = std::find_if(kGoals.begin(), kGoals.end(), [&](const RowGoal& g) { return name == g.row; });
    return found != kGoals.end() ? found->goal : kNoSlower;
}

bool over_datagrams(const Provider& provider) { return provider.type == FI_EP_DGRAM; }

bool over_device(const Provider& provider) { return std::string_view(provider.name).starts_with("verbs"); }

std::vector<Provider> present() {
    std::vector<Provider> out;
    const bool device = has_rdma_device();
    std::copy_if(kProviders.begin(), kProviders.end(), std::back_inserter(out),
                 [&](const Provider& p) { return device || !over_device(p); });
    return out;
}

const char* name_of(Kind kind) {
    return std::find_if(kKinds.begin(), kKinds.end(), [&](const KindName& k) { return k.kind == kind; })->name;
}

Quantity quantity_of(Kind kind) {
    switch (kind) {
        case Kind::Bandwidth:
            return Quantity::Rate;
        case Kind::Rate:
        case Kind::ManyToOne:
            return Quantity::Messages;
        case Kind::EndpointMemory:
        case Kind::PeerMemory:
            return Quantity::Memory;
        case Kind::Latency:
        case Kind::Idle:
            break;
    }
    return Quantity::Time;
}

/// The floor beside a row; empty where none is measured.
std::string floor_of(const Provider& provider, Kind kind, std::size_t size) {
    const bool shm = std::string_view(provider.provider) == "shm";
    const bool one_line = size <= 64;
    if (shm && kind != Kind::Bandwidth && !one_line) return {};
    if (kind == Kind::Latency || kind == Kind::Idle)
        return shm ? "shm.floor.ring" : fmt::format("{}.floor.latency.{}", provider.name, size);
    if (kind == Kind::Rate && over_datagrams(provider)) return fmt::format("{}.floor.rate.{}", provider.name, size);
    if (kind == Kind::Bandwidth && (!shm || size >= kLeastCopied))
        return fmt::format("{}.floor.{}.{}", provider.name, shm ? "memcpy" : "bandwidth", size);
    return {};
}

bool is_quick(std::size_t size) { return std::find(kQuickSizes.begin(), kQuickSizes.end(), size) != kQuickSizes.end(); }

Workload row(const Provider& provider, const OperationName& operation, Kind kind, std::size_t size) {
    Workload w;
    w.name = fmt::format("{}.{}.{}.{}", provider.name, operation.name, name_of(kind), size);
    w.title = fmt::format("{}, {}", operation.title, in_bytes(size));
    w.quantity = quantity_of(kind);
    w.place = {provider.name, operation.name, name_of(kind), size};
    w.floor = floor_of(provider, kind, size);
    w.round_trip = (kind == Kind::Latency || kind == Kind::Idle) && two_sided(operation.operation);
    w.quick = is_quick(size);
    w.goal = goal_of(w.name);
    return w;
}

/// A row of the crowd; the size is that of its messages, or nothing.
Workload crowd(const Provider& provider, Kind kind, std::string title, std::size_t size) {
    Workload w = row(provider, kOperations[1], kind, size);
    w.name = fmt::format("{}.{}", provider.name, name_of(kind));
    w.title = std::move(title);
    w.goal = goal_of(w.name);
    w.quick = true;
    return w;
}

void add_crowd(const Provider& provider, std::vector<Workload>& out) {
    out.push_back(crowd(provider, Kind::ManyToOne, fmt::format("{} senders, 8 B each", kSenders), 8));
    out.push_back(crowd(provider, Kind::Idle, fmt::format("8 B beside {} idle peers", kIdle), 8));
    out.push_back(crowd(provider, Kind::EndpointMemory, "an endpoint, opened", 0));
    out.push_back(crowd(provider, Kind::PeerMemory, "a peer that has sent", 0));
}

/// Messages alone, and not so many at a time that some are lost.
void add_datagrams(const Provider& provider, std::vector<Workload>& out) {
    for (const std::size_t size : kPacketSizes) out.push_back(row(provider, kOperations[0], Kind::Latency, size));
    out.push_back(row(provider, kOperations[0], Kind::Rate, 8));
}

/// Beside the same messages that wait for nothing.
void add_triggered(const Provider& provider, Kind kind, std::vector<Workload>& out) {
    if (provider.type != FI_EP_RDM) return;
    out.push_back(row(provider, kOperations[5], kind, 8));
    out.back().beside = fmt::format("{}.msg.{}.8", provider.name, name_of(kind));
    out.back().goal = kAsPlain;
    if (kind == Kind::Rate) out.back().goal.beside = 1 / kAsPlain.beside;
}

void add_provider(const Provider& provider, std::vector<Workload>& out) {
    if (over_datagrams(provider)) return add_datagrams(provider, out);
    for (const Kind kind : {Kind::Latency, Kind::Bandwidth}) {
        for (const auto& operation : std::span(kOperations).first(4)) {
            for (const std::size_t size : kSizes) out.push_back(row(provider, operation, kind, size));
        }
        if (kind != Kind::Latency) continue;
        for (const std::size_t size : kQuickSizes) out.push_back(row(provider, kOperations[4], kind, size));
        for (const auto& operation : std::span(kOperations).last(2)) out.push_back(row(provider, operation, kind, 8));
        add_triggered(provider, kind, out);
    }
    for (const auto& operation : std::span(kOperations).first(2)) {
        out.push_back(row(provider, operation, Kind::Rate, 8));
        const bool counted = std::string_view(provider.name) == "shm";
        if (counted) out.back().ready = ready_to_count(out.back());
    }
    add_triggered(provider, Kind::Rate, out);
    if (provider.type == FI_EP_RDM) add_crowd(provider, out);
}

Workload floor(const Provider& provider, const char* what, std::string title, Quantity quantity, std::size_t size) {
    Workload w;
    w.name = fmt::format("{}.floor.{}", provider.name, what);
    if (size != 0) w.name += fmt::format(".{}", size);
    w.title = size != 0 ? fmt::format("{}, {}", title, in_bytes(size)) : std::move(title);
    w.quantity = quantity;
    w.place = {provider.name, "floor", what, size};
    w.quick = size == 0 || is_quick(size);
    return w;
}

}  // namespace

Item item_of(const Workload& row) {
    Item item = {&row, nullptr, {}, {}, row.place.size};
    for (const auto& p : kProviders) {
        if (row.place.provider == p.name) item.provider = &p;
    }
    for (const auto& o : kOperations) {
        if (row.place.operation == o.name) item.operation = o.operation;
    }
    for (const auto& k : kKinds) {
        if (row.place.kind == k.name) item.kind = k.kind;
    }
    return item;
}

std::uint64_t caps_of(Operation operation) {
    switch (operation) {
        case Operation::Message:
            return FI_MSG;
        case Operation::Tagged:
            return FI_TAGGED;
        case Operation::Write:
        case Operation::TakenWrite:
        case Operation::Read:
            return FI_MSG | FI_RMA;
        case Operation::Triggered:
            return FI_MSG | FI_TRIGGER;
        case Operation::FetchAdd:
        case Operation::CompareSwap:
            break;
    }
    return FI_MSG | FI_ATOMIC;
}

std::size_t window_of(std::size_t size) {
    constexpr std::size_t kBytes = std::size_t{16} << 20;
    return std::clamp(kBytes / std::max<std::size_t>(size, 1), std::size_t{4}, kWindow);
}

std::vector<Workload> transfer_workloads() {
    std::vector<Workload> out;
    for (const auto& p : present()) add_provider(p, out);
    return out;
}

void add_datagram_floors(const Provider& p, std::vector<Workload>& out) {
    for (const std::size_t size : kPacketSizes) {
        out.push_back(floor(p, "latency", "raw UDP, there and back", Quantity::Time, size));
        out.back().steady = size == 8;
    }
    out.push_back(floor(p, "rate", "raw UDP, windows", Quantity::Messages, 8));
}

std::vector<Workload> transfer_floors() {
    std::vector<Workload> out;
    for (const auto& p : present()) {
        if (over_datagrams(p)) {
            add_datagram_floors(p, out);
            continue;
        }
        const bool shm = std::string_view(p.provider) == "shm";
        const char* const raw = over_device(p) ? "raw RC" : "raw TCP";
        if (shm) {
            out.push_back(floor(p, "line", "a cache line, there and back", Quantity::Time, 0));
            out.back().steady = true;
            out.push_back(floor(p, "ring", "a ring of lines, there and back", Quantity::Time, 0));
        }
        for (const std::size_t size : kSizes) {
            if (shm && size < kLeastCopied) continue;
            if (shm) {
                out.push_back(floor(p, "memcpy", "memcpy in one process", Quantity::Rate, size));
                out.push_back(floor(p, "vmread", "process_vm_readv", Quantity::Rate, size));
                continue;
            }
            out.push_back(floor(p, "latency", fmt::format("{}, there and back", raw), Quantity::Time, size));
            out.back().steady = size == 8;
            out.push_back(floor(p, "bandwidth", fmt::format("{}, windows", raw), Quantity::Rate, size));
        }
    }
    return out;
}

std::string in_bytes(std::size_t size) {
    if (size >= 1 << 20) return fmt::format("{} MiB", size >> 20);
    if (size >= 1 << 10) return fmt::format("{} KiB", size >> 10);
    return fmt::format("{} B", size);
}

}  // namespace selvage::conformance::bench::transfer
