// See raw_rc.h.
#include "conformance/bench/transfer/raw_rc.h"

#include <dlfcn.h>
#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <filesystem>

#include "conformance/bench/transfer/plan.h"

namespace selvage::conformance::bench::transfer {
namespace {

constexpr unsigned kReceives = 2 * kWindow;
constexpr unsigned kSends = 2 * kWindow;
constexpr unsigned kSignalEvery = 16;
constexpr unsigned kPostAgain = 8;
constexpr std::size_t kInline = 256;
constexpr std::size_t kMemory = 2 * kLargest;
constexpr std::uint8_t kPort = 1;
constexpr std::uint64_t kSent = 1;  // wr_id; receives have 0
constexpr std::size_t kAnswer = 4;

/// What libibverbs exports; the calls that move data go through the device.
struct Library {
    ibv_device** (*get_device_list)(int*) = nullptr;
    decltype(&::ibv_free_device_list) free_device_list = nullptr;
    decltype(&::ibv_open_device) open_device = nullptr;
    decltype(&::ibv_close_device) close_device = nullptr;
    int (*query_port)(ibv_context*, std::uint8_t, _compat_ibv_port_attr*) = nullptr;
    decltype(&::ibv_query_gid) query_gid = nullptr;
    decltype(&::ibv_alloc_pd) alloc_pd = nullptr;
    decltype(&::ibv_dealloc_pd) dealloc_pd = nullptr;
    ibv_mr* (*reg_mr)(ibv_pd*, void*, std::size_t, int) = nullptr;
    decltype(&::ibv_dereg_mr) dereg_mr = nullptr;
    decltype(&::ibv_create_cq) create_cq = nullptr;
    decltype(&::ibv_destroy_cq) destroy_cq = nullptr;
    decltype(&::ibv_create_qp) create_qp = nullptr;
    decltype(&::ibv_modify_qp) modify_qp = nullptr;
    decltype(&::ibv_destroy_qp) destroy_qp = nullptr;
};

template <class Function>
void find(void* from, const char* name, Function& out) {
    void* const symbol = dlsym(from, name);
    if (symbol == nullptr) throw CannotMeasure(std::string("libibverbs has no ") + name);
    std::memcpy(&out, &symbol, sizeof symbol);
}

Library load() {
    void* const from = dlopen("libibverbs.so.1", RTLD_NOW | RTLD_LOCAL);
    if (from == nullptr) throw CannotMeasure("libibverbs is not installed");
    Library l;
    find(from, "ibv_get_device_list", l.get_device_list);
    find(from, "ibv_free_device_list", l.free_device_list);
    find(from, "ibv_open_device", l.open_device);
    find(from, "ibv_close_device", l.close_device);
    find(from, "ibv_query_port", l.query_port);
    find(from, "ibv_query_gid", l.query_gid);
    find(from, "ibv_alloc_pd", l.alloc_pd);
    find(from, "ibv_dealloc_pd", l.dealloc_pd);
    find(from, "ibv_reg_mr", l.reg_mr);
    find(from, "ibv_dereg_mr", l.dereg_mr);
    find(from, "ibv_create_cq", l.create_cq);
    find(from, "ibv_destroy_cq", l.destroy_cq);
    find(from, "ibv_create_qp", l.create_qp);
    find(from, "ibv_modify_qp", l.modify_qp);
    find(from, "ibv_destroy_qp", l.destroy_qp);
    return l;
}

const Library& library() {
    static const Library loaded = load();
    return loaded;
}

void must(bool done, const char* what) {
    if (!done) throw CannotMeasure(std::string("raw RDMA: ") + what);
}

/// What one side sends the other.
struct Name {
    std::uint32_t pair;
    std::uint16_t lid;
    ibv_gid gid;
};

/// An address of IPv4: interfaces have it alone that are configured.
bool is_ipv4(const ibv_gid& gid) {
    constexpr std::array<std::uint8_t, 12> kMapped = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
    return std::equal(kMapped.begin(), kMapped.end(), gid.raw);
}

}  // namespace

bool has_rdma_device() {
    std::error_code error;
    const std::filesystem::directory_iterator devices("/sys/class/infiniband", error);
    return !error && devices != std::filesystem::directory_iterator();
}

RawRc::RawRc(Link& link) : link_(&link) {
    open_device();
    open_pair();
    post_receives(kReceives);
    join();
}

// The constructor has loaded the library.
RawRc::~RawRc() {  // NOLINT(bugprone-exception-escape)
    const Library& l = library();
    if (qp_ != nullptr) l.destroy_qp(qp_);
    if (cq_ != nullptr) l.destroy_cq(cq_);
    if (mr_ != nullptr) l.dereg_mr(mr_);
    if (pd_ != nullptr) l.dealloc_pd(pd_);
    if (context_ != nullptr) l.close_device(context_);
    if (memory_ != nullptr) munmap(memory_, kMemory);
}

void RawRc::open_device() {
    const Library& l = library();
    int count = 0;
    ibv_device** const list = l.get_device_list(&count);
    if (list != nullptr && count > 0) context_ = l.open_device(list[0]);
    if (list != nullptr) l.free_device_list(list);
    must(context_ != nullptr, "no device");
    must(l.query_port(context_, kPort, reinterpret_cast<_compat_ibv_port_attr*>(&port_)) == 0, "no port");
    for (int i = 0; i < port_.gid_tbl_len && gid_index_ < 0; ++i) {
        if (l.query_gid(context_, kPort, i, &gid_) == 0 && is_ipv4(gid_)) gid_index_ = i;
    }
    pd_ = l.alloc_pd(context_);
    void* const at = mmap(nullptr, kMemory, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    must(pd_ != nullptr && at != MAP_FAILED, "no memory");
    memory_ = static_cast<std::byte*>(at);
    std::memset(memory_, 1, kMemory);
    mr_ = l.reg_mr(pd_, memory_, kMemory, IBV_ACCESS_LOCAL_WRITE);
    must(mr_ != nullptr, "memory is not registered");
}

void RawRc::open_pair() {
    const Library& l = library();
    cq_ = l.create_cq(context_, kReceives + kSends, nullptr, nullptr, 0);
    must(cq_ != nullptr, "no completion queue");
    ibv_qp_init_attr expected = {};
    expected.send_cq = expected.recv_cq = cq_;
    expected.qp_type = IBV_QPT_RC;
    expected.cap = {.max_send_wr = kSends,
                    .max_recv_wr = kReceives,
                    .max_send_sge = 1,
                    .max_recv_sge = 1,
                    .max_inline_data = kInline};
    qp_ = l.create_qp(pd_, &expected);
    must(qp_ != nullptr, "no queue pair");
    inline_max_ = std::min<std::size_t>(expected.cap.max_inline_data, kInline);
    ibv_qp_attr attr = {};
    attr.qp_state = IBV_QPS_INIT;
    attr.port_num = kPort;
    must(l.modify_qp(qp_, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS) == 0, "INIT");
}

void RawRc::join() {
    send_value(*link_, Name{qp_->qp_num, port_.lid, gid_});
    const Name other = receive_value<Name>(*link_);
    ibv_qp_attr attr = {};
    attr.qp_state = IBV_QPS_RTR;
    attr.path_mtu = port_.active_mtu;
    attr.dest_qp_num = other.pair;
    attr.min_rnr_timer = 12;
    attr.ah_attr.dlid = other.lid;
    attr.ah_attr.port_num = kPort;
    if (gid_index_ >= 0) {
        attr.ah_attr.is_global = 1;
        attr.ah_attr.grh.dgid = other.gid;
        attr.ah_attr.grh.sgid_index = static_cast<std::uint8_t>(gid_index_);
        attr.ah_attr.grh.hop_limit = 64;
    }
    must(library().modify_qp(qp_, &attr,
                             IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
                                 IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER) == 0,
         "RTR");
    attr = {};
    attr.qp_state = IBV_QPS_RTS;
    attr.timeout = 14;
    attr.retry_cnt = attr.rnr_retry = 7;
    must(library().modify_qp(qp_, &attr,
                             IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN |
                                 IBV_QP_MAX_QP_RD_ATOMIC) == 0,
         "RTS");
    send_value(*link_, true);
    receive_value<bool>(*link_);
}

void RawRc::post_receives(unsigned count) {
    ibv_sge piece = {reinterpret_cast<std::uintptr_t>(memory_ + kLargest), kLargest, mr_->lkey};
    ibv_recv_wr request = {};
    request.sg_list = &piece;
    request.num_sge = 1;
    ibv_recv_wr* refused = nullptr;
    for (; count > 0; --count) must(ibv_post_recv(qp_, &request, &refused) == 0, "posting a receive");
}

unsigned RawRc::reap() {
    std::array<ibv_wc, 16> done;
    const int n = ibv_poll_cq(cq_, static_cast<int>(done.size()), done.data());
    for (int i = 0; i < n; ++i) {
        const ibv_wc& c = done[static_cast<std::size_t>(i)];
        must(c.status == IBV_WC_SUCCESS, "a request fails");
        if (c.wr_id == kSent) {
            under_way_ -= kSignalEvery;
        } else {
            ++received_;
            ++used_;
        }
    }
    if (used_ >= kPostAgain) {
        post_receives(used_);
        used_ = 0;
    }
    return static_cast<unsigned>(n);
}

void RawRc::look(std::chrono::steady_clock::time_point since, unsigned& polls) {
    if (++polls % 4096 == 0) link_->look(since);
}

void RawRc::send(std::size_t size) {
    if (under_way_ >= kSends - kSignalEvery) {
        const auto since = std::chrono::steady_clock::now();
        for (unsigned polls = 0; under_way_ >= kSends - kSignalEvery; look(since, polls)) reap();
    }
    ibv_sge piece = {reinterpret_cast<std::uintptr_t>(memory_), static_cast<std::uint32_t>(size), mr_->lkey};
    ibv_send_wr request = {};
    request.wr_id = kSent;
    request.sg_list = &piece;
    request.num_sge = 1;
    request.opcode = IBV_WR_SEND;
    if (size <= inline_max_) request.send_flags = IBV_SEND_INLINE;
    if (++unsignalled_ % kSignalEvery == 0) request.send_flags |= IBV_SEND_SIGNALED;
    ++under_way_;
    ibv_send_wr* refused = nullptr;
    must(ibv_post_send(qp_, &request, &refused) == 0, "posting");
}

void RawRc::take() {
    std::chrono::steady_clock::time_point since{};
    for (unsigned polls = 0; received_ == 0;) {
        if (reap() != 0) continue;
        if (polls == 0) since = std::chrono::steady_clock::now();
        look(since, polls);
    }
    --received_;
}

void RawRc::ping(std::size_t size) {
    send(size);
    take();
}

void RawRc::pong(std::size_t size) {
    take();
    send(size);
}

void RawRc::send_window(std::size_t size) {
    for (std::size_t i = window_of(size); i > 0; --i) send(size);
    take();
}

void RawRc::take_window(std::size_t size) {
    for (std::size_t i = window_of(size); i > 0; --i) take();
    send(kAnswer);
}

}  // namespace selvage::conformance::bench::transfer
