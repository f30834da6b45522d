// One run of impl_faults (each_call.cc): two endpoints are opened, transfer, and are closed, while a call may fail. The
// worker's only thread.
#pragma once

#include <unistd.h>

#include "impl/test/faults/each_call_side.h"

namespace selvage::impl::test {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

inline constexpr auto kPatience = milliseconds(8000);  // of one wait
inline constexpr int kMostOperations = 256;

class Run {
public:
    // One run. Returns false when the fault was not reached.
    bool execute(const Fault* fault);

private:
    // each_call_run.cc: opening, single operations, and waiting for them.
    ssize_t start();
    void stop();

    Operation* operation();
    bool overrun() const { return sides_[0].overrun || sides_[1].overrun; }
    int poll();

    template <typename Done>
    bool wait(Done done) {
        const auto end = Clock::now() + kPatience;
        while (!done()) {
            if (overrun()) return false;
            poll();
            if (Clock::now() > end) return false;
        }
        return true;
    }

    // Posts until there is room.
    template <typename Call>
    void post(Operation* op, Call call) {
        ssize_t result = -FI_EAGAIN;
        op->state = State::Pending;
        const bool ended = wait([&] { return (result = call(op)) != -FI_EAGAIN; });
        if (!ended && !overrun()) violated("no room for an operation");
        if (!result) return;
        ++board->refused;
        if (!fits(result)) violated("a call: %s", fi_strerror(static_cast<int>(-result)));
        op->state = State::Refused;
    }

    Operation* send(int from, const std::byte* bytes, size_t size, uint64_t tag, uint64_t flags);
    Operation* receive(int at_side, std::byte* bytes, size_t size, uint64_t tag);
    void await(Operation* op, const char* what);
    // A receive that nothing comes for any more.
    void withdraw(int at_side, Operation* op);
    // What was sent before it has arrived, or never will. False: no message passes any more.
    bool synchronise(int from);

    struct Message {
        uint64_t tag;
        size_t size;
        bool delivery;
        Operation *sent, *taken;
    };

    void send_message(int from, Message* message, size_t size, bool delivery, size_t offset);
    void take_message(int at_side, Message* message, size_t size, size_t offset);
    void finish_messages(int from, Message* messages, size_t count);
    void lose(size_t size);

    template <typename Done>
    bool wait_shortly(Done done) {
        const auto end = Clock::now() + milliseconds(100);
        while (!done()) {
            poll();
            if (overrun() || Clock::now() > end) return false;
        }
        return true;
    }

    // After the fault: between the same endpoints, or new ones.
    void check_alive();

    // each_call_transfers.cc: what is transferred.
    void transfer();
    void exchange(int from, bool expected);
    void sleep();
    void multi_receive();
    void access_memory();
    void add();
    void many_messages();
    void discard_one(uint64_t tag);
    void many_accesses();
    void look_for_more();
    void look_for_untagged();
    void discard(int at_side, bool tagged);

    static Arena arenas_[2];

    Side sides_[2] = {Side(arenas_[0]), Side(arenas_[1])};
    Operation operations_[kMostOperations];
    int used_ = 0;
    int idle_ = 0;
    static inline uint64_t tag_ = 0;
};

}  // namespace selvage::impl::test
