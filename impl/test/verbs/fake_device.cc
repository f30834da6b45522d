// See fake_device.h.
#include "impl/test/verbs/fake_device.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <sys/eventfd.h>
#include <unistd.h>

namespace selvage::impl::test {

namespace {

int answer(int code) {
    errno = code;
    return code ? -1 : 0;
}
void raise_flag(int descriptor) { eventfd_write(descriptor, 1); }
void lower_flag(int descriptor) {
    eventfd_t value;
    (void)eventfd_read(descriptor, &value);
}
bool same(const sockaddr_storage& a, const sockaddr& b) {
    const auto& left = reinterpret_cast<const sockaddr_in&>(a);
    const auto& right = reinterpret_cast<const sockaddr_in&>(b);
    return left.sin_port == right.sin_port && left.sin_addr.s_addr == right.sin_addr.s_addr;
}

}  // namespace

// The functions of the two libraries.
struct FakeCalls {
    static FakeDevice& device() { return *FakeDevice::current(); }
    static FakeId* of(rdma_cm_id* id) { return reinterpret_cast<FakeId*>(id); }

    static ibv_mr* register_iova(ibv_pd*, void* address, size_t length, uint64_t iova, int access) {
        FakeDevice& fake = device();
        if (!fake.registers || fake.regions_.size() >= fake.regions_max) {
            errno = ENOMEM;
            return nullptr;
        }
        auto region = std::make_unique<FakeDevice::Region>();
        const uint32_t key = fake.next_key_++;
        ++fake.registrations;
        if (fake.on_register) fake.on_register();
        region->base.addr = address;
        region->base.length = length;
        region->base.lkey = region->base.rkey = key;
        region->iova = iova;
        region->access = access;
        ibv_mr* result = &region->base;
        fake.regions_[key] = std::move(region);
        return result;
    }
    static int dereg_mr(ibv_mr* region) {
        device().rule(device().regions_.erase(region->lkey) == 1, "only what is registered is released");
        return 0;
    }

    static ibv_comp_channel* create_comp_channel(ibv_context* context) {
        auto* channel = new ibv_comp_channel{};
        channel->context = context;
        channel->fd = eventfd(0, EFD_CLOEXEC);
        return channel;
    }
    static int destroy_comp_channel(ibv_comp_channel* channel) {
        close(channel->fd);
        delete channel;
        return 0;
    }
    static ibv_cq* create_cq(ibv_context* context, int size, void*, ibv_comp_channel* channel, int) {
        auto* queue = new FakeQueue;
        queue->base.context = context;
        queue->base.channel = channel;
        queue->base.cqe = size;
        return &queue->base;
    }
    static int resize_cq(ibv_cq* queue, int size) {
        queue->cqe = size;
        device().longest_queue = std::max(device().longest_queue, size);
        return 0;
    }
    static int destroy_cq(ibv_cq* queue) {
        delete reinterpret_cast<FakeQueue*>(queue);
        return 0;
    }
    static int get_cq_event(ibv_comp_channel* channel, ibv_cq** queue, void** context) {
        eventfd_t value;
        if (eventfd_read(channel->fd, &value)) return answer(EAGAIN);
        *queue = nullptr;
        *context = nullptr;
        return 0;
    }
    static void ack_cq_events(ibv_cq*, unsigned) {}

