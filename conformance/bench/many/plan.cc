// See plan.h.
#include "conformance/bench/many/plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <span>
#include <string>

namespace selvage::conformance::bench::many {
namespace {

constexpr const char* kConnectFloor = "tcp.floor.connect";
constexpr double kMicrosecond = 1e3;
constexpr double kSecond = 1e9;

/// The most memory of a peer: what docs/endurance.md promises.
constexpr double kShmPeer = 96 << 10;
constexpr double kTcpPeer = 64 << 10;

struct Row {
    Item item;
    Workload workload;
};

/// Names of `figure`, as the end of a row's name; empty: it has none.
const char* suffix_of(Figure figure) {
    switch (figure) {
        case Figure::Memory:
            return ".memory";
        case Figure::Insert:
            return ".insert";
        case Figure::InsertOne:
            return ".insert-one";
        case Figure::LookUp:
            return ".look-up";
        case Figure::Message:
        case Figure::Storm:
        case Figure::First:
            break;
    }
    return "";
}

Row row(const Scenario& scenario, const char* kind, Figure figure, std::string title, const Goal& goal) {
    Row r = {{scenario, figure}, {}};
    Workload& w = r.workload;
    const std::string number = scenario.count > 0 ? fmt::format(".{}", scenario.count) : "";
    w.name = fmt::format("{}.{}{}{}", scenario.provider, kind, number, suffix_of(figure));
    w.title = std::move(title);
    w.quantity = figure == Figure::Memory ? Quantity::Memory : Quantity::Time;
    w.goal = goal;
    w.place = {std::string(scenario.provider), w.name.substr(w.name.find('.') + 1), "many", 0};
    return r;
}

constexpr Goal kNoSlower{.times = 1};

void add_all_to_all(std::string_view provider, std::size_t count, std::vector<Row>& out) {
    const Scenario scenario = {provider, Kind::AllToAll, count};
    const Goal memory = provider == "shm" ? Goal{.below = kShmPeer} : Goal{.below = kTcpPeer};
    const std::string who = fmt::format("{} processes, each to each", count);
    out.push_back(row(scenario, "all-to-all", Figure::Message, who + ": a message of 8 B", kNoSlower));
    out.push_back(row(scenario, "all-to-all", Figure::Memory, who + ": memory of a peer", memory));
    for (auto& r : std::span(out).last(2)) r.workload.quick = count <= 8;
}

void add_to_one(std::string_view provider, std::size_t count, std::vector<Row>& out) {
    const Scenario scenario = {provider, Kind::ToOne, count};
    const bool shm = provider == "shm";
    const Goal storm = !shm && count == kEndpointsMost ? Goal{.below = 2 * kSecond} : Goal{};
    const std::string who = fmt::format("{} endpoints to one", count);
    out.push_back(row(scenario, "to-one", Figure::Message, who + ": a message of 8 B", kNoSlower));
    out.push_back(row(scenario, "to-one", Figure::Memory, who + ": memory of a peer at the one",
                      {.below = shm ? kShmPeer : kTcpPeer}));
    out.push_back(row(scenario, "storm", Figure::Storm, who + ": all first messages at once", storm));
    for (auto& r : std::span(out).last(3)) r.workload.quick = count < 100;
}

void add_first(std::string_view provider, std::vector<Row>& out) {
    const bool shm = provider == "shm";
    out.push_back(row({provider, Kind::First, 0}, "first", Figure::First, "first message to a new peer, and its answer",
                      shm ? Goal{.below = 50 * kMicrosecond} : Goal{.floor = 3}));
    if (!shm) out.back().workload.floor = kConnectFloor;
}

void add_addresses(std::size_t count, std::vector<Row>& out) {
    const Scenario scenario = {"tcp", Kind::Addresses, count};
    const std::string who = fmt::format("{} addresses", count);
    const auto add = [&](Figure figure, const char* what) {
        out.push_back(row(scenario, "addresses", figure, fmt::format("{}: {}", who, what), kNoSlower));
        out.back().workload.quick = count <= 10'000;
    };
    add(Figure::Insert, "inserting one of them, all in a call");
    add(Figure::InsertOne, "inserting one by one");
    add(Figure::LookUp, "looking one up");
    add(Figure::Memory, "memory of one");
}

std::vector<Row> make_rows() {
    std::vector<Row> out;
    for (const std::string_view provider : {"shm", "tcp"}) {
        add_first(provider, out);
        for (const std::size_t count : {std::size_t{8}, std::size_t{16}, kProcessesMost})
            add_all_to_all(provider, count, out);
        for (const std::size_t count : {std::size_t{16}, std::size_t{100}, kEndpointsMost})
            add_to_one(provider, count, out);
    }
    for (const std::size_t count : {std::size_t{10'000}, std::size_t{1'000'000}}) add_addresses(count, out);
    return out;
}

const std::vector<Row>& rows() {
    static const std::vector<Row> all = make_rows();
    return all;
}

}  // namespace

Item item_of(const Workload& row) {
    return std::find_if(rows().begin(), rows().end(), [&](const Row& r) { return r.workload.name == row.name; })->item;
}

std::vector<Workload> many_workloads() {
    std::vector<Workload> out;
    std::transform(rows().begin(), rows().end(), std::back_inserter(out), [](const Row& r) { return r.workload; });
    return out;
}

std::vector<Workload> many_floors() {
    Workload w;
    w.name = kConnectFloor;
    w.title = "raw TCP: socket, connect, 8 B there and back";
    w.place = {"tcp", "floor", "connect", 0};
    return {w};
}

}  // namespace selvage::conformance::bench::many
