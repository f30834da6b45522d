// See local_endpoint.h.  Reading the queues is in local_queues.cc.
#include "conformance/drive/endpoint/local_endpoint.h"

#include <rdma/fi_errno.h>

#include <algorithm>
#include <utility>

namespace selvage::conformance {
namespace {

constexpr std::size_t kQueueSize = 256;
// Of an arena, so much is registered at first: locking pages takes time, and most programs need few.
constexpr std::size_t kCoveredLength = std::size_t{1} << 20;
constexpr std::array<std::uint64_t, kCounters> kCounted = {FI_SEND,  FI_RECV,        FI_READ,
                                                           FI_WRITE, FI_REMOTE_READ, FI_REMOTE_WRITE};

// What fi_eq_read keeps back.
std::int64_t connection_error(fid_eq* eq) {
    fi_eq_err_entry entry = {};
    const auto n = fi_eq_readerr(eq, &entry, 0);
    return n < 0 ? n : entry.err > 0 ? -entry.err : -FI_EAVAIL;
}

template <typename Object>
void close_object(Object*& object) {
    if (object != nullptr) fi_close(&object->fid);
    object = nullptr;
}

// With zeros behind it.
template <typename Named>
int name_of(Named* object, std::string& out) {
    out.assign(kAddressLength, '\0');
    std::size_t size = out.size();
    return fi_getname(&object->fid, out.data(), &size);
}

}  // namespace

LocalEndpoint::LocalEndpoint(std::shared_ptr<OpenedDomain> domain, const TransferSequence& setup, unsigned char* memory)
    : domain_(std::move(domain)), setup_(setup) {
    memory_ = memory;
    memory_address_ = reinterpret_cast<std::uint64_t>(memory);
}

LocalEndpoint::~LocalEndpoint() {
    LocalEndpoint::close();
    close_object(pep_);
    for (auto& cq : queue_) close_object(cq);
    for (auto& counter : counter_) close_object(counter);
    close_object(av_);
    close_object(eq_);
    close_object(listening_);
    if (request_ != nullptr) domain_->free_info(request_);
}

bool LocalEndpoint::ok(std::int64_t ret, const char* call) {
    if (ret == 0) return true;
    outcome_ = {ret, call};
    return false;
}

Outcome LocalEndpoint::open(bool listens) {
    outcome_ = {};
    fi_eq_attr eq = {};
    eq.wait_obj = FI_WAIT_NONE;
    if (!ok(memory_ != nullptr ? 0 : -FI_ENOMEM, "mmap")) return outcome_;
    if (domain_->connected() && !ok(fi_eq_open(domain_->fabric(), &eq, &eq_, nullptr), "fi_eq_open")) return outcome_;
    if (listens && domain_->connected()) {
        listen();
    } else if (open_endpoint(domain_->info()) && !domain_->connected()) {
        ok(name_of(ep_, address_), "fi_getname");
    }
    return outcome_;
}

bool LocalEndpoint::listen() {
    fi_eq_attr eq = {};
    eq.wait_obj = FI_WAIT_NONE;
    return ok(fi_eq_open(domain_->fabric(), &eq, &listening_, nullptr), "fi_eq_open") &&
           ok(fi_passive_ep(domain_->fabric(), domain_->info(), &pep_, nullptr), "fi_passive_ep") &&
           ok(fi_pep_bind(pep_, &listening_->fid, 0), "fi_pep_bind") && ok(fi_listen(pep_), "fi_listen") &&
           ok(name_of(pep_, address_), "fi_getname of a passive endpoint");
}

bool LocalEndpoint::open_endpoint(fi_info* info) {
    const std::uint64_t directions[] = {FI_RECV, FI_TRANSMIT};
    const bool selective[] = {setup_.selective_receive, setup_.selective_transmit};
    fid_domain* const domain = domain_->domain();
    if (!ok(fi_endpoint(domain, info, &ep_, nullptr), "fi_endpoint")) return false;
    for (int i = 0; i < 2; ++i) {
        fi_cq_attr attr = {};
        attr.format = static_cast<fi_cq_format>(setup_.format);
        attr.wait_obj = FI_WAIT_NONE;
        attr.size = setup_.queue_size != 0 ? setup_.queue_size : kQueueSize;
        if (!ok(fi_cq_open(domain, &attr, &queue_[i], nullptr), "fi_cq_open")) return false;
        const std::uint64_t flags = directions[i] | (selective[i] ? FI_SELECTIVE_COMPLETION : 0);
        if (!ok(fi_ep_bind(ep_, &queue_[i]->fid, flags), "fi_ep_bind of a completion queue")) return false;
    }
    if (setup_.counters && !bind_counters()) return false;
    if (setup_.min_multi_recv != 0) {
        std::size_t least = setup_.min_multi_recv;
        if (!ok(fi_setopt(&ep_->fid, FI_OPT_ENDPOINT, FI_OPT_MIN_MULTI_RECV, &least, sizeof least), "fi_setopt"))
            return false;
    }
    if (domain_->connected()) {
        if (!ok(fi_ep_bind(ep_, &eq_->fid, 0), "fi_ep_bind of an event queue")) return false;
    } else {
        fi_av_attr attr = {};
        attr.type = info->domain_attr->av_type == FI_AV_UNSPEC ? FI_AV_MAP : info->domain_attr->av_type;
        attr.count = 8;
        if (!ok(fi_av_open(domain, &attr, &av_, nullptr), "fi_av_open") ||
            !ok(fi_ep_bind(ep_, &av_->fid, 0), "fi_ep_bind of an address vector"))
            return false;
    }
    return ok(fi_enable(ep_), "fi_enable");
}

bool LocalEndpoint::bind_counters() {
    const std::uint64_t caps = domain_->info()->caps;
    for (std::size_t i = 0; i < kCounters; ++i) {
        const std::uint64_t needed = i < 2 ? FI_MSG | FI_TAGGED : FI_RMA | FI_ATOMIC;
        if ((caps & needed) == 0 || (i >= 4 && (caps & FI_RMA_EVENT) == 0)) continue;
        fi_cntr_attr attr = {};
        attr.events = FI_CNTR_EVENTS_COMP;
        attr.wait_obj = FI_WAIT_NONE;
        if (!ok(fi_cntr_open(domain_->domain(), &attr, &counter_[i], nullptr), "fi_cntr_open") ||
            !ok(fi_ep_bind(ep_, &counter_[i]->fid, kCounted[i]), "fi_ep_bind of a counter"))
            return false;
    }
    return true;
}

Outcome LocalEndpoint::connect(const std::string& peer) {
    outcome_ = {};
    if (!domain_->connected()) {
        if (insert(peer, peer_)) insert(address_, self_);
    } else if (pep_ == nullptr) {
        ok(fi_connect(ep_, peer.data(), nullptr, 0), "fi_connect");
    }
    return outcome_;
}

bool LocalEndpoint::insert(const std::string& address, fi_addr_t& as) {
    const int inserted = fi_av_insert(av_, address.data(), 1, &as, 0, nullptr);
    return ok(inserted == 1 ? 0 : inserted < 0 ? inserted : -FI_EADDRNOTAVAIL, "fi_av_insert");
}

Outcome LocalEndpoint::poll_connection() {
    outcome_ = {};
    if (connected_) return outcome_;
    const bool listens = pep_ != nullptr && request_ == nullptr;
    fi_eq_cm_entry entry = {};
    // Some providers connect only when the queues are read.
    for (fid_cq* cq : queue_)
        if (cq != nullptr) fi_cq_read(cq, nullptr, 0);
    if (listens) {
        if (take_event(listening_, FI_CONNREQ, entry) && accept(entry.info))
            outcome_ = {-FI_EAGAIN, "waiting for FI_CONNECTED"};
    } else {
        connected_ = take_event(eq_, FI_CONNECTED, entry);
    }
    return outcome_;
}

bool LocalEndpoint::take_event(fid_eq* eq, std::uint32_t expected, fi_eq_cm_entry& entry) {
    std::uint32_t event = 0;
    const auto n = fi_eq_read(eq, &event, &entry, sizeof entry, 0);
    if (n >= 0) return ok(event == expected ? 0 : -FI_EOTHER, "an event of the connection");
    if (n == -FI_EAVAIL) return ok(connection_error(eq), "an event of the connection");
    if (n != -FI_EAGAIN) return ok(n, "fi_eq_read");
    return ok(n, expected == FI_CONNREQ ? "waiting for FI_CONNREQ" : "waiting for FI_CONNECTED");
}

bool LocalEndpoint::accept(fi_info* request) {
    request_ = request;
    if (request == nullptr || request->tx_attr == nullptr || request->rx_attr == nullptr)
        return ok(-FI_EOTHER, "the entry of FI_CONNREQ");
    request->tx_attr->op_flags |= setup_.transmit_flags;
    request->rx_attr->op_flags |= setup_.receive_flags;
    return open_endpoint(request) && ok(fi_accept(ep_, nullptr, 0), "fi_accept");
}

Outcome LocalEndpoint::cover(std::size_t used) {
    outcome_ = {};
    const fi_info& info = *domain_->info();
    if ((info.domain_attr->mr_mode & (FI_MR_LOCAL | 1)) == 0 && (info.mode & FI_LOCAL_MR) == 0) return {};
    if (used <= local_length_) return {};
    close_object(local_);
    local_length_ = 0;
    const std::size_t length = std::min(std::max(2 * used, kCoveredLength), kArenaLength);
    local_ = registered(memory_ + kArenaOffset, length, FI_SEND | FI_RECV | FI_READ | FI_WRITE);
    if (local_ != nullptr) local_length_ = length;
    return outcome_;
}

fid_mr* LocalEndpoint::registered(unsigned char* at, std::size_t length, std::uint64_t access) {
    fid_mr* mr = nullptr;
    if (!ok(fi_mr_reg(domain_->domain(), at, length, access, 0, domain_->new_key(), 0, &mr, nullptr), "fi_mr_reg"))
        return nullptr;
    if ((domain_->info()->domain_attr->mr_mode & FI_MR_ENDPOINT) == 0) return mr;
    if (ok(fi_mr_bind(mr, &ep_->fid, 0), "fi_mr_bind") && ok(fi_mr_enable(mr), "fi_mr_enable")) return mr;
    fi_close(&mr->fid);
    return nullptr;
}

RemoteRegion LocalEndpoint::region(std::uint64_t access) {
    access &= FI_REMOTE_READ | FI_REMOTE_WRITE;
    auto [at, is_new] = regions_.try_emplace(access);
    Region& r = at->second;
    if (!is_new) return r.named;
    // With no remote access at all a region is still one that somebody registered.
    r.mr = registered(memory_ + kTargetOffset, kRegionLength, access != 0 ? access : FI_SEND | FI_RECV);
    r.named.registered = r.mr != nullptr;
    if (r.mr != nullptr) r.named.key = fi_mr_key(r.mr);
    if ((domain_->info()->domain_attr->mr_mode & (FI_MR_VIRT_ADDR | 1)) != 0)
        r.named.address = memory_address_ + kTargetOffset;
    return r.named;
}

std::int64_t LocalEndpoint::post(const PostedCall& call) {
    Arguments of_a_cancel;  // which speaks of a context whose call may still need its own
    const bool cancels = call.operation.what == model::Transfer::Cancel;
    Arguments& arguments = cancels ? of_a_cancel : arguments_[call.context];
    return selvage::conformance::post({ep_, local_ != nullptr ? fi_mr_desc(local_) : nullptr, peer_, self_, memory_},
                                      call, arguments);
}

std::uint64_t LocalEndpoint::valid_count(const model::Operation& o) {
    const auto type = static_cast<fi_datatype>(o.datatype);
    const auto op = static_cast<fi_op>(o.op);
    std::size_t count = 0;
    const int ret = o.what == model::Transfer::Atomic        ? fi_atomicvalid(ep_, type, op, &count)
                    : o.what == model::Transfer::FetchAtomic ? fi_fetch_atomicvalid(ep_, type, op, &count)
                                                             : fi_compare_atomicvalid(ep_, type, op, &count);
    return ret == 0 ? count : 0;
}

CounterValues LocalEndpoint::counters() {
    CounterValues out{};
    for (std::size_t i = 0; i < kCounters; ++i) {
        if (counter_[i] == nullptr) continue;
        out[i] = fi_cntr_read(counter_[i]);
        out[i + kCounters] = fi_cntr_readerr(counter_[i]);
    }
    return out;
}

void LocalEndpoint::close() {
    const bool to_endpoint = (domain_->info()->domain_attr->mr_mode & FI_MR_ENDPOINT) != 0;
    if (!to_endpoint) close_object(ep_);
    for (auto& [access, region] : regions_) close_object(region.mr);
    close_object(local_);
    close_object(ep_);
}

}  // namespace selvage::conformance