    static rdma_event_channel* create_event_channel() {
        auto* channel = new FakeChannel;
        channel->base.fd = eventfd(0, EFD_CLOEXEC);
        return &channel->base;
    }
    static void destroy_event_channel(rdma_event_channel* base) {
        close(base->fd);
        delete reinterpret_cast<FakeChannel*>(base);
    }
    static int create_id(rdma_event_channel* channel, rdma_cm_id** out, void* context, rdma_port_space) {
        auto* id = new FakeId;
        id->base.channel = channel;
        id->base.context = context;
        id->base.port_num = 1;
        device().ids_.insert(id);
        *out = &id->base;
        return 0;
    }
    static int destroy_id(rdma_cm_id* base) {
        FakeId* id = of(base);
        FakeDevice& fake = device();
        fake.rule(fake.ids_.erase(id) == 1, "an identifier is destroyed once");
        fake.rule(!base->qp, "a queue pair is destroyed before its identifier");
        if (id->connected) disconnect(base);
        if (id->other) id->other->other = nullptr;
        auto* channel = reinterpret_cast<FakeChannel*>(base->channel);
        // Requests that nobody took go with their listener.
        for (FakeChannel::Entry& each : channel->entries) {
            if (each.event.listen_id != base) continue;
            fake.ids_.erase(of(each.event.id));
            if (of(each.event.id)->other) of(each.event.id)->other->other = nullptr;
            delete of(each.event.id);
            each.event.id = base;
        }
        std::erase_if(channel->entries, [&](const FakeChannel::Entry& each) { return each.event.id == base; });
        delete id;
        return 0;
    }
    static int bind_addr(rdma_cm_id* base, sockaddr* address) {
        FakeDevice& fake = device();
        if (fake.removed_) return answer(ENODEV);
        memcpy(&base->route.addr.src_storage, address, sizeof(sockaddr_in));
        auto& bound = base->route.addr.src_sin;
        if (bound.sin_port && fake.listener_at(base->route.addr.src_addr)) return answer(EADDRINUSE);
        if (!bound.sin_port) bound.sin_port = htons(fake.next_port_++);
        base->verbs = &fake.context_;
        return 0;
    }
    static int listen(rdma_cm_id* base, int) {
        of(base)->listens = true;
        return 0;
    }
    static uint16_t get_src_port(rdma_cm_id* base) { return base->route.addr.src_sin.sin_port; }
    static int resolve_addr(rdma_cm_id* base, sockaddr* from, sockaddr* to, int) {
        if (bind_addr(base, from)) return -1;
        memcpy(&base->route.addr.dst_storage, to, sizeof(sockaddr_in));
        device().notify(reinterpret_cast<FakeChannel*>(base->channel), RDMA_CM_EVENT_ADDR_RESOLVED, of(base), nullptr,
                        0, nullptr, 0);
        return 0;
    }
    static int resolve_route(rdma_cm_id* base, int) {
        device().notify(reinterpret_cast<FakeChannel*>(base->channel), RDMA_CM_EVENT_ROUTE_RESOLVED, of(base), nullptr,
                        0, nullptr, 0);
        return 0;
    }
    static int create_qp(rdma_cm_id* base, ibv_pd*, ibv_qp_init_attr* wanted) {
        if (device().removed_) return answer(ENODEV);
        auto* pair = new FakePair;
        pair->completions = reinterpret_cast<FakeQueue*>(wanted->send_cq);
        wanted->cap.max_inline_data = std::min(wanted->cap.max_inline_data, device().inline_max);
        pair->cap = wanted->cap;
        pair->base.context = base->verbs;
        base->qp = &pair->base;
        return 0;
    }
    // Completions stay in their queue, as with some devices.
    static void destroy_qp(rdma_cm_id* base) {
        auto* pair = reinterpret_cast<FakePair*>(base->qp);
        if (pair->other) {
            pair->other->other = nullptr;
        }
        delete pair;
        base->qp = nullptr;
    }
    static int query_qp(ibv_qp*, ibv_qp_attr* out, int, ibv_qp_init_attr*) {
        *out = {};
        out->port_num = 1;
        return 0;
    }
    static ibv_qp* create_pair(ibv_pd*, ibv_qp_init_attr* wanted) {
        FakeDevice& fake = device();
        if (fake.removed_ || fake.pairs_.size() >= fake.pairs_max) return nullptr;
        auto* pair = new FakePair;
        pair->completions = reinterpret_cast<FakeQueue*>(wanted->send_cq);
        pair->cap = wanted->cap;
        pair->base.context = &fake.context_;
        pair->base.qp_num = fake.next_pair_++;
        pair->joined = true;
        fake.pairs_[pair->base.qp_num] = pair;
        return &pair->base;
    }
    static int modify_pair(ibv_qp* base, ibv_qp_attr* wanted, int) {
        FakeDevice& fake = device();
        auto* pair = reinterpret_cast<FakePair*>(base);
        if (wanted->qp_state == IBV_QPS_RTR && !fake.connects_pairs) return EINVAL;
        fake.rule(wanted->qp_state == pair->state + 1, "a queue pair goes through its states in order");
        pair->state = wanted->qp_state;
        if (pair->state != IBV_QPS_RTR) return 0;
        const auto found = fake.pairs_.find(wanted->dest_qp_num);
        pair->other = found == fake.pairs_.end() ? nullptr : found->second;
        return 0;
    }
    static int destroy_pair(ibv_qp* base) {
        FakeDevice& fake = device();
        fake.rule(fake.pairs_.erase(base->qp_num) == 1, "a queue pair is destroyed once");
        auto* pair = reinterpret_cast<FakePair*>(base);
        if (pair->other && pair->other->other == pair) pair->other->other = nullptr;
        delete pair;
        return 0;
    }
    static int connect(rdma_cm_id* base, rdma_conn_param* given) {
        FakeDevice& fake = device();
        FakeId* listener = fake.listener_at(base->route.addr.dst_addr);
        if (!fake.answers_calls) return 0;
        if (!listener) {
            fake.notify(reinterpret_cast<FakeChannel*>(base->channel), RDMA_CM_EVENT_REJECTED, of(base), nullptr, 8,
                        nullptr, 0);
            return 0;
        }
        auto* id = new FakeId;
        id->base.channel = listener->base.channel;
        id->base.verbs = &fake.context_;
        id->base.route.addr.src_storage = listener->base.route.addr.src_storage;
        id->base.route.addr.dst_storage = base->route.addr.src_storage;
        id->other = of(base);
        of(base)->other = id;
        fake.ids_.insert(id);
        fake.notify(reinterpret_cast<FakeChannel*>(listener->base.channel), RDMA_CM_EVENT_CONNECT_REQUEST, id, listener,
                    0, given->private_data, given->private_data_len);
        return 0;
    }
    static int accept(rdma_cm_id* base, rdma_conn_param* given) {
        FakeId* id = of(base);
        if (!id->other) return answer(ECONNRESET);
        id->connected = id->other->connected = true;
        auto* here = reinterpret_cast<FakePair*>(base->qp);
        auto* there = reinterpret_cast<FakePair*>(id->other->base.qp);
        here->other = there;
        there->other = here;
        device().last_caller_ = there;
        device().notify(reinterpret_cast<FakeChannel*>(id->other->base.channel), RDMA_CM_EVENT_ESTABLISHED, id->other,
                        nullptr, 0, given->private_data, given->private_data_len);
        device().notify(reinterpret_cast<FakeChannel*>(base->channel), RDMA_CM_EVENT_ESTABLISHED, id, nullptr, 0,
                        nullptr, 0);
        return 0;
    }
    static int reject(rdma_cm_id* base, const void* data, uint8_t size) {
        FakeId* id = of(base);
        if (!id->other) return 0;
        device().notify(reinterpret_cast<FakeChannel*>(id->other->base.channel), RDMA_CM_EVENT_REJECTED, id->other,
                        nullptr, 28, data, size);
        id->other->other = nullptr;
        id->other = nullptr;
        return 0;
    }
    static int disconnect(rdma_cm_id* base) {
        FakeId* id = of(base);
        if (!id->connected) return answer(EINVAL);
        for (FakeId* end : {id, id->other}) {
            if (!end) continue;
            end->connected = false;
            if (end->base.qp) device().fail(*reinterpret_cast<FakePair*>(end->base.qp));
            device().notify(reinterpret_cast<FakeChannel*>(end->base.channel), RDMA_CM_EVENT_DISCONNECTED, end, nullptr,
                            0, nullptr, 0);
        }
        return 0;
    }
    static int migrate_id(rdma_cm_id* base, rdma_event_channel* channel) {
        base->channel = channel;
        return 0;
    }
    static int get_cm_event(rdma_event_channel* base, rdma_cm_event** out) {
        auto* channel = reinterpret_cast<FakeChannel*>(base);
        if (channel->entries.empty()) return answer(EAGAIN);
        channel->current = std::move(channel->entries.front());
        channel->entries.pop_front();
        if (channel->entries.empty()) lower_flag(base->fd);
        channel->current.event.param.conn.private_data =
            channel->current.data.empty() ? nullptr : channel->current.data.data();
        *out = &channel->current.event;
        return 0;
    }
    static int ack_cm_event(rdma_cm_event*) { return 0; }

