// See link.h.
#include "impl/transport/verbs/link.h"

#include <sys/mman.h>

#include <algorithm>

namespace selvage::impl::verbs {
namespace {

constexpr size_t kPage = 4096;
constexpr size_t kMemory = (size_t{kCredits} + kReceives) * kSlotBytes;
constexpr size_t kMapped = (kMemory + kPage - 1) / kPage * kPage;

}  // namespace

// Mapped, not from the heap: the pages of a region that the device has locked behave oddly in a forked child, and
// nothing else is to lie in them.
int Link::allocate() {
    void* block = mmap(nullptr, kMapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (block == MAP_FAILED) return -FI_ENOMEM;
    mapped_ = kMapped;
    sends_ = static_cast<std::byte*>(block);
    receives_ = sends_ + size_t{kCredits} * kSlotBytes;
    memory_ = device_.library->register_iova(device_.pd, block, mapped_, reinterpret_cast<uintptr_t>(block),
                                             IBV_ACCESS_LOCAL_WRITE);
    if (!memory_) return as_error(errno);
    lkey_ = memory_->lkey;
    return 0;
}

int Link::create_pair(rdma_cm_id* id, ibv_cq* completions) {
    const auto pieces = static_cast<uint32_t>(std::max(device_.limits.max_sge, 2));
    ibv_qp_init_attr wanted{};
    wanted.send_cq = wanted.recv_cq = completions;
    wanted.qp_type = IBV_QPT_RC;
    wanted.cap.max_send_wr = kPosted;
    wanted.cap.max_recv_wr = kReceives;
    wanted.cap.max_send_sge = std::min(pieces, 1 + kAccessRanges);
    wanted.cap.max_recv_sge = 1;
    wanted.cap.max_inline_data = kInlineMax;
    ibv_qp_init_attr attempt = wanted;
    if (device_.library->create_qp(id, device_.pd, &attempt)) {
        attempt = wanted;
        attempt.cap.max_inline_data = 0;
        if (device_.library->create_qp(id, device_.pd, &attempt)) return as_error(errno);
    }
    id_ = id;
    qp_ = id->qp;
    first_ticket_ = Ticket{.send = true, .number = 0, .link = index_, .generation = generation_}.pack();
    short_.sg_list = short_pieces_;
    short_.opcode = IBV_WR_SEND_WITH_IMM;
    inline_max_ = std::min(attempt.cap.max_inline_data, kInlineMax);
    ranges_max_ = std::min(attempt.cap.max_send_sge, kAccessRanges);
    return 0;
}

int Link::open(rdma_cm_id* id, ibv_cq* completions) {
    int error = allocate();
    if (!error) error = create_pair(id, completions);
    for (uint16_t i = 0; i < kReceives && !error; ++i) {
        receive_pieces_[i] = {reinterpret_cast<uintptr_t>(buffer(i)), kSlotBytes, lkey_};
        receive_requests_[i] = {};
        receive_requests_[i].wr_id =
            Ticket{.send = false, .number = i, .link = index_, .generation = generation_}.pack();
        receive_requests_[i].sg_list = &receive_pieces_[i];
        receive_requests_[i].num_sge = 1;
        give_back(i, false);  // the other end knows of the first ones
        if (used_count_ == kRepost && !repost()) error = -FI_EIO;
    }
    if (error) close();
    return error;
}

void Link::close() {
    if (qp_) device_.library->destroy_qp(id_);
    qp_ = nullptr;
    for (; tail_ != head_; ++tail_) {
        if (!(marks_[tail_ % kPosted] & kIsAccess)) continue;
        if (DeviceRange* range = posted_[tail_ % kPosted].acquired) release_mr(range);
    }
    if (memory_) (void)device_.library->dereg_mr(memory_);
    memory_ = nullptr;
    if (mapped_) munmap(sends_, mapped_);
    mapped_ = 0;
}

bool Link::repost() {
    static_assert(kReceives % kRepost == 0, "all of them are posted when the link is opened");
    owed_ += returned_;
    used_count_ = returned_ = 0;
    ibv_recv_wr* first = used_;
    used_ = nullptr;
    ibv_recv_wr* refused;
    return ibv_post_recv(qp_, first, &refused) == 0;
}

// Has a receive of its own at the other end, and a place of its own here.
bool Link::send_credits(bool marker) {
    if (posted() == kPosted) return true;  // sent later, with a frame or when there is a place again
    ibv_send_wr& request = next_request(0, marker);
    request.opcode = IBV_WR_SEND_WITH_IMM;
    request.imm_data = word(Word::Return);
    request.num_sge = 0;
    return finish(false);
}

bool Link::send_note(const void* bytes, size_t size, Word kind) {
    std::byte* buffer = slot();
    ibv_send_wr& request = next_request(kTakesSlot, true);
    --credits_;
    memcpy(buffer, bytes, size);
    request.opcode = IBV_WR_SEND_WITH_IMM;
    request.imm_data = word(kind);
    request.sg_list[0] = {reinterpret_cast<uintptr_t>(buffer), static_cast<uint32_t>(size), lkey_};
    request.num_sge = 1;
    return finish(false);
}

namespace {

// The region that the application named for a range, if it is one of the device and holds it.
ibv_mr* named_region(const DeviceAccess& access, size_t i) {
    const MemoryRegion* region = access.regions ? access.regions[i] : nullptr;
    return region && region->device && holds(*region, access.local[i]) ? device_region(*region) : nullptr;
}

}  // namespace

// Local memory of an access: inline, as the application registered it, by way of a send buffer, or acquired. False when
// none of these works.
bool Link::describe(const DeviceAccess& access, ibv_send_wr& request, Posted& place, uint8_t* marks) {
    ibv_sge* pieces = request.sg_list;
    const bool writes = access.kind == DeviceAccess::Kind::Write;
    request.num_sge = 0;
    if (!access.length) return true;
    const bool named = access.count <= ranges_max_ && access.regions;
    if (writes && access.length <= inline_max_ && access.count <= ranges_max_) {
        request.send_flags |= IBV_SEND_INLINE;
        for (size_t i = 0; i < access.count; ++i) {
            pieces[request.num_sge++] = {reinterpret_cast<uintptr_t>(access.local[i].iov_base),
                                         static_cast<uint32_t>(access.local[i].iov_len), 0};
        }
        return true;
    }
    if (named) {
        size_t i = 0;
        for (; i < access.count; ++i) {
            const ibv_mr* region = named_region(access, i);
            if (!region || access.local[i].iov_len > UINT32_MAX) break;
            pieces[i] = {device_address(*access.regions[i], access.local[i].iov_base),
                         static_cast<uint32_t>(access.local[i].iov_len), region->lkey};
        }
        if (i == access.count) {
            request.num_sge = static_cast<int>(i);
            return true;
        }
    }
    if (access.length <= kSlotBytes && (writes || access.count == 1)) {
        std::byte* buffer = slot();
        *marks |= kTakesSlot;
        pieces[0] = {reinterpret_cast<uintptr_t>(buffer), static_cast<uint32_t>(access.length), lkey_};
        request.num_sge = 1;
        for (size_t i = 0; writes && i < access.count; ++i) {
            if (access.local[i].iov_len) memcpy(buffer, access.local[i].iov_base, access.local[i].iov_len);
            buffer += access.local[i].iov_len;
        }
        if (!writes) {
            place.copy_from = buffer;
            place.copy_to = access.local[0].iov_base;
            place.copy_size = static_cast<uint32_t>(access.length);
        }
        return true;
    }
    if (access.count != 1 || access.length > UINT32_MAX) return false;
    // To copy what comes in frames costs less than to register for it once.
    const bool once = access.kind != DeviceAccess::Kind::Fetch || access.length >= kLongUnnamed;
    place.acquired = acquire_mr(device_, access.local[0], writes ? 0 : IBV_ACCESS_LOCAL_WRITE, once);
    if (!place.acquired) return false;
    pieces[0] = {reinterpret_cast<uintptr_t>(access.local[0].iov_base), static_cast<uint32_t>(access.length),
                 place.acquired->registered->lkey};
    request.num_sge = 1;
    return true;
}

void Link::access_done(Posted& place, bool good) {
    if (place.copy_size && place.copy_to && good) memcpy(place.copy_to, place.copy_from, place.copy_size);
    if (place.acquired) release_mr(place.acquired);
}

bool Link::access(const DeviceAccess& access, bool* broken) {
    *broken = false;
    Posted place{};
    place.token = access.token;
    const bool waited_for = access.kind != DeviceAccess::Kind::Write && access.kind != DeviceAccess::Kind::Fetch;
    uint8_t marks = waited_for ? kIsAccess | kReads : kIsAccess;
    ibv_sge pieces[1 + kAccessRanges];
    ibv_send_wr described{};
    described.sg_list = pieces;
    if (access.length > device_.message_max || !describe(access, described, place, &marks)) return false;

    ibv_send_wr& request = next_request(marks, true);
    posted_[(head_ - 1) % kPosted] = place;
    ++accesses_;
    if (marks & kReads) read_under_way(1);
    request.num_sge = described.num_sge;
    for (int i = 0; i < described.num_sge; ++i) request.sg_list[i] = pieces[i];
    request.send_flags |= described.send_flags;
    switch (access.kind) {
        case DeviceAccess::Kind::Write:
            request.opcode = access.has_data ? IBV_WR_RDMA_WRITE_WITH_IMM : IBV_WR_RDMA_WRITE;
            request.imm_data = htonl(access.data);
            if (access.has_data) --credits_;
            break;
        case DeviceAccess::Kind::Read:
        case DeviceAccess::Kind::Fetch:
            request.opcode = IBV_WR_RDMA_READ;
            break;
        case DeviceAccess::Kind::Add:
        case DeviceAccess::Kind::CompareSwap: {
            const bool adds = access.kind == DeviceAccess::Kind::Add;
            request.opcode = adds ? IBV_WR_ATOMIC_FETCH_AND_ADD : IBV_WR_ATOMIC_CMP_AND_SWP;
            request.wr.atomic.remote_addr = access.address;
            request.wr.atomic.rkey = static_cast<uint32_t>(access.key);
            request.wr.atomic.compare_add = adds ? access.operand : access.compare;
            request.wr.atomic.swap = access.operand;
            *broken = !finish(false);
            return true;
        }
    }
    request.wr.rdma.remote_addr = access.address;
    request.wr.rdma.rkey = static_cast<uint32_t>(access.key);
    *broken = !finish(false);
    return true;
}

}  // namespace selvage::impl::verbs
