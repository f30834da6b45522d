// See endpoints.h.
#include "conformance/bench/many/endpoints.h"

#include <fmt/format.h>
#include <sched.h>

#include <algorithm>
#include <array>
#include <chrono>

namespace selvage::conformance::bench::many {
namespace {

template <class Object, class Open>
void open_as(const transfer::Ground& ground, transfer::Owned<Object>& out, const char* call, Open how) {
    Object* made = nullptr;
    ground.must(how(&made), call);
    out.reset(made);
}

}  // namespace

Endpoints::Endpoints(const Entries& entries, const std::string& provider)
    : ground_(entries, {provider, FI_EP_RDM, FI_MSG}) {}

void Endpoints::open(const Extent& extent) {
    eps_.clear();
    av_.reset();
    cq_.reset();
    sent = received = 0;
    receives_.assign(extent.receives, {});
    sends_.assign(extent.sends, {});
    free_sends_.clear();
    for (auto& context : sends_) free_sends_.push_back(&context);
    fi_cq_attr cq_attr = {};
    cq_attr.format = FI_CQ_FORMAT_MSG;
    cq_attr.size = extent.sends + extent.receives;
    fi_av_attr av_attr = {};
    av_attr.type = ground_.info->domain_attr->av_type;
    av_attr.count = extent.addresses;
    fid_domain* const domain = ground_.domain.get();
    open_as(ground_, cq_, "fi_cq_open", [&](fid_cq** made) { return fi_cq_open(domain, &cq_attr, made, nullptr); });
    open_as(ground_, av_, "fi_av_open", [&](fid_av** made) { return fi_av_open(domain, &av_attr, made, nullptr); });
    for (std::size_t i = 0; i < extent.endpoints; ++i) open_endpoint();
}

void Endpoints::open_endpoint() {
    transfer::Owned<fid_ep> ep;
    open_as(ground_, ep, "fi_endpoint",
            [&](fid_ep** made) { return fi_endpoint(ground_.domain.get(), ground_.info, made, nullptr); });
    ground_.must(fi_ep_bind(ep.get(), &av_->fid, 0), "fi_ep_bind");
    ground_.must(fi_ep_bind(ep.get(), &cq_->fid, FI_TRANSMIT | FI_RECV), "fi_ep_bind");
    ground_.must(fi_enable(ep.get()), "fi_enable");
    eps_.push_back(std::move(ep));
}

Address Endpoints::address() const {
    Address out = {};
    out.length = sizeof out.bytes;
    ground_.must(fi_getname(&eps_.front()->fid, out.bytes, &out.length), "fi_getname");
    return out;
}

fi_addr_t Endpoints::insert(const Address& address) {
    // A text as well: Debian's shm does not take the array of pointers that fi_av(3) asks for.
    fi_addr_t peer = FI_ADDR_UNSPEC;
    const int inserted = fi_av_insert(av_.get(), address.bytes, 1, &peer, 0, nullptr);
    if (inserted != 1) throw CannotMeasure(fmt::format("fi_av_insert returns {}", inserted));
    return peer;
}

void Endpoints::post_receives() {
    for (auto& context : receives_) post(&context);
}

void Endpoints::post(fi_context2* receive) {
    auto* const buffer = ground_.in() + kMessage * static_cast<std::size_t>(receive - receives_.data());
    ground_.must(fi_recv(eps_.front().get(), buffer, kMessage, ground_.descriptor(), FI_ADDR_UNSPEC, receive),
                 "fi_recv");
}

bool Endpoints::send(std::size_t endpoint, fi_addr_t to) {
    if (free_sends_.empty()) return false;
    const ssize_t result =
        fi_send(eps_[endpoint].get(), ground_.out(), kMessage, ground_.descriptor(), to, free_sends_.back());
    if (result == -FI_EAGAIN) return false;
    ground_.must(result, "fi_send");
    free_sends_.pop_back();
    return true;
}

unsigned Endpoints::poll() {
    if (!cq_) return 0;
    std::array<fi_cq_msg_entry, 16> entries;
    const ssize_t n = fi_cq_read(cq_.get(), entries.data(), entries.size());
    if (n <= 0) {
        if (n != -FI_EAGAIN) ground_.must_have_read(cq_.get(), n);
        return 0;
    }
    for (ssize_t i = 0; i < n; ++i) {
        auto* const context = static_cast<fi_context2*>(entries[static_cast<std::size_t>(i)].op_context);
        if ((entries[static_cast<std::size_t>(i)].flags & FI_RECV) != 0) {
            ++received;
            post(context);
        } else {
            ++sent;
            free_sends_.push_back(context);
        }
    }
    return static_cast<unsigned>(n);
}

void Endpoints::poll_and_give_way() {
    if (poll() == 0) sched_yield();
}

std::int64_t now() {
    const auto since = std::chrono::steady_clock::now().time_since_epoch();
    return std::chrono::duration_cast<std::chrono::nanoseconds>(since).count();
}

}  // namespace selvage::conformance::bench::many