    static int post_send(ibv_qp* base, ibv_send_wr* request, ibv_send_wr** bad) {
        FakeDevice& fake = device();
        ++fake.posts;
        for (; request; request = request->next) {
            const int error = fake.post_one(*reinterpret_cast<FakePair*>(base), *request);
            if (!error) continue;
            *bad = request;
            return error;
        }
        return 0;
    }
    static int post_recv(ibv_qp* base, ibv_recv_wr* request, ibv_recv_wr**) {
        auto& pair = *reinterpret_cast<FakePair*>(base);
        for (; request; request = request->next) {
            FakeDevice& fake = device();
            fake.rule(pair.receives.size() < pair.cap.max_recv_wr, "the receive queue does not overflow");
            fake.rule(fake.region_of(request->sg_list->lkey, request->sg_list->addr, request->sg_list->length,
                                     IBV_ACCESS_LOCAL_WRITE),
                      "memory of a receive is registered");
            pair.receives.push_back(*request);
            pair.places.push_back(*request->sg_list);
        }
        return 0;
    }
    static int poll_cq(ibv_cq* base, int most, ibv_wc* out) {
        auto& queue = *reinterpret_cast<FakeQueue*>(base);
        int count = 0;
        for (; count < most && !queue.entries.empty(); ++count) {
            out[count] = queue.entries.front();
            queue.entries.pop_front();
        }
        return count;
    }
    static int req_notify_cq(ibv_cq* base, int) {
        reinterpret_cast<FakeQueue*>(base)->armed = true;
        return 0;
    }
};

FakeDevice*& FakeDevice::current() {
    static FakeDevice* device = nullptr;
    return device;
}

FakeDevice::FakeDevice() {
    current() = this;
    library.register_iova = FakeCalls::register_iova;
    library.dereg_mr = FakeCalls::dereg_mr;
    library.create_comp_channel = FakeCalls::create_comp_channel;
    library.destroy_comp_channel = FakeCalls::destroy_comp_channel;
    library.create_cq = FakeCalls::create_cq;
    library.resize_cq = FakeCalls::resize_cq;
    library.destroy_cq = FakeCalls::destroy_cq;
    library.get_cq_event = FakeCalls::get_cq_event;
    library.ack_cq_events = FakeCalls::ack_cq_events;
    library.create_event_channel = FakeCalls::create_event_channel;
    library.destroy_event_channel = FakeCalls::destroy_event_channel;
    library.create_id = FakeCalls::create_id;
    library.destroy_id = FakeCalls::destroy_id;
    library.bind_addr = FakeCalls::bind_addr;
    library.listen = FakeCalls::listen;
    library.get_src_port = FakeCalls::get_src_port;
    library.resolve_addr = FakeCalls::resolve_addr;
    library.resolve_route = FakeCalls::resolve_route;
    library.create_qp = FakeCalls::create_qp;
    library.destroy_qp = FakeCalls::destroy_qp;
    library.query_qp = FakeCalls::query_qp;
    library.create_pair = FakeCalls::create_pair;
    library.modify_pair = FakeCalls::modify_pair;
    library.destroy_pair = FakeCalls::destroy_pair;
    library.connect = FakeCalls::connect;
    library.accept = FakeCalls::accept;
    library.reject = FakeCalls::reject;
    library.disconnect = FakeCalls::disconnect;
    library.migrate_id = FakeCalls::migrate_id;
    library.get_cm_event = FakeCalls::get_cm_event;
    library.ack_cm_event = FakeCalls::ack_cm_event;
    context_.ops.post_send = FakeCalls::post_send;
    context_.ops.post_recv = FakeCalls::post_recv;
    context_.ops.poll_cq = FakeCalls::poll_cq;
    context_.ops.req_notify_cq = FakeCalls::req_notify_cq;
    domain.library = &library;
    domain.context = &context_;
    domain.limits.max_cqe = 1 << 20;
    domain.limits.max_sge = 32;
    domain.limits.max_qp_rd_atom = domain.limits.max_qp_init_rd_atom = 16;
    domain.message_max = 1 << 30;
}

FakeDevice::~FakeDevice() {
    domain.unnamed.close();
    for (const std::string& rule : broken_rules) ADD_FAILURE() << "broken: " << rule;
    for (FakeId* id : ids_) {
        ADD_FAILURE() << "left: " << (id->listens ? "listener" : "caller") << " connected " << id->connected << " to "
                      << ntohs(id->base.route.addr.dst_sin.sin_port);
    }
    EXPECT_EQ(regions_.size(), 0u);
    EXPECT_EQ(pairs_.size(), 0u);
    current() = nullptr;
}

void FakeDevice::rule(bool kept, const char* what) {
    if (!kept) broken_rules.push_back(what);
}

void FakeDevice::notify(FakeChannel* channel, rdma_cm_event_type type, FakeId* id, FakeId* listener, int status,
                        const void* data, size_t size) {
    FakeChannel::Entry entry{};
    entry.event.id = &id->base;
    entry.event.listen_id = listener ? &listener->base : nullptr;
    entry.event.event = type;
    entry.event.status = status;
    entry.event.param.conn.responder_resources = entry.event.param.conn.initiator_depth = 16;
    if (size) entry.data.assign(static_cast<const uint8_t*>(data), static_cast<const uint8_t*>(data) + size);
    entry.event.param.conn.private_data_len = static_cast<uint8_t>(size);
    channel->entries.push_back(std::move(entry));
    raise_flag(channel->base.fd);
}

FakeId* FakeDevice::listener_at(const sockaddr& address) {
    for (FakeId* id : ids_) {
        if (id->listens && same(id->base.route.addr.src_storage, address)) return id;
    }
    return nullptr;
}

void FakeDevice::fail_pair(ibv_wc_status status) { next_status_ = status; }

void FakeDevice::remove() {
    removed_ = true;
    for (FakeId* id : ids_) {
        notify(reinterpret_cast<FakeChannel*>(id->base.channel), RDMA_CM_EVENT_DEVICE_REMOVAL, id, nullptr, 0, nullptr,
               0);
    }
}

ibv_mr* FakeDevice::region_of(uint32_t key, uint64_t address, size_t size, int access) {
    const auto found = regions_.find(key);
    if (found == regions_.end()) return nullptr;
    Region& region = *found->second;
    const bool inside = address >= region.iova && address + size <= region.iova + region.base.length;
    return inside && (region.access & access) == access ? &region.base : nullptr;
}

void FakeDevice::complete(FakePair& pair, uint64_t id, ibv_wc_opcode opcode, ibv_wc_status status, uint32_t length,
                          const uint32_t* immediate) {
    FakeQueue& queue = *pair.completions;
    ibv_wc entry{};
    entry.wr_id = id;
    entry.opcode = opcode;
    entry.status = status;
    entry.byte_len = length;
    if (immediate) {
        entry.imm_data = *immediate;
        entry.wc_flags = IBV_WC_WITH_IMM;
    }
    rule(queue.entries.size() < static_cast<size_t>(queue.base.cqe), "the completion queue does not overflow");
    queue.entries.push_back(entry);
    if (queue.armed) raise_flag(queue.base.channel->fd);
    queue.armed = false;
}

// Everything that is posted is flushed.
void FakeDevice::fail(FakePair& pair) {
    if (pair.failed) return;
    pair.failed = true;
    for (const ibv_recv_wr& receive : pair.receives) {
        complete(pair, receive.wr_id, IBV_WC_RECV, IBV_WC_WR_FLUSH_ERR, 0, nullptr);
    }
    pair.receives.clear();
    pair.places.clear();
}

int FakeDevice::post_one(FakePair& pair, const ibv_send_wr& request) {
    ++requests;
    if (removed_) return 0;  // goes nowhere, and nothing comes of it
    rule(request.num_sge <= static_cast<int>(pair.cap.max_send_sge), "a request has no more pieces than was asked for");
    // Places are free again when a signalled request behind them has completed, at once here.
    rule(pair.sent.size() < pair.cap.max_send_wr, "the send queue does not overflow");
    const bool is_signalled = request.send_flags & IBV_SEND_SIGNALED;
    pair.sent.emplace_back(request.wr_id, is_signalled);
    signalled += is_signalled;
    fenced += (request.send_flags & IBV_SEND_FENCE) != 0;
    rule(!pair.joined || pair.state == IBV_QPS_RTS, "a queue pair sends when it is ready");
    std::string bytes;
    const bool is_inline = request.send_flags & IBV_SEND_INLINE;
    inlined += is_inline;
    const bool reads = request.opcode == IBV_WR_RDMA_READ || request.opcode == IBV_WR_ATOMIC_FETCH_AND_ADD ||
                       request.opcode == IBV_WR_ATOMIC_CMP_AND_SWP;
    for (int i = 0; i < request.num_sge; ++i) {
        const ibv_sge& piece = request.sg_list[i];
        if (!is_inline) {
            const int access = reads ? IBV_ACCESS_LOCAL_WRITE : 0;
            const ibv_mr* region = region_of(piece.lkey, piece.addr, piece.length, access);
            rule(region, "local memory is registered for what is done");
            if (!region) return EINVAL;
        }
        if (!reads) bytes.append(reinterpret_cast<const char*>(piece.addr), piece.length);
    }
    if (is_inline && bytes.size() > pair.cap.max_inline_data) return ENOMEM;
    if (pair.failed) {
        complete(pair, request.wr_id, IBV_WC_SEND, IBV_WC_WR_FLUSH_ERR, 0, nullptr);
        return 0;
    }
    if (!carry_out(pair, request, bytes)) return 0;
    if (!is_signalled) return 0;
    complete(pair, request.wr_id, IBV_WC_SEND, IBV_WC_SUCCESS, 0, nullptr);
    pair.sent.clear();
    return 0;
}

// False: it failed, and the pair with it.
bool FakeDevice::carry_out(FakePair& pair, const ibv_send_wr& request, const std::string& bytes) {
    ibv_wc_status status = next_status_;
    next_status_ = IBV_WC_SUCCESS;
    std::string back;
    if (status == IBV_WC_SUCCESS && !pair.other) status = IBV_WC_RETRY_EXC_ERR;
    if (status == IBV_WC_SUCCESS) {
        const bool sends = request.opcode == IBV_WR_SEND_WITH_IMM || request.opcode == IBV_WR_SEND;
        if (!sends) status = reach(request, bytes, &back);
        if (status == IBV_WC_SUCCESS && (sends || request.opcode == IBV_WR_RDMA_WRITE_WITH_IMM)) {
            status = deliver(pair, request, bytes);
        }
    }
    if (status == IBV_WC_SUCCESS) {
        size_t at = 0;
        for (int i = 0; i < request.num_sge && at < back.size(); ++i) {
            memcpy(reinterpret_cast<void*>(request.sg_list[i].addr), back.data() + at, request.sg_list[i].length);
            at += request.sg_list[i].length;
        }
        return true;
    }
    complete(pair, request.wr_id, IBV_WC_SEND, status, 0, nullptr);
    FakePair* other = pair.other;
    fail(pair);
    if (other && status == IBV_WC_REM_ACCESS_ERR) fail(*other);
    return false;
}

ibv_wc_status FakeDevice::deliver(FakePair& pair, const ibv_send_wr& request, const std::string& bytes) {
    FakePair& other = *pair.other;
    if (other.failed) return IBV_WC_RETRY_EXC_ERR;
    rule(!other.receives.empty(), "a message finds a receive");
    if (other.receives.empty()) return IBV_WC_RNR_RETRY_EXC_ERR;
    const ibv_recv_wr receive = other.receives.front();
    const ibv_sge place = other.places.front();
    other.receives.pop_front();
    other.places.pop_front();
    const bool writes = request.opcode == IBV_WR_RDMA_WRITE_WITH_IMM;
    if (!writes) {
        bytes_sent += bytes.size();
        rule(bytes.size() <= place.length, "a message fits into its receive");
        memcpy(reinterpret_cast<void*>(place.addr), bytes.data(), bytes.size());
    }
    complete(other, receive.wr_id, writes ? IBV_WC_RECV_RDMA_WITH_IMM : IBV_WC_RECV, IBV_WC_SUCCESS,
             static_cast<uint32_t>(bytes.size()), &request.imm_data);
    return IBV_WC_SUCCESS;
}

ibv_wc_status FakeDevice::reach(const ibv_send_wr& request, const std::string& bytes, std::string* back) {
    ++accesses;
    const bool atomic = request.opcode == IBV_WR_ATOMIC_FETCH_AND_ADD || request.opcode == IBV_WR_ATOMIC_CMP_AND_SWP;
    const bool reads = request.opcode == IBV_WR_RDMA_READ;
    size_t size = bytes.size();
    if (reads || atomic) size = 0;
    for (int i = 0; (reads || atomic) && i < request.num_sge; ++i) size += request.sg_list[i].length;
    const uint64_t address = atomic ? request.wr.atomic.remote_addr : request.wr.rdma.remote_addr;
    const uint32_t key = atomic ? request.wr.atomic.rkey : request.wr.rdma.rkey;
    const int access = atomic ? IBV_ACCESS_REMOTE_ATOMIC : reads ? IBV_ACCESS_REMOTE_READ : IBV_ACCESS_REMOTE_WRITE;
    const ibv_mr* region = region_of(key, address, size, access);
    if (!region) return IBV_WC_REM_ACCESS_ERR;
    auto* memory = static_cast<char*>(region->addr) + (address - regions_[key]->iova);
    if (reads || atomic) back->assign(memory, size);
    if (atomic) {
        uint64_t value;
        memcpy(&value, memory, sizeof value);
        if (request.opcode == IBV_WR_ATOMIC_FETCH_AND_ADD) {
            value += request.wr.atomic.compare_add;
        } else if (value == request.wr.atomic.compare_add) {
            value = request.wr.atomic.swap;
        }
        memcpy(memory, &value, sizeof value);
    } else if (!reads) {
        memcpy(memory, bytes.data(), bytes.size());
    }
    return IBV_WC_SUCCESS;
}

}  // namespace selvage::impl::test
