// See each_call_run.h: opening, single operations, and waiting for them.
#include "impl/test/faults/each_call_run.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "impl/test/crowd/random.h"
#include "impl/test/crowd/station.h"

namespace selvage::impl::test {

Arena Run::arenas_[2];

bool Run::execute(const Fault* fault) {
    at("open");
    if (fault) inject(*fault);
    ssize_t error = start();
    if (error) {
        ++board->failed_opens;
        if (!fault) violated("opening without a fault: %s", fi_strerror(static_cast<int>(-error)));
        if (fault && -error != fault->error && error != -FI_ENOMEM) {
            violated("opening: %s", fi_strerror(static_cast<int>(-error)));
        }
        stop();
        clear();
        if ((error = start())) violated("opening again: %s", fi_strerror(static_cast<int>(-error)));
    } else if (!board->idle) {
        transfer();
    }
    at("after the fault");
    if (sides_[0].ep && sides_[1].ep && !board->idle) check_alive();
    at("close");
    stop();
    const bool reached = injected();
    clear();
    return reached;
}

ssize_t Run::start() {
    for (Side& side : sides_) {
        const ssize_t error = side.open();
        if (error) return error;
        if (board->idle) return 0;
    }
    for (int i = 0; i < 2; ++i) {
        const ssize_t error = sides_[i].meet(sides_[1 - i]);
        if (error) return error;
    }
    return 0;
}

void Run::stop() {
    for (Side& side : sides_) side.close();
}

Operation* Run::operation() {
    if (used_ == kMostOperations) {
        fprintf(stderr, "too many operations\n");
        abort();
    }
    return &operations_[used_++];
}

int Run::poll() {
    ++board->steps;
    const int entries = sides_[0].poll() + sides_[1].poll();
    if (!entries && ++idle_ > 200) usleep(20);
    if (entries) idle_ = 0;
    return entries;
}

Operation* Run::send(int from, const std::byte* bytes, size_t size, uint64_t tag, uint64_t flags) {
    Operation* op = operation();
    const Side& side = sides_[from];
    const iovec range{.iov_base = const_cast<std::byte*>(bytes), .iov_len = size};
    const fi_msg_tagged message{&range, nullptr, 1, side.peer, tag, 0, op, 0};
    post(op, [&](Operation*) { return fi_tsendmsg(side.ep, &message, flags | FI_COMPLETION); });
    return op;
}

Operation* Run::receive(int at_side, std::byte* bytes, size_t size, uint64_t tag) {
    Operation* op = operation();
    op->buffer = bytes;
    const Side& side = sides_[at_side];
    post(op, [&](Operation* o) { return fi_trecv(side.ep, bytes, size, nullptr, FI_ADDR_UNSPEC, tag, 0, o); });
    return op;
}

void Run::await(Operation* op, const char* what) {
    if (!wait([&] { return op->state != State::Pending; }) && !overrun()) violated("%s: hangs", what);
}

void Run::withdraw(int at_side, Operation* op) {
    if (op->state != State::Pending) return;
    const ssize_t result = fi_cancel(&sides_[at_side].ep->fid, op);
    if (result && result != -FI_ENOENT) violated("fi_cancel: %zd", result);
    await(op, "a receive that was cancelled");
}

bool Run::synchronise(int from) {
    const auto end = Clock::now() + kPatience;
    static std::byte out[16], in[16];
    for (int attempt = 0; Clock::now() < end && !overrun(); ++attempt) {
        const uint64_t tag = ++tag_;
        write_pattern(out, sizeof out, tag);
        const int before = used_;
        Operation* taken = receive(1 - from, in, sizeof in, tag);
        Operation* sent = send(from, out, sizeof out, tag, FI_DELIVERY_COMPLETE);
        await(sent, "a message after the fault");
        const bool arrived = sent->state == State::Done;
        if (arrived && wait([&] { return taken->state != State::Pending; }) && taken->state == State::Done) {
            if (memcmp(in, out, sizeof in) != 0) violated("other bytes");
            used_ = before;
            return true;
        }
        if (arrived && taken->state == State::Pending && !overrun()) violated("a delivered message is not there");
        withdraw(1 - from, taken);
        if (overrun()) return false;
        used_ = before;
        usleep(200);
    }
    return false;
}

void Run::send_message(int from, Message* message, size_t size, bool delivery, size_t offset) {
    message->size = size;
    message->delivery = delivery;
    std::byte* bytes = sides_[from].arena.out + offset;
    write_pattern(bytes, size, message->tag);
    message->sent = send(from, bytes, size, message->tag, delivery ? FI_DELIVERY_COMPLETE : 0);
}

void Run::take_message(int at_side, Message* message, size_t size, size_t offset) {
    message->taken = receive(at_side, sides_[at_side].arena.in + offset, size, message->tag);
}

void Run::finish_messages(int from, Message* messages, size_t count) {
    for (size_t i = 0; i < count; ++i) await(messages[i].sent, "a message");
    const auto all_taken = [&] {
        return std::all_of(messages, messages + count,
                           [](const Message& m) { return m.taken->state != State::Pending; });
    };
    const bool all_sent =
        std::all_of(messages, messages + count, [](const Message& m) { return m.sent->state == State::Done; });
    // Without a fault nothing is lost, and no other message is needed to see that.
    if (!all_sent || !wait_shortly(all_taken)) (void)synchronise(from);
    for (int i = 0; i < 3; ++i) poll();
    if (overrun()) return;
    for (size_t i = 0; i < count; ++i) {
        Message& m = messages[i];
        if (m.taken->state == State::Done) {
            const bool right = m.taken->length == m.size &&
                               is_pattern(static_cast<const std::byte*>(m.taken->buffer), m.size) &&
                               memcmp(m.taken->buffer, &m.tag, std::min(m.size, sizeof m.tag)) == 0;
            if (!right) violated("message %zu of %zu bytes has other bytes", i, m.size);
            continue;
        }
        if (m.sent->state == State::Done && m.delivery) {
            violated("message %zu of %zu bytes was delivered and is not there: %s", i, m.size,
                     fi_strerror(m.taken->error));
        }
        if (m.sent->state == State::Done) lose(m.size);
        withdraw(1 - from, m.taken);
    }
}

void Run::lose(size_t size) {
    ++board->lost;
    if (options.verbose) printf("n = %ld, %s: %zu bytes lost\n", board->n.load(), board->step, size);
}

void Run::check_alive() {
    const bool alive = !overrun() && synchronise(0) && synchronise(1);
    if (alive) return;
    const bool excused = overrun();
    if (!excused) violated("no message passes between the same endpoints any more");
    ++board->renewed;
    stop();
    for (Side& side : sides_) side.overrun = false;
    used_ = 0;
    clear();
    const ssize_t error = start();
    if (error) return violated("opening new endpoints: %s", fi_strerror(static_cast<int>(-error)));
    if (!synchronise(0) || !synchronise(1)) violated("no message passes between new endpoints");
}

}  // namespace selvage::impl::test
