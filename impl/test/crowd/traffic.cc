// See traffic.h.
#include "impl/test/crowd/traffic.h"

namespace selvage::impl::test {
namespace {

constexpr uint64_t kReadSeed = 42;

size_t random_size(Random& random) {
    switch (random.below(8)) {
        case 0:
            return 8 + random.below(kMostBytes - 7);
        case 1:
            return 8 + random.below(100'000);
        case 2:
        case 3:
            return 8 + random.below(10'000);
        default:
            return 8 + random.below(300);
    }
}

}  // namespace

Traffic::Traffic(Station& station, Greeted greeted) : station_(station), greeted_(std::move(greeted)) {
    write_pattern(station_.memory.data() + kReadOffset, kMostBytes, kReadSeed);
    for (size_t i = 0; i < 2 * kReceives; ++i) {
        receives_[i].receive = true;
        receives_[i].bytes.resize(kMostBytes);
        receives_[i].reads = i % 2;
        post(receives_[i], i % 2);
    }
}

void Traffic::post(Pending& receive, bool tagged) {
    if (tagged) {
        SELVAGE_MUST(fi_trecv(station_.ep, receive.bytes.data(), receive.bytes.size(), nullptr, FI_ADDR_UNSPEC, 0,
                              ~uint64_t{0}, &receive));
    } else {
        SELVAGE_MUST(
            fi_recv(station_.ep, receive.bytes.data(), receive.bytes.size(), nullptr, FI_ADDR_UNSPEC, &receive));
    }
    receive.used = true;
}

Greeting Traffic::greeting(uint32_t id) const {
    Greeting result{};
    const std::string name = station_.name();
    result.key = station_.key;
    result.base = station_.base;
    result.id = id;
    result.name_size = static_cast<uint32_t>(name.size());
    memcpy(result.name, name.data(), name.size());
    return result;
}

void Traffic::take_receive(Pending& receive, const fi_cq_tagged_entry& entry) {
    const bool tagged = entry.flags & FI_TAGGED;
    const bool intact = is_pattern(receive.bytes.data(), entry.len);
    if (lenient && !intact && entry.tag != kGreetingTag) {
        ++damaged;
    } else if (tagged && entry.tag == kGreetingTag) {
        Greeting greeting;
        if (entry.len != sizeof greeting) give_up("a greeting", "of odd size");
        memcpy(&greeting, receive.bytes.data(), sizeof greeting);
        if (greeted_) greeted_(greeting);
    } else if (!intact) {
        give_up("a message", "has other bytes than were sent");
    }
    ++received;
    post(receive, tagged);
}

void Traffic::completed(const fi_cq_tagged_entry& entry) {
    auto* op = static_cast<Pending*>(entry.op_context);
    if (!op || !op->used) give_up("a completion", "of what was not posted, or has completed");
    op->used = false;
    if (op->receive) return take_receive(*op, entry);
    const std::byte* expected = station_.memory.data() + kReadOffset + op->offset;
    if (op->reads && !lenient && memcmp(op->bytes.data(), expected, op->size) != 0) {
        give_up("a remote read", "brought other bytes than are there");
    }
    --op->load->pending_;
    ++op->load->done;
}

void Traffic::failed(const fi_cq_err_entry& entry) {
    auto* op = static_cast<Pending*>(entry.op_context);
    if (!op || !op->used) give_up("an error completion", "of what was not posted, or has completed");
    op->used = false;
    if (op->receive) {
        ++receive_errors;
        return post(*op, entry.flags & FI_TAGGED);
    }
    --op->load->pending_;
    ++op->load->errors;
    op->load->last_error = entry.err;
}

void Traffic::poll() {
    fi_cq_tagged_entry entries[16];
    for (int i = 0; i < 8; ++i) {
        const ssize_t count = fi_cq_read(station_.cq, entries, 16);
        if (count == -FI_EAGAIN) return;
        if (count == -FI_EAVAIL) {
            fi_cq_err_entry entry{};
            SELVAGE_MUST(fi_cq_readerr(station_.cq, &entry, 0));
            failed(entry);
            continue;
        }
        SELVAGE_MUST(count);
        for (ssize_t k = 0; k < count; ++k) completed(entries[k]);
    }
}

Load::Load(Traffic& traffic, const Greeting& peer, uint64_t seed)
    : traffic_(traffic),
      random_(seed),
      address_(traffic.station().insert({peer.name, peer.name_size})),
      key_(peer.key),
      base_(peer.base) {
    for (Pending& op : operations_) {
        op.load = this;
        op.bytes.resize(kMostBytes);
    }
}

ssize_t Load::greet(uint32_t id) {
    const Greeting greeting = traffic_.greeting(id);
    Pending& op = operations_[0];
    if (op.used) return -FI_EAGAIN;
    memcpy(op.bytes.data(), &greeting, sizeof greeting);
    op.reads = false;
    const ssize_t result =
        fi_tsend(traffic_.station().ep, op.bytes.data(), sizeof greeting, nullptr, address_, kGreetingTag, &op);
    if (!result) op.used = true, ++pending_;
    return result;
}

ssize_t Load::post_atomic(Pending& op) {
    const uint64_t where = base_ + kCountOffset + random_.below(kCounters) * sizeof(uint64_t);
    auto* operand = reinterpret_cast<uint64_t*>(op.bytes.data());
    operand[0] = 1;
    if (random_.below(2)) {
        return fi_atomic(traffic_.station().ep, operand, 1, nullptr, address_, where, key_, FI_UINT64, FI_SUM, &op);
    }
    return fi_fetch_atomic(traffic_.station().ep, operand, 1, nullptr, operand + 1, nullptr, address_, where, key_,
                           FI_UINT64, FI_SUM, &op);
}

ssize_t Load::post(Pending& op) {
    Station& station = traffic_.station();
    op.size = random_size(random_);
    op.offset = random_.below((kMostBytes - op.size) / 8 + 1) * 8;
    op.reads = false;
    const uint64_t seed = random_.next();
    std::byte* bytes = op.bytes.data();
    switch (random_.below(6)) {
        case 0:
            write_pattern(bytes, op.size, seed);
            return fi_tsend(station.ep, bytes, op.size, nullptr, address_, seed >> 32, &op);
        case 1:
            write_pattern(bytes, op.size, seed);
            return fi_send(station.ep, bytes, op.size, nullptr, address_, &op);
        case 2:
            return fi_write(station.ep, bytes, op.size, nullptr, address_, base_ + op.offset, key_, &op);
        case 3:
            op.reads = true;
            return fi_read(station.ep, bytes, op.size, nullptr, address_, base_ + kReadOffset + op.offset, key_, &op);
        default:
            return post_atomic(op);
    }
}

void Load::step() {
    for (Pending& op : operations_) {
        if (op.used) continue;
        const ssize_t result = post(op);
        if (!result) {
            op.used = true;
            ++pending_;
        } else if (result != -FI_EAGAIN) {
            ++refused;
            last_error = static_cast<int>(-result);
        }
        return;
    }
}

}  // namespace selvage::impl::test
