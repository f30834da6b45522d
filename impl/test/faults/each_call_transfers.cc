// See each_call_run.h: what is transferred while a call fails.
#include <cstring>

#include "impl/test/crowd/random.h"
#include "impl/test/crowd/station.h"
#include "impl/test/faults/each_call_run.h"

namespace selvage::impl::test {

void Run::transfer() {
    at("expected messages");
    exchange(0, true);
    exchange(1, true);
    at("unexpected messages");
    exchange(0, false);
    at("sleeping");
    sleep();
    at("multi-receive");
    multi_receive();
    at("writes");
    access_memory();
    at("atomics");
    add();
    // Frames are many here, and what is kept of them is the point.
    const CallClass calls = kChoices[board->choice].calls;
    if (options.wide || (calls != CallClass::Send && calls != CallClass::Receive)) {
        at("many messages");
        many_messages();
        at("many accesses");
        many_accesses();
    }
    at("unexpected messages back");
    exchange(1, false);
    at("leftovers");
    look_for_more();
}

void Run::exchange(int from, bool expected) {
    constexpr size_t kSizes[] = {8, kShort, kMiddle, kLong, kHuge - 300'000, 0};
    constexpr size_t kCount = sizeof kSizes / sizeof *kSizes;
    Message messages[kCount];
    if (overrun()) return;
    const int before = used_;
    size_t offset = 0;
    for (Message& m : messages) m.tag = ++tag_;
    if (expected) {
        for (size_t i = 0; i < kCount; offset += kSizes[i++]) {
            take_message(1 - from, &messages[i], kSizes[i], offset);
        }
    }
    offset = 0;
    for (size_t i = 0; i < kCount; offset += kSizes[i++]) {
        send_message(from, &messages[i], kSizes[i], i % 2 == (from ? 1 : 0), offset);
    }
    if (!expected) {
        for (int i = 0; i < 8; ++i) poll();
        offset = 0;
        for (size_t i = 0; i < kCount; offset += kSizes[i++]) {
            take_message(1 - from, &messages[i], kSizes[i], offset);
        }
    }
    finish_messages(from, messages, kCount);
    if (!overrun()) used_ = before;
}

// Somebody waits on the queue.
void Run::sleep() {
    if (overrun()) return;
    const int before = used_;
    Message message{.tag = ++tag_, .size = 0, .delivery = false, .sent = nullptr, .taken = nullptr};
    take_message(1, &message, kShort, 0);
    fi_cq_tagged_entry entry{};
    Side& sleeper = sides_[1];
    if (!sleeper.poll()) {
        const ssize_t result = fi_cq_sread(sleeper.cq, &entry, 0, nullptr, 1);
        if (result != -FI_EAGAIN && result != -FI_EAVAIL && result < 0 && !fits(result)) {
            violated("fi_cq_sread: %zd", result);
        }
    }
    send_message(0, &message, kShort, true, 0);
    // Entries are read by poll() alone.
    (void)fi_cq_sread(sleeper.cq, &entry, 0, nullptr, 50);
    finish_messages(0, &message, 1);
    if (!overrun()) used_ = before;
}

void Run::multi_receive() {
    constexpr size_t kMessages = 12;
    if (overrun()) return;
    const int before = used_;
    Side& side = sides_[1];
    memset(side.received, 0, sizeof side.received);
    Operation* op = operation();
    op->shared = true;
    const iovec range{.iov_base = side.arena.many, .iov_len = sizeof side.arena.many};
    const fi_msg message{&range, nullptr, 1, FI_ADDR_UNSPEC, op, 0};
    post(op, [&](Operation*) { return fi_recvmsg(side.ep, &message, FI_MULTI_RECV | FI_COMPLETION); });
    bool delivered[kMessages] = {}, sent[kMessages] = {};
    for (size_t i = 0; i < kMessages; ++i) {
        std::byte* bytes = sides_[0].arena.out + i * kShort;
        bytes[0] = static_cast<std::byte>(i);
        write_pattern(bytes + 1, kShort - 1, ++tag_);
        if (i % 3 == 0) {
            ssize_t result = -FI_EAGAIN;
            const bool ended =
                wait([&] { return (result = fi_inject(sides_[0].ep, bytes, kShort, sides_[0].peer)) != -FI_EAGAIN; });
            if (!ended && !overrun()) violated("no room for an injected message");
            sent[i] = !result;
            continue;
        }
        Operation* out = operation();
        const iovec source{.iov_base = bytes, .iov_len = kShort};
        const fi_msg what{&source, nullptr, 1, sides_[0].peer, out, 0};
        post(out, [&](Operation*) {
            return fi_sendmsg(sides_[0].ep, &what, FI_COMPLETION | (i % 3 == 1 ? FI_DELIVERY_COMPLETE : 0));
        });
        await(out, "a message into a multi-receive buffer");
        sent[i] = out->state == State::Done;
        delivered[i] = sent[i] && i % 3 == 1;
    }
    const auto all = [&] {
        for (size_t i = 0; i < kMessages; ++i) {
            if (sent[i] && !side.received[i]) return false;
        }
        return true;
    };
    if (!wait_shortly(all)) synchronise(0);
    if (overrun()) return;
    for (size_t i = 0; i < kMessages; ++i) {
        if (side.received[i]) continue;
        if (delivered[i] && op->state != State::Refused) violated("message %zu was delivered and is not there", i);
        if (sent[i]) lose(kShort);
    }
    if (op->state == State::Pending) {
        op->shared = false;
        withdraw(1, op);
    }
    // What came without a receive is discarded.
    look_for_untagged();
    if (!overrun()) used_ = before;
}

void Run::access_memory() {
    if (overrun()) return;
    const int before = used_;
    Side& here = sides_[0];
    Side& there = sides_[1];
    const uint64_t key = fi_mr_key(there.mr);
    const bool by_address = here.info->domain_attr->mr_mode & FI_MR_VIRT_ADDR;
    const uint64_t base = by_address ? reinterpret_cast<uintptr_t>(there.arena.region) : 0;
    for (const size_t size : {size_t{8}, kMiddle, kLong, kHuge}) {
        memset(there.arena.region, 0, size);
        write_pattern(here.arena.out, size, ++tag_);
        Operation* op = operation();
        post(op,
             [&](Operation* o) { return fi_write(here.ep, here.arena.out, size, nullptr, here.peer, base, key, o); });
        await(op, "a write");
        if (op->state == State::Done && memcmp(there.arena.region, here.arena.out, size) != 0) {
            violated("a write of %zu bytes has other bytes", size);
        }
        if (overrun()) return;
        // A write that failed may still be on its way.
        if (op->state != State::Done) synchronise(0);
        write_pattern(there.arena.region, size, ++tag_);
        memset(here.arena.local, 0, size);
        op = operation();
        post(op,
             [&](Operation* o) { return fi_read(here.ep, here.arena.local, size, nullptr, here.peer, base, key, o); });
        await(op, "a read");
        if (op->state == State::Done && memcmp(there.arena.region, here.arena.local, size) != 0) {
            violated("a read of %zu bytes has other bytes", size);
        }
        if (overrun()) return;
    }
    used_ = before;
}

void Run::add() {
    if (overrun()) return;
    const int before = used_;
    Side& here = sides_[0];
    Side& there = sides_[1];
    const uint64_t key = fi_mr_key(there.mr);
    const bool by_address = here.info->domain_attr->mr_mode & FI_MR_VIRT_ADDR;
    const uint64_t base = by_address ? reinterpret_cast<uintptr_t>(there.arena.region) : 0;
    uint64_t value = 0;
    memcpy(there.arena.region, &value, sizeof value);
    uint64_t least = 0, most = 0;
    for (uint64_t i = 0; i < 4; ++i) {
        uint64_t one = 1, result = ~uint64_t{0};
        Operation* op = operation();
        post(op, [&](Operation* o) {
            return i % 2 ? fi_fetch_atomic(here.ep, &one, 1, nullptr, &result, nullptr, here.peer, base, key, FI_UINT64,
                                           FI_SUM, o)
                         : fi_atomic(here.ep, &one, 1, nullptr, here.peer, base, key, FI_UINT64, FI_SUM, o);
        });
        await(op, "an atomic");
        if (overrun()) return;
        const bool done = op->state == State::Done;
        if (done && i % 2 && (result < least || result > most)) violated("an atomic fetched %lu", result);
        least += done;
        most += op->state != State::Refused;
    }
    synchronise(0);
    memcpy(&value, there.arena.region, sizeof value);
    if (value < least || value > most) violated("%lu additions, at least %lu", value, least);
    if (!overrun()) used_ = before;
}

// More than a slab of every pool has; one of them is discarded.
void Run::many_messages() {
    constexpr size_t kCount = 72, kSize = 600;
    static Message messages[kCount];
    if (overrun()) return;
    const int before = used_;
    for (size_t i = 0; i < kCount; ++i) {
        messages[i].tag = ++tag_;
        send_message(0, &messages[i], kSize, i % 2 == 0, i * kSize);
    }
    for (int i = 0; i < 8; ++i) poll();
    const size_t last = kCount - 1;
    for (size_t i = 0; i < last; ++i) take_message(1, &messages[i], kSize, i * kSize);
    discard_one(messages[last].tag);
    messages[last].taken = nullptr;
    finish_messages(0, messages, last);
    await(messages[last].sent, "a message that is discarded");
    if (!overrun()) used_ = before;
}

void Run::discard_one(uint64_t tag) {
    Operation* op = operation();
    const fi_msg_tagged look{nullptr, nullptr, 0, FI_ADDR_UNSPEC, tag, 0, op, 0};
    post(op, [&](Operation*) { return fi_trecvmsg(sides_[1].ep, &look, FI_PEEK | FI_DISCARD | FI_COMPLETION); });
    await(op, "a look for a message");
}

// Reads and writes that are under way together, with and without completions and data.
void Run::many_accesses() {
    constexpr size_t kCount = 10, kSize = 60'000;
    if (overrun()) return;
    const int before = used_;
    Side& here = sides_[0];
    Side& there = sides_[1];
    const uint64_t key = fi_mr_key(there.mr);
    const bool by_address = here.info->domain_attr->mr_mode & FI_MR_VIRT_ADDR;
    const uint64_t base = by_address ? reinterpret_cast<uintptr_t>(there.arena.region) : 0;
    Operation* reads[kCount];
    Operation* writes[kCount];
    write_pattern(here.arena.out, kCount * kSize, ++tag_);
    write_pattern(there.arena.region + kCount * kSize, kCount * kSize, ++tag_);
    for (size_t i = 0; i < kCount; ++i) {
        const size_t offset = i * kSize;
        writes[i] = operation();
        post(writes[i], [&](Operation* o) {
            return i % 2 ? fi_write(here.ep, here.arena.out + offset, kSize, nullptr, here.peer, base + offset, key, o)
                         : fi_writedata(here.ep, here.arena.out + offset, kSize, nullptr, i, here.peer, base + offset,
                                        key, o);
        });
        reads[i] = operation();
        post(reads[i], [&](Operation* o) {
            return fi_read(here.ep, here.arena.local + offset, kSize, nullptr, here.peer,
                           base + kCount * kSize + offset, key, o);
        });
        const bool ended = wait([&] {
            return fi_inject_write(here.ep, here.arena.out, 64, here.peer, base + kRegion - 64, key) != -FI_EAGAIN;
        });
        if (!ended && !overrun()) violated("no room for an injected write");
    }
    for (size_t i = 0; i < kCount; ++i) {
        const size_t offset = i * kSize;
        await(writes[i], "one of many writes");
        await(reads[i], "one of many reads");
        if (overrun()) return;
        if (writes[i]->state == State::Done &&
            memcmp(there.arena.region + offset, here.arena.out + offset, kSize) != 0) {
            violated("write %zu has other bytes", i);
        }
        if (reads[i]->state == State::Done &&
            memcmp(there.arena.region + kCount * kSize + offset, here.arena.local + offset, kSize) != 0) {
            violated("read %zu has other bytes", i);
        }
    }
    synchronise(0);
    if (!overrun()) used_ = before;
}

// Messages that have no receive.
void Run::look_for_more() {
    for (int i = 0; i < 2 && !overrun(); ++i) {
        synchronise(1 - i);
        discard(i, true);
    }
}

void Run::look_for_untagged() { discard(1, false); }

void Run::discard(int at_side, bool tagged) {
    for (int i = 0; i < 64 && !overrun(); ++i) {
        const int before = used_;
        Operation* op = operation();
        Side& side = sides_[at_side];
        const fi_msg_tagged any_tagged{nullptr, nullptr, 0, FI_ADDR_UNSPEC, 0, ~uint64_t{0}, op, 0};
        const fi_msg any{nullptr, nullptr, 0, FI_ADDR_UNSPEC, op, 0};
        constexpr uint64_t kFlags = FI_PEEK | FI_DISCARD | FI_COMPLETION;
        post(op, [&](Operation*) {
            return tagged ? fi_trecvmsg(side.ep, &any_tagged, kFlags)
                          : fi_recvmsg(side.ep, &any, FI_PEEK | FI_DISCARD | FI_COMPLETION);
        });
        await(op, "a look for messages");
        if (overrun()) return;
        used_ = before;
        if (op->state != State::Done) return;
    }
}

}  // namespace selvage::impl::test
