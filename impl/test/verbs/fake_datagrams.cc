// See fake_datagrams.h.
#include "impl/test/verbs/fake_datagrams.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <sys/eventfd.h>
#include <unistd.h>

namespace selvage::impl::test {
namespace {

FakeDatagrams* device = nullptr;
constexpr size_t kRoute = 40;

}  // namespace

Gid gid_of_host(uint8_t number) { return {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 10, 77, 0, number}; }

std::string ipv4_route(const Gid& from, const Gid& to) {
    std::string route(kRoute, '\x66');  // what is before the header may be anything
    route.replace(20, 12, std::string("\x45\0\0\x3c\0\0\x40\0\x40\x11\0\0", 12));
    route.replace(32, 4, reinterpret_cast<const char*>(&from[12]), 4);
    route.replace(36, 4, reinterpret_cast<const char*>(&to[12]), 4);
    return route;
}

// The functions of the two libraries.
struct DatagramCalls {
    using Pair = FakeDatagrams::Pair;
    using Queue = FakeDatagrams::Queue;
    using Handle = FakeDatagrams::Handle;
    static Pair& of(ibv_qp* pair) { return *device->pairs_.at(pair->qp_num); }

    static int query_port(ibv_context*, uint8_t, _compat_ibv_port_attr* out) {
        auto& attr = *reinterpret_cast<ibv_port_attr*>(out);
        attr.state = IBV_PORT_ACTIVE;
        attr.active_mtu = IBV_MTU_1024;
        attr.gid_tbl_len = static_cast<int>(device->gids.size());
        attr.link_layer = IBV_LINK_LAYER_ETHERNET;
        return 0;
    }
    static int query_gid(ibv_context*, uint8_t, int index, ibv_gid* out) {
        memcpy(out->raw, device->gids.at(static_cast<size_t>(index)).data(), 16);
        return 0;
    }
    static int query_pkey(ibv_context*, uint8_t, int, __be16* out) {
        *out = htons(0xffff);
        return 0;
    }
    static ibv_mr* register_iova(ibv_pd*, void* address, size_t length, uint64_t, int) {
        auto region = std::make_unique<ibv_mr>();
        region->addr = address;
        region->length = length;
        region->lkey = device->next_number_++;
        return (device->regions_[region->lkey] = std::move(region)).get();
    }
    static int dereg_mr(ibv_mr* region) {
        device->rule(device->regions_.erase(region->lkey) == 1, "only what is registered is released");
        return 0;
    }
    static ibv_comp_channel* create_comp_channel(ibv_context*) {
        auto* channel = new ibv_comp_channel{};
        channel->fd = eventfd(0, EFD_CLOEXEC);
        return channel;
    }
    static int destroy_comp_channel(ibv_comp_channel* channel) {
        close(channel->fd);
        delete channel;
        return 0;
    }
    static ibv_cq* create_cq(ibv_context* context, int size, void*, ibv_comp_channel* channel, int) {
        auto* queue = new Queue;
        queue->base.context = context;
        queue->base.channel = channel;
        queue->base.cqe = size;
        return &queue->base;
    }
    static int destroy_cq(ibv_cq* queue) {
        delete reinterpret_cast<Queue*>(queue);
        return 0;
    }
    static int get_cq_event(ibv_comp_channel* channel, ibv_cq** queue, void** context) {
        eventfd_t value;
        *queue = nullptr;
        *context = nullptr;
        return eventfd_read(channel->fd, &value);
    }
    static int poll_cq(ibv_cq* base, int most, ibv_wc* out) {
        auto& queue = *reinterpret_cast<Queue*>(base);
        int count = 0;
        for (; count < most && !queue.entries.empty(); ++count) {
            out[count] = queue.entries.front();
            queue.entries.pop_front();
        }
        return count;
    }
    static int req_notify_cq(ibv_cq* base, int) {
        reinterpret_cast<Queue*>(base)->armed = true;
        return 0;
    }
    static ibv_qp* create_pair(ibv_pd*, ibv_qp_init_attr* wanted) {
        device->rule(wanted->qp_type == IBV_QPT_UD && wanted->sq_sig_all, "a pair for datagrams tells of each request");
        auto pair = std::make_unique<Pair>();
        pair->base.context = &device->context_;
        pair->base.qp_num = device->next_number_++;
        pair->completions = reinterpret_cast<Queue*>(wanted->send_cq);
        const uint32_t requests = wanted->cap.max_send_wr + wanted->cap.max_recv_wr;
        device->rule(static_cast<uint32_t>(wanted->send_cq->cqe) >= requests, "all requests may complete at once");
        wanted->cap.max_inline_data = std::min(wanted->cap.max_inline_data, device->inline_max);
        pair->cap = wanted->cap;
        return &(device->pairs_[pair->base.qp_num] = std::move(pair))->base;
    }
    static int destroy_pair(ibv_qp* pair) {
        device->pairs_.erase(pair->qp_num);
        return 0;
    }
    static ibv_wc flushed(uint64_t id) {
        ibv_wc entry{};
        entry.wr_id = id;
        entry.status = IBV_WC_WR_FLUSH_ERR;
        return entry;
    }
    static int modify_pair(ibv_qp* base, ibv_qp_attr* attr, int mask) {
        Pair& pair = of(base);
        const ibv_qp_state to = attr->qp_state;
        if (to == IBV_QPS_RESET) {
            if (!device->starts_again) return EIO;
            pair.receives.clear();
            pair.sent.clear();
            pair.told_late = pair.first_id;
        } else if (to == IBV_QPS_INIT) {
            constexpr int kNeeded = IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY;
            device->rule(pair.state == IBV_QPS_RESET && mask == kNeeded, "a pair is told its port and key first");
            pair.key = attr->qkey;
        } else if (to == IBV_QPS_RTR) {
            device->rule(pair.state == IBV_QPS_INIT, "a pair that is told its port may receive");
        } else {
            device->rule(to == IBV_QPS_RTS && pair.state == IBV_QPS_RTR && mask == (IBV_QP_STATE | IBV_QP_SQ_PSN),
                         "a pair that receives may send");
            ++device->starts;
            if (device->tells_late && pair.told_late) device->complete(pair, flushed(*pair.told_late));
        }
        pair.state = to;
        return 0;
    }
    static ibv_ah* create_ah(ibv_pd*, ibv_ah_attr* attr) {
        device->rule(attr->is_global && attr->port_num == 1, "a handle has a route");
        if (device->handle_error) {
            errno = device->handle_error;
            return nullptr;
        }
        ++device->handles_made;
        auto* handle = new Handle;
        memcpy(handle->to.data(), attr->grh.dgid.raw, 16);
        handle->from = device->gids.at(attr->grh.sgid_index);
        device->handles_.insert(handle);
        return &handle->base;
    }
    static int destroy_ah(ibv_ah* base) {
        auto* handle = reinterpret_cast<Handle*>(base);
        for (const auto& [number, pair] : device->pairs_) {
            for (const auto& [id, used] : pair->sent) {
                device->rule(used != base, "a handle stays while a request names it");
            }
        }
        device->rule(device->handles_.erase(handle) == 1, "a handle is destroyed once");
        delete handle;
        return 0;
    }
    static int post_send(ibv_qp* pair, ibv_send_wr* request, ibv_send_wr** bad) {
        device->rule(!request->next, "one datagram at a time");
        *bad = request;
        return device->post(of(pair), *request);
    }
    static int post_recv(ibv_qp* base, ibv_recv_wr* request, ibv_recv_wr** bad) {
        Pair& pair = of(base);
        device->rule(pair.state != IBV_QPS_RESET, "receives are posted to a pair that was started");
        for (; request; request = request->next) {
            *bad = request;
            device->rule(pair.receives.size() < pair.cap.max_recv_wr, "the receive queue does not overflow");
            device->rule(request->num_sge == 1 && device->covered(*request->sg_list),
                         "receives are of registered memory");
            if (!pair.first_id) pair.first_id = request->wr_id;
            pair.receives.emplace_back(request->wr_id, *request->sg_list);
        }
        return 0;
    }
    static rdma_event_channel* create_event_channel() { return new rdma_event_channel{.fd = eventfd(0, EFD_CLOEXEC)}; }
    static void destroy_event_channel(rdma_event_channel* channel) {
        close(channel->fd);
        delete channel;
    }
    static int create_id(rdma_event_channel* channel, rdma_cm_id** out, void*, rdma_port_space) {
        *out = new rdma_cm_id{};
        (*out)->channel = channel;
        device->ids_.insert(*out);
        return 0;
    }
    static int destroy_id(rdma_cm_id* id) {
        device->ids_.erase(id);
        delete id;
        return 0;
    }
    static int get_cm_event(rdma_event_channel*, rdma_cm_event** out) {
        errno = EAGAIN;
        const std::lock_guard guard(device->removal_);
        if (device->events_.empty()) return -1;
        *out = new rdma_cm_event(device->events_.front());
        device->events_.pop_front();
        return 0;
    }
    static int ack_cm_event(rdma_cm_event* event) {
        delete event;
        return 0;
    }
};

FakeDatagrams::FakeDatagrams() {
    device = this;
    gids = {gid_of_host(1)};
    route = ipv4_route;
    library.query_port_compatible = DatagramCalls::query_port;
    library.query_gid = DatagramCalls::query_gid;
    library.query_pkey = DatagramCalls::query_pkey;
    library.register_iova = DatagramCalls::register_iova;
    library.dereg_mr = DatagramCalls::dereg_mr;
    library.create_comp_channel = DatagramCalls::create_comp_channel;
    library.destroy_comp_channel = DatagramCalls::destroy_comp_channel;
    library.create_cq = DatagramCalls::create_cq;
    library.destroy_cq = DatagramCalls::destroy_cq;
    library.get_cq_event = DatagramCalls::get_cq_event;
    library.ack_cq_events = [](ibv_cq*, unsigned) {};
    library.create_pair = DatagramCalls::create_pair;
    library.modify_pair = DatagramCalls::modify_pair;
    library.destroy_pair = DatagramCalls::destroy_pair;
    library.create_ah = DatagramCalls::create_ah;
    library.destroy_ah = DatagramCalls::destroy_ah;
    library.create_event_channel = DatagramCalls::create_event_channel;
    library.destroy_event_channel = DatagramCalls::destroy_event_channel;
    library.create_id = DatagramCalls::create_id;
    library.destroy_id = DatagramCalls::destroy_id;
    library.bind_addr = [](rdma_cm_id*, sockaddr*) { return 0; };
    library.get_cm_event = DatagramCalls::get_cm_event;
    library.ack_cm_event = DatagramCalls::ack_cm_event;
    context_.ops.post_send = DatagramCalls::post_send;
    context_.ops.post_recv = DatagramCalls::post_recv;
    context_.ops.poll_cq = DatagramCalls::poll_cq;
    context_.ops.req_notify_cq = DatagramCalls::req_notify_cq;
    holder_.port_num = 1;
    domain.library = &library;
    domain.context = &context_;
    domain.holder = &holder_;
    domain.limits.max_cqe = 1 << 20;
}

FakeDatagrams::~FakeDatagrams() {
    for (const std::string& rule : broken_rules) ADD_FAILURE() << "broken: " << rule;
    EXPECT_TRUE(pairs_.empty());
    EXPECT_TRUE(handles_.empty());
    EXPECT_TRUE(regions_.empty());
    EXPECT_TRUE(ids_.empty());
    device = nullptr;
}

void FakeDatagrams::rule(bool kept, const std::string& what) {
    if (!kept) broken_rules.push_back(what);
}

bool FakeDatagrams::covered(const ibv_sge& piece) const {
    const auto found = regions_.find(piece.lkey);
    if (found == regions_.end()) return false;
    const auto start = reinterpret_cast<uintptr_t>(found->second->addr);
    return piece.addr >= start && piece.addr + piece.length <= start + found->second->length;
}

void FakeDatagrams::complete(Pair& pair, const ibv_wc& entry) {
    Queue& queue = *pair.completions;
    rule(queue.entries.size() < static_cast<size_t>(queue.base.cqe), "the completion queue does not overflow");
    queue.entries.push_back(entry);
    if (queue.armed) eventfd_write(queue.base.channel->fd, 1);
    queue.armed = false;
}

void FakeDatagrams::complete_sends(Pair& pair) {
    for (; !pair.sent.empty(); pair.sent.pop_front()) {
        ibv_wc entry{};
        entry.wr_id = pair.sent.front().first;
        entry.opcode = IBV_WC_SEND;
        complete(pair, entry);
    }
}

void FakeDatagrams::release() {
    for (const auto& [number, pair] : pairs_) complete_sends(*pair);
}

// The pair stops: this request failed, and what is posted is flushed.
void FakeDatagrams::fail(Pair& pair, uint64_t id, ibv_wc_status status) {
    pair.state = IBV_QPS_ERR;
    pair.sent.pop_back();
    complete_sends(pair);
    ibv_wc entry{};
    entry.wr_id = id;
    entry.status = status;
    complete(pair, entry);
    entry.status = IBV_WC_WR_FLUSH_ERR;
    for (; !pair.receives.empty(); pair.receives.pop_front()) {
        entry.wr_id = pair.receives.front().first;
        complete(pair, entry);
    }
}

int FakeDatagrams::post(Pair& pair, const ibv_send_wr& request) {
    if (removed_) return 0;  // goes nowhere, and nothing comes of it
    rule(pair.state == IBV_QPS_RTS || pair.state == IBV_QPS_ERR, "a pair that was started sends");
    rule(pair.sent.size() < pair.cap.max_send_wr, "the send queue does not overflow");
    auto* handle = reinterpret_cast<Handle*>(request.wr.ud.ah);
    rule(handles_.contains(handle), "a request names a handle");
    last_to = handle->to;
    std::string bytes;
    for (int i = 0; i < request.num_sge; ++i) {
        const ibv_sge& piece = request.sg_list[i];
        const bool is_inline = request.send_flags & IBV_SEND_INLINE;
        rule(is_inline ? piece.length <= pair.cap.max_inline_data : covered(piece),
             "what is sent is registered or short");
        inlined += is_inline;
        bytes.append(reinterpret_cast<const char*>(piece.addr), piece.length);
    }
    pair.sent.emplace_back(request.wr_id, request.wr.ud.ah);
    const ibv_wc_status status = std::exchange(next_status, IBV_WC_SUCCESS);
    if (pair.state == IBV_QPS_ERR || status != IBV_WC_SUCCESS) {
        fail(pair, request.wr_id, status == IBV_WC_SUCCESS ? IBV_WC_WR_FLUSH_ERR : status);
        return 0;
    }
    const auto target = pairs_.find(request.wr.ud.remote_qpn);
    if (target == pairs_.end() || target->second->key != request.wr.ud.remote_qkey) {
        ++dropped;
    } else if (target->second->receives.empty() || target->second->state == IBV_QPS_ERR) {
        ++dropped;
    } else {
        Pair& to = *target->second;
        const auto [id, place] = to.receives.front();
        to.receives.pop_front();
        const std::string whole = route(handle->from, handle->to) + bytes;
        rule(whole.size() <= place.length, "a receive has room for a packet and its route");
        memcpy(reinterpret_cast<void*>(place.addr), whole.data(), whole.size());
        ibv_wc entry{};
        entry.wr_id = id;
        entry.opcode = IBV_WC_RECV;
        entry.byte_len = static_cast<uint32_t>(whole.size());
        entry.src_qp = pair.base.qp_num;
        entry.wc_flags = IBV_WC_GRH;
        if (request.opcode == IBV_WR_SEND_WITH_IMM) entry.wc_flags |= IBV_WC_WITH_IMM;
        entry.imm_data = request.imm_data;
        complete(to, entry);
    }
    if (!holds) complete_sends(pair);
    return 0;
}

void FakeDatagrams::inject(uint32_t queue_pair, const std::string& before, const std::string& bytes, uint32_t from) {
    Pair& to = *pairs_.at(queue_pair);
    const auto [id, place] = to.receives.front();
    to.receives.pop_front();
    const std::string whole = before + bytes;
    memcpy(reinterpret_cast<void*>(place.addr), whole.data(), std::min<size_t>(whole.size(), place.length));
    ibv_wc entry{};
    entry.wr_id = id;
    entry.opcode = IBV_WC_RECV;
    entry.byte_len = static_cast<uint32_t>(whole.size());
    entry.src_qp = from;
    entry.wc_flags = before.empty() ? 0u : unsigned{IBV_WC_GRH};
    complete(to, entry);
}

void FakeDatagrams::remove() {
    removed_ = true;
    const std::lock_guard guard(removal_);
    for (rdma_cm_id* id : ids_) {
        rdma_cm_event event{};
        event.id = id;
        event.event = RDMA_CM_EVENT_DEVICE_REMOVAL;
        events_.push_back(event);
        eventfd_write(id->channel->fd, 1);
    }
}

size_t FakeDatagrams::receives_posted(uint32_t queue_pair) const { return pairs_.at(queue_pair)->receives.size(); }

}  // namespace selvage::impl::test
