// See lanes.h.
#include "conformance/bench/contexts/lanes.h"

#include <fmt/format.h>

namespace selvage::conformance::bench::contexts {
namespace {

constexpr std::size_t kBytes = 8;

transfer::Request request_of(const std::string& provider, std::size_t contexts) {
    transfer::Request request = {provider, FI_EP_RDM, FI_MSG, true};
    if (contexts == 0) return request;
    request.caps |= FI_NAMED_RX_CTX;
    request.contexts = contexts;
    return request;
}

}  // namespace

Lanes::Lanes(const Entries& entries, const std::string& provider, std::size_t count, bool of_one_endpoint, bool sends)
    : ground_(entries, request_of(provider, of_one_endpoint ? count : 0)) {
    open_av(of_one_endpoint ? kContextBits : 0);
    of_one_endpoint ? open_contexts(count, sends) : open_endpoints(count);
}

void Lanes::open_av(int context_bits) {
    fi_av_attr attr = {};
    attr.type = ground_.info->domain_attr->av_type;
    attr.rx_ctx_bits = context_bits;
    fid_av* made = nullptr;
    ground_.must(fi_av_open(ground_.domain.get(), &attr, &made, nullptr), "fi_av_open");
    av_.reset(made);
}

void Lanes::open_queue(Lane& lane) {
    fi_cq_attr attr = {};
    attr.format = FI_CQ_FORMAT_CONTEXT;
    attr.size = 64;
    fid_cq* made = nullptr;
    ground_.must(fi_cq_open(ground_.domain.get(), &attr, &made, nullptr), "fi_cq_open");
    lane.cq.reset(made);
}

void Lanes::open_endpoints(std::size_t count) {
    lanes_.resize(count);
    for (auto& lane : lanes_) {
        open_queue(lane);
        fid_ep* made = nullptr;
        ground_.must(fi_endpoint(ground_.domain.get(), ground_.info, &made, nullptr), "fi_endpoint");
        lane.ep.reset(made);
        ground_.must(fi_ep_bind(made, &av_->fid, 0), "fi_ep_bind");
        ground_.must(fi_ep_bind(made, &lane.cq->fid, FI_TRANSMIT | FI_RECV), "fi_ep_bind");
        ground_.must(fi_enable(made), "fi_enable");
    }
}

void Lanes::open_contexts(std::size_t count, bool send) {
    fid_ep* made = nullptr;
    ground_.must(fi_scalable_ep(ground_.domain.get(), ground_.info, &made, nullptr), "fi_scalable_ep");
    scalable_.reset(made);
    ground_.must(fi_scalable_ep_bind(made, &av_->fid, 0), "fi_scalable_ep_bind");
    lanes_.resize(count);
    for (std::size_t i = 0; i < count; ++i) {
        Lane& lane = lanes_[i];
        open_queue(lane);
        const int index = static_cast<int>(i);
        fid_ep* context = nullptr;
        ground_.must(send ? fi_tx_context(made, index, nullptr, &context, nullptr)
                          : fi_rx_context(made, index, nullptr, &context, nullptr),
                     send ? "fi_tx_context" : "fi_rx_context");
        lane.ep.reset(context);
        ground_.must(fi_ep_bind(context, &lane.cq->fid, send ? FI_TRANSMIT : FI_RECV), "fi_ep_bind");
        ground_.must(fi_enable(context), "fi_enable");
    }
    ground_.must(fi_enable(made), "fi_enable");
}

std::vector<Address> Lanes::addresses() const {
    std::vector<Address> out;
    const auto add = [&](fid_ep* ep) {
        Address address = {};
        address.length = sizeof address.bytes;
        ground_.must(fi_getname(&ep->fid, address.bytes, &address.length), "fi_getname");
        out.push_back(address);
    };
    if (scalable_) {
        add(scalable_.get());
        return out;
    }
    for (const auto& lane : lanes_) add(lane.ep.get());
    return out;
}

void Lanes::know(const std::vector<Address>& peers) {
    for (std::size_t i = 0; i < peers.size(); ++i) {
        fi_addr_t peer = FI_ADDR_UNSPEC;
        const int inserted = fi_av_insert(av_.get(), peers[i].bytes, 1, &peer, 0, nullptr);
        if (inserted != 1) throw CannotMeasure(fmt::format("fi_av_insert returns {}", inserted));
        if (!scalable_) lanes_[i].peer = peer;
        for (std::size_t c = 0; scalable_ && c < lanes_.size(); ++c)
            lanes_[c].peer = fi_rx_addr(peer, static_cast<int>(c), kContextBits);
    }
}

void Lanes::send(std::size_t lane) {
    Lane& l = lanes_[lane];
    ssize_t posted = 0;
    while ((posted = fi_send(l.ep.get(), ground_.out(), kBytes, ground_.descriptor(), l.peer, &l.context)) ==
           -FI_EAGAIN)
        done(lane);
    ground_.must(posted, "fi_send");
}

void Lanes::receive(std::size_t lane) {
    Lane& l = lanes_[lane];
    ground_.must(
        fi_recv(l.ep.get(), ground_.in() + kBytes * lane, kBytes, ground_.descriptor(), FI_ADDR_UNSPEC, &l.context),
        "fi_recv");
}

std::uint64_t Lanes::done(std::size_t lane) {
    Lane& l = lanes_[lane];
    fi_cq_entry entry = {};
    const ssize_t n = fi_cq_read(l.cq.get(), &entry, 1);
    if (n == 1) ++l.done;
    if (n < 0 && n != -FI_EAGAIN) ground_.must_have_read(l.cq.get(), n);
    return l.done;
}

}  // namespace selvage::conformance::bench::contexts
