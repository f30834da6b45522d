// See pair.h.
#include "conformance/drive/transfer/pair.h"

#include <rdma/fi_errno.h>
#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <thread>

#include "conformance/harness/codec.h"

namespace selvage::conformance {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

constexpr auto kConnectTime = 5s;
constexpr std::size_t kQueueSize = 256;
// Of an arena, so much is registered at first: locking pages takes time, and most programs need few.
constexpr std::size_t kCoveredLength = std::size_t{1} << 20;
constexpr std::array<std::uint64_t, 6> kCounted = {FI_SEND,  FI_RECV,        FI_READ,
                                                   FI_WRITE, FI_REMOTE_READ, FI_REMOTE_WRITE};

void* map(std::size_t length) {
    void* p = mmap(nullptr, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return p == MAP_FAILED ? nullptr : p;
}

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

}  // namespace

bool Pair::ok(std::int64_t ret, const char* call) {
    if (ret == 0) return true;
    ret_ = ret;
    failed_ = call;
    return false;
}

std::unique_ptr<Pair> Pair::open(const Entries& entries, const Case& c, std::int64_t& ret, std::string& failed) {
    std::unique_ptr<Pair> pair(new Pair);
    pair->free_info_ = entries.freeinfo;
    ret = 0;
    if (pair->ask(entries, c) && pair->open_all(entries, c.sequence)) return pair;
    ret = pair->ret_;
    failed = pair->failed_;
    return nullptr;
}

bool Pair::ask(const Entries& entries, const Case& c) {
    Arena arena(room_for(c.first));
    const Encoded e = encode(c.first, arena, {});
    if (entries.getinfo(e.version, e.node, e.service, e.flags, e.hints, &list_) != 0) list_ = nullptr;
    info_ = list_;
    for (int i = 0; i < c.sequence.entry && info_ != nullptr; ++i) info_ = info_->next;
    if (info_ == nullptr || info_->ep_attr == nullptr || info_->domain_attr == nullptr || info_->tx_attr == nullptr ||
        info_->rx_attr == nullptr || info_->fabric_attr == nullptr) {
        failed_ = "fi_getinfo";
        return false;
    }
    if (decode(info_, {}, answered_) != nullptr) answered_ = {};
    info_->tx_attr->op_flags |= c.sequence.transmit_flags;
    info_->rx_attr->op_flags |= c.sequence.receive_flags;
    return true;
}

bool Pair::open_all(const Entries& entries, const TransferSequence& e) {
    void* fabric = nullptr;
    if (!ok(entries.fabric(info_->fabric_attr, &fabric, nullptr), "fi_fabric")) return false;
    fabric_ = static_cast<fid_fabric*>(fabric);
    if (!ok(fi_domain(fabric_, info_, &domain_, nullptr), "fi_domain")) return false;
    for (End& end : ends_)
        if (!map_memory(end)) return false;
    if (connected()) {
        if (!open_connected(e)) return false;
    } else {
        for (End& end : ends_)
            if (!open_end(end, info_, e) || !ok(fi_enable(end.ep), "fi_enable")) return false;
        for (int i = 0; i < 2; ++i) {
            End& end = ends_[i];
            if (!introduce(end, ends_[1 - i], end.peer) || !introduce(end, end, end.self)) return false;
        }
    }
    return cover(model::Side::A, kCoveredLength / 2) && cover(model::Side::B, kCoveredLength / 2);
}

bool Pair::cover(model::Side side, std::size_t used) {
    if ((info_->domain_attr->mr_mode & (FI_MR_LOCAL | 1)) == 0 && (info_->mode & FI_LOCAL_MR) == 0) return true;
    End& end = this->end(side);
    if (used <= end.local_length) return true;
    close_object(end.local);
    end.local_length = 0;
    const std::size_t length = std::min(std::max(2 * used, kCoveredLength), kArenaLength);
    end.local = registered(end, end.arena, length, FI_SEND | FI_RECV | FI_READ | FI_WRITE);
    if (end.local != nullptr) end.local_length = length;
    return end.local != nullptr;
}

bool Pair::map_memory(End& end) {
    end.arena = static_cast<unsigned char*>(map(kArenaLength));
    end.target = static_cast<unsigned char*>(map(kRegionLength + kBehindRegion));
    return ok(end.arena != nullptr && end.target != nullptr ? 0 : -FI_ENOMEM, "mmap");
}

bool Pair::open_end(End& end, fi_info* info, const TransferSequence& e) {
    const std::uint64_t directions[] = {FI_RECV, FI_TRANSMIT};
    const bool selective[] = {e.selective_receive, e.selective_transmit};
    if (!ok(fi_endpoint(domain_, info, &end.ep, nullptr), "fi_endpoint")) return false;
    for (int i = 0; i < 2; ++i) {
        fi_cq_attr attr = {};
        attr.format = static_cast<fi_cq_format>(e.format);
        attr.wait_obj = FI_WAIT_NONE;
        attr.size = e.queue_size != 0 ? e.queue_size : kQueueSize;
        if (!ok(fi_cq_open(domain_, &attr, &end.queue[i], nullptr), "fi_cq_open")) return false;
        const std::uint64_t flags = directions[i] | (selective[i] ? FI_SELECTIVE_COMPLETION : 0);
        if (!ok(fi_ep_bind(end.ep, &end.queue[i]->fid, flags), "fi_ep_bind of a completion queue")) return false;
    }
    if (e.counters && !bind_counters(end)) return false;
    if (e.min_multi_recv != 0) {
        std::size_t least = e.min_multi_recv;
        if (!ok(fi_setopt(&end.ep->fid, FI_OPT_ENDPOINT, FI_OPT_MIN_MULTI_RECV, &least, sizeof least), "fi_setopt"))
            return false;
    }
    if (connected()) return true;
    fi_av_attr attr = {};
    attr.type = info->domain_attr->av_type == FI_AV_UNSPEC ? FI_AV_MAP : info->domain_attr->av_type;
    attr.count = 8;
    return ok(fi_av_open(domain_, &attr, &end.av, nullptr), "fi_av_open") &&
           ok(fi_ep_bind(end.ep, &end.av->fid, 0), "fi_ep_bind of an address vector");
}

bool Pair::bind_counters(End& end) {
    for (std::size_t i = 0; i < kCounted.size(); ++i) {
        const std::uint64_t needed = i < 2 ? FI_MSG | FI_TAGGED : FI_RMA | FI_ATOMIC;
        if ((info_->caps & needed) == 0 || (i >= 4 && (info_->caps & FI_RMA_EVENT) == 0)) continue;
        fi_cntr_attr attr = {};
        attr.events = FI_CNTR_EVENTS_COMP;
        attr.wait_obj = FI_WAIT_NONE;
        if (!ok(fi_cntr_open(domain_, &attr, &end.counter[i], nullptr), "fi_cntr_open") ||
            !ok(fi_ep_bind(end.ep, &end.counter[i]->fid, kCounted[i]), "fi_ep_bind of a counter"))
            return false;
    }
    return true;
}

// Tells `end` the address of `other`.
bool Pair::introduce(End& end, End& other, fi_addr_t& as) {
    std::array<char, 512> name{};
    std::size_t size = name.size();
    if (!ok(fi_getname(&other.ep->fid, name.data(), &size), "fi_getname")) return false;
    const int inserted = fi_av_insert(end.av, name.data(), 1, &as, 0, nullptr);
    return ok(inserted == 1 ? 0 : inserted < 0 ? inserted : -FI_EADDRNOTAVAIL, "fi_av_insert");
}

bool Pair::await(End& end, std::uint32_t expected, fi_eq_cm_entry& entry) {
    fid_eq* const eq = &end == &ends_[1] && expected == FI_CONNREQ ? listening_ : end.eq;
    const auto until = Clock::now() + kConnectTime;
    while (Clock::now() < until) {
        std::uint32_t event = 0;
        const auto n = fi_eq_read(eq, &event, &entry, sizeof entry, 0);
        if (n >= 0) return ok(event == expected ? 0 : -FI_EOTHER, "an event of the connection");
        if (n == -FI_EAVAIL) return ok(connection_error(eq), "an event of the connection");
        if (n != -FI_EAGAIN) return ok(n, "fi_eq_read");
        // Some providers connect only when the queues of both sides are read.
        for (fid_eq* other : {listening_, ends_[0].eq, ends_[1].eq}) {
            fi_eq_cm_entry unread = {};
            if (other != eq) fi_eq_read(other, &event, &unread, sizeof unread, FI_PEEK);
        }
        for (End& e : ends_)
            for (fid_cq* cq : e.queue)
                if (cq != nullptr && e.ep != nullptr) fi_cq_read(cq, nullptr, 0);
        std::this_thread::sleep_for(20us);
    }
    return ok(-FI_ETIMEDOUT, expected == FI_CONNREQ ? "waiting for FI_CONNREQ" : "waiting for FI_CONNECTED");
}

bool Pair::open_connected(const TransferSequence& e) {
    fi_eq_attr eq = {};
    eq.wait_obj = FI_WAIT_NONE;
    if (!ok(fi_eq_open(fabric_, &eq, &listening_, nullptr), "fi_eq_open")) return false;
    for (End& end : ends_)
        if (!ok(fi_eq_open(fabric_, &eq, &end.eq, nullptr), "fi_eq_open")) return false;
    if (!ok(fi_passive_ep(fabric_, info_, &pep_, nullptr), "fi_passive_ep") ||
        !ok(fi_pep_bind(pep_, &listening_->fid, 0), "fi_pep_bind") || !ok(fi_listen(pep_), "fi_listen"))
        return false;
    std::array<char, 512> name{};
    std::size_t size = name.size();
    if (!ok(fi_getname(&pep_->fid, name.data(), &size), "fi_getname of a passive endpoint")) return false;
    End& a = ends_[0];
    End& b = ends_[1];
    if (!open_end(a, info_, e) || !ok(fi_ep_bind(a.ep, &a.eq->fid, 0), "fi_ep_bind of an event queue") ||
        !ok(fi_enable(a.ep), "fi_enable") || !ok(fi_connect(a.ep, name.data(), nullptr, 0), "fi_connect"))
        return false;
    fi_eq_cm_entry entry = {};
    if (!await(b, FI_CONNREQ, entry)) return false;
    request_ = entry.info;
    if (request_ == nullptr || request_->tx_attr == nullptr || request_->rx_attr == nullptr)
        return ok(-FI_EOTHER, "the entry of FI_CONNREQ");
    request_->tx_attr->op_flags |= e.transmit_flags;
    request_->rx_attr->op_flags |= e.receive_flags;
    if (!open_end(b, request_, e) || !ok(fi_ep_bind(b.ep, &b.eq->fid, 0), "fi_ep_bind of an event queue") ||
        !ok(fi_enable(b.ep), "fi_enable") || !ok(fi_accept(b.ep, nullptr, 0), "fi_accept"))
        return false;
    return await(b, FI_CONNECTED, entry) && await(a, FI_CONNECTED, entry);
}

fid_mr* Pair::registered(End& end, void* at, std::size_t length, std::uint64_t access) {
    fid_mr* mr = nullptr;
    if (!ok(fi_mr_reg(domain_, at, length, access, 0, next_key_++, 0, &mr, nullptr), "fi_mr_reg")) return nullptr;
    if ((info_->domain_attr->mr_mode & FI_MR_ENDPOINT) == 0) return mr;
    if (ok(fi_mr_bind(mr, &end.ep->fid, 0), "fi_mr_bind") && ok(fi_mr_enable(mr), "fi_mr_enable")) return mr;
    fi_close(&mr->fid);
    return nullptr;
}

const Region& Pair::region(model::Side side, std::uint64_t access) {
    access &= FI_REMOTE_READ | FI_REMOTE_WRITE;
    auto [at, is_new] = end(side).regions.try_emplace(access);
    if (is_new) {
        // With no remote access at all a region is still one that somebody registered.
        const std::uint64_t asked = access != 0 ? access : FI_SEND | FI_RECV;
        at->second.mr = registered(end(side), end(side).target, kRegionLength, asked);
        if (at->second.mr != nullptr) at->second.key = fi_mr_key(at->second.mr);
    }
    return at->second;
}

std::uint64_t Pair::remote_address(model::Side side, std::uint64_t offset) {
    const bool by_address = (info_->domain_attr->mr_mode & (FI_MR_VIRT_ADDR | 1)) != 0;
    return (by_address ? reinterpret_cast<std::uint64_t>(end(side).target) : 0) + offset;
}

Pair::~Pair() {
    for (End& end : ends_) {
        const bool to_endpoint =
            info_ != nullptr && info_->domain_attr != nullptr && (info_->domain_attr->mr_mode & FI_MR_ENDPOINT) != 0;
        if (!to_endpoint) close_object(end.ep);
        for (auto& [access, region] : end.regions) close_object(region.mr);
        close_object(end.local);
        close_object(end.ep);
    }
    close_object(pep_);
    for (End& end : ends_) {
        for (auto& cq : end.queue) close_object(cq);
        for (auto& counter : end.counter) close_object(counter);
        close_object(end.av);
        close_object(end.eq);
        if (end.arena != nullptr) munmap(end.arena, kArenaLength);
        if (end.target != nullptr) munmap(end.target, kRegionLength + kBehindRegion);
    }
    close_object(listening_);
    close_object(domain_);
    close_object(fabric_);
    if (request_ != nullptr) free_info_(request_);
    if (list_ != nullptr) free_info_(list_);
}

}  // namespace selvage::conformance
