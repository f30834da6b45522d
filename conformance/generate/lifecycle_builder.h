// Writes the actions of a fixed script down (lifecycles.cc) and counts what they open.
#pragma once

#include <rdma/fi_endpoint.h>

#include "conformance/generate/lifecycles.h"

namespace selvage::conformance {

/// Numbers are those of opened objects, in the order of their opening, from 1; 0 is none.
class LifecycleBuilder {
public:
    using Verb = Action::Verb;

    explicit LifecycleBuilder(const Stage& stage) : stage_(stage) {}

    int open(Verb verb, int on = 0, std::uint64_t flags = 0, std::string name = {}) {
        Action a;
        a.verb = verb;
        a.object = on;
        a.argument = verb == Verb::OpenFabric ? stage_.offer : 0;
        a.flags = flags;
        a.name = std::move(name);
        out_.push_back(std::move(a));
        return ++opened_;
    }
    int fabric(std::uint64_t flags = 0, std::string name = {}) {
        return open(Verb::OpenFabric, 0, flags, std::move(name));
    }
    int domain(int on, std::uint64_t flags = 0, std::string name = {}) {
        return open(Verb::OpenDomain, on, flags, std::move(name));
    }
    void bind(int domain, int other, std::uint64_t flags) {
        out_.push_back({.verb = Verb::BindEq, .object = domain, .argument = other, .flags = flags, .name = {}});
    }
    void ep_bind(int ep, int other, std::uint64_t flags = 0) {
        out_.push_back({.verb = Verb::BindEp, .object = ep, .argument = other, .flags = flags, .name = {}});
    }
    void enable(int ep) { out_.push_back({.verb = Verb::Enable, .object = ep, .argument = 0, .flags = 0, .name = {}}); }
    void receive(int ep, std::uint64_t most) {
        out_.push_back({.verb = Verb::Receive, .object = ep, .argument = 0, .flags = most, .name = {}});
    }
    void ops(Verb verb, int on, std::string name, std::uint64_t flags = 0) {
        out_.push_back({.verb = verb, .object = on, .argument = 0, .flags = flags, .name = std::move(name)});
    }
    void query(int with = 0) {
        out_.push_back({.verb = with == 0 ? Verb::QueryPlain : Verb::Query,
                        .object = with,
                        .argument = 0,
                        .flags = 0,
                        .name = {}});
    }
    template <typename... Numbers>
    void close(Numbers... numbers) {
        (out_.push_back({.verb = Verb::Close, .object = numbers, .argument = 0, .flags = 0, .name = {}}), ...);
    }
    [[nodiscard]] bool connected() const { return stage_.ep_type == FI_EP_MSG; }
    [[nodiscard]] const std::string& provider() const { return stage_.provider; }
    [[nodiscard]] std::uint64_t direction() const { return stage_.direction; }
    [[nodiscard]] std::uint64_t mr_iov_limit() const { return stage_.mr_iov_limit; }
    [[nodiscard]] std::uint64_t max_ep_srx_ctx() const { return stage_.max_ep_srx_ctx; }
    [[nodiscard]] std::uint64_t rx_size() const { return stage_.rx_size; }
    std::vector<Action> take() { return std::move(out_); }

private:
    const Stage& stage_;
    std::vector<Action> out_;
    int opened_ = 0;
};

}  // namespace selvage::conformance
