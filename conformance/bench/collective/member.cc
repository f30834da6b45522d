// See member.h.
#include "conformance/bench/collective/member.h"

#include <fmt/format.h>
#include <sched.h>

#include <chrono>
#include <ctime>

namespace selvage::conformance::bench::collective {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::chrono::seconds kPatience{10};
constexpr unsigned kGlance = 16384;  // polls between readings of the clock

template <class Object, class Open>
void open(const transfer::Ground& ground, transfer::Owned<Object>& out, const char* call, Open how) {
    Object* made = nullptr;
    ground.must(how(&made), call);
    out.reset(made);
}

}  // namespace

Member::Member(const Entries& entries, const std::string& provider, bool shares_processor)
    : ground_(entries, {.provider = provider, .caps = FI_MSG | FI_COLLECTIVE, .largest = kMembersMost * kPartMost}),
      yields_(shares_processor) {
    fi_eq_attr eq_attr = {};
    fi_cq_attr cq_attr = {};
    cq_attr.format = FI_CQ_FORMAT_CONTEXT;
    cq_attr.size = 1024;
    fi_av_attr av_attr = {};
    av_attr.type = ground_.info->domain_attr->av_type;
    av_attr.count = kMembersMost;
    fid_domain* const domain = ground_.domain.get();
    open(ground_, eq_, "fi_eq_open",
         [&](fid_eq** made) { return fi_eq_open(ground_.fabric.get(), &eq_attr, made, nullptr); });
    open(ground_, cq_, "fi_cq_open", [&](fid_cq** made) { return fi_cq_open(domain, &cq_attr, made, nullptr); });
    open(ground_, av_, "fi_av_open", [&](fid_av** made) { return fi_av_open(domain, &av_attr, made, nullptr); });
    open(ground_, ep_, "fi_endpoint", [&](fid_ep** made) { return fi_endpoint(domain, ground_.info, made, nullptr); });
    ground_.must(fi_ep_bind(ep_.get(), &eq_->fid, 0), "fi_ep_bind");
    ground_.must(fi_ep_bind(ep_.get(), &av_->fid, 0), "fi_ep_bind");
    ground_.must(fi_ep_bind(ep_.get(), &cq_->fid, FI_TRANSMIT | FI_RECV), "fi_ep_bind");
    ground_.must(fi_enable(ep_.get()), "fi_enable");
}

Address Member::address() const {
    Address out = {};
    out.length = sizeof out.bytes;
    ground_.must(fi_getname(&ep_->fid, out.bytes, &out.length), "fi_getname");
    return out;
}

void Member::join(const Addresses& all) {
    for (std::size_t i = 0; i < all.count; ++i) {
        const char* const text = all.of[i].bytes;
        const bool as_text = ground_.info->addr_format == FI_ADDR_STR;
        fi_addr_t peer = FI_ADDR_UNSPEC;
        const int inserted =
            fi_av_insert(av_.get(), as_text ? static_cast<const void*>(&text) : text, 1, &peer, 0, nullptr);
        if (inserted != 1) throw CannotMeasure(fmt::format("fi_av_insert returns {}", inserted));
        peers_.push_back(peer);
    }
    fi_av_set_attr attr = {};
    attr.start_addr = attr.end_addr = FI_ADDR_NOTAVAIL;
    attr.flags = FI_UNIVERSE;
    open(ground_, set_, "fi_av_set", [&](fid_av_set** made) { return fi_av_set(av_.get(), &attr, made, nullptr); });
    fi_addr_t address = FI_ADDR_UNSPEC;
    ground_.must(fi_av_set_addr(set_.get(), &address), "fi_av_set_addr");
    open(ground_, mc_, "fi_join_collective",
         [&](fid_mc** made) { return fi_join_collective(ep_.get(), address, set_.get(), 0, made, &context_); });
}

bool Member::joined() {
    if (group_ != FI_ADDR_UNSPEC) return true;
    make_progress();
    fi_eq_entry entry = {};
    std::uint32_t event = 0;
    const ssize_t n = fi_eq_read(eq_.get(), &event, &entry, sizeof entry, 0);
    if (n == -FI_EAGAIN) return false;
    if (n < 0) ground_.must(n, "fi_eq_read");
    if (event != FI_JOIN_COMPLETE) throw CannotMeasure(fmt::format("event {} instead of FI_JOIN_COMPLETE", event));
    group_ = fi_mc_addr(mc_.get());
    return true;
}

ssize_t Member::post(Operation operation, std::size_t count) {
    void* const desc = ground_.descriptor();
    std::byte* const out = ground_.out();
    std::byte* const in = ground_.in();
    switch (operation) {
        case Operation::Barrier:
            return fi_barrier(ep_.get(), group_, &context_);
        case Operation::Broadcast:
            return fi_broadcast(ep_.get(), out, count, desc, group_, peers_[0], FI_UINT64, 0, &context_);
        case Operation::Allreduce:
            return fi_allreduce(ep_.get(), out, count, desc, in, desc, group_, FI_DOUBLE, FI_SUM, 0, &context_);
        case Operation::Allgather:
            return fi_allgather(ep_.get(), out, count, desc, in, desc, group_, FI_UINT64, 0, &context_);
        case Operation::Alltoall:
            break;
    }
    return fi_alltoall(ep_.get(), out, count, desc, in, desc, group_, FI_UINT64, 0, &context_);
}

void Member::operate(Operation operation, std::size_t size) {
    ssize_t posted = 0;
    while ((posted = post(operation, size / sizeof(std::uint64_t))) == -FI_EAGAIN) {
        make_progress();
        if (yields_) sched_yield();
    }
    ground_.must(posted, "posting");
    complete();
}

void Member::wait_a_moment() {
    make_progress();
    const timespec moment = {0, 20'000};
    if (yields_) nanosleep(&moment, nullptr);
}

void Member::complete() {
    Clock::time_point began{};
    fi_cq_entry entry = {};
    ssize_t n = 0;
    for (unsigned polls = 1; (n = fi_cq_read(cq_.get(), &entry, 1)) == -FI_EAGAIN; ++polls) {
        if (yields_) sched_yield();
        if (polls % kGlance != 0) continue;
        if (polls == kGlance) began = Clock::now();
        if (Clock::now() - began > kPatience) throw CannotMeasure("an operation is never complete");
    }
    if (n != 1) ground_.must_have_read(cq_.get(), n);
}

}  // namespace selvage::conformance::bench::collective
