// Which completions a program of operations should bring, roughly: it says how long the runner waits, and nothing else.
//
// No judgement hangs on it; where it expects too little the runner waits a short while, where it expects too much a
// long one.  Values only; one thread.
#pragma once

#include <rdma/fabric.h>

#include <algorithm>
#include <cstdint>
#include <deque>
#include <vector>

#include "conformance/case/case.h"
#include "conformance/case/operations.h"

namespace selvage::conformance {

/// What an endpoint promises of messages, as far as waiting for them goes.
struct Delivery {
    bool directed = false;  ///< FI_DIRECTED_RECV: receives look at the source
    bool reliable = true;   ///< else a send is over by itself, and what finds no receive may be lost
};

class Forecast {
public:
    Forecast(const TransferSequence& sequence, Delivery delivery)
        : sequence_(sequence), delivery_(delivery), due_(sequence.operations.size()), got_(sequence.operations.size()) {
        counts_ = std::any_of(sequence.operations.begin(), sequence.operations.end(), waits_for_counter);
        if (!counts_) return;
        posted_ = sequence.operations;
        for (model::Operation& o : posted_) o.ret = -1;
    }

    /// Operation `index` was posted, and taken.
    void posted(int index);
    /// An entry of an operation was read; -1: of none.  `released`: it says that a buffer for many messages is done
    /// with.
    void read(int index, bool released = false);
    /// True while something that should come has not.
    [[nodiscard]] bool waits() const;
    /// Receives that a message goes to, and no entry reports it, but its bytes.
    [[nodiscard]] const std::vector<int>& silent() const { return silent_; }
    /// True if a message or a receive is left that met no partner, or may be on its way to one. A message that was
    /// claimed and never received is one: its sender's operation is outstanding, and whatever is fenced waits for it.
    [[nodiscard]] bool leftovers() const;
    /// It was posted, and waits for a counter (FI_TRIGGER, deferred work).
    [[nodiscard]] bool holds(int index) const;
    /// How many transfers of a side that were deferred work the completion counter must have counted.
    [[nodiscard]] std::uint64_t work_due(model::Side side) const { return work_due_[static_cast<std::size_t>(side)]; }
    /// Receives that are still waiting for a message.
    [[nodiscard]] std::vector<int> waiting_receives() const;

private:
    struct Inbox {
        std::deque<int> messages;  ///< sends that no receive has met
        std::deque<int> receives;
    };
    [[nodiscard]] const model::Operation& at(int index) const {
        return sequence_.operations[static_cast<std::size_t>(index)];
    }
    Inbox& inbox(model::Side side, bool tagged) {
        return inboxes_[static_cast<std::size_t>(side) * 2 + (tagged ? 1 : 0)];
    }
    [[nodiscard]] bool reports_transmit(const model::Operation& o) const;
    [[nodiscard]] bool reports_receive(const model::Operation& o) const;
    [[nodiscard]] bool takes(const model::Operation& receive, const model::Operation& send) const;
    [[nodiscard]] bool is_multi(const model::Operation& receive) const;
    void due(int index) { ++due_[static_cast<std::size_t>(index)]; }
    void meet(int receive, int send);
    /// A buffer for many messages is not released yet, with so many bytes taken.
    [[nodiscard]] bool has_room(int receive, std::uint64_t used) const;
    void may_be_released(std::uint64_t used);
    void begin(int index);
    void complete_work(int index);
    void post_send(int index);
    void post_receive(int index);
    void look(int index);
    void cancel(int index);
    void reach(int index);

    const TransferSequence& sequence_;
    const Delivery delivery_;
    bool loose_ = false;  ///< a message that may be lost, or come to any later receive
    std::vector<int> due_, got_;
    std::vector<int> silent_;
    int strays_due_ = 0, strays_got_ = 0;
    Inbox inboxes_[4];
    std::vector<std::pair<int, std::uint64_t>> used_;  ///< multi-receives: bytes taken
    std::vector<int> in_use_;                          ///< multi-receives of which no entry has said so
    std::vector<std::pair<int, int>> claimed_;         ///< peek, message that has not been received
    bool counts_ = false;                              ///< some operation waits for a counter; else these are empty
    std::vector<model::Operation> posted_;             ///< the sequence; what has not been posted is refused
    std::vector<int> held_;                            ///< what waits now
    std::uint64_t work_due_[2] = {};                   ///< by side
};

}  // namespace selvage::conformance
