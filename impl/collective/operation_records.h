// The records of collective operations, which are used again. Of those that are spare the first few are looked at for
// one whose operation had the same arguments: its plan and its rounds are there, and the memory for what is reduced on
// the way, so that a call that is repeated makes nothing anew.
//
// Called with the endpoint's lock held.
#pragma once

#include "impl/collective/group.h"

namespace selvage::impl {

// A call, checked as far as that can be done without the group.
struct CollectiveCall {
    fi_collective_op collective = FI_BARRIER;
    fi_addr_t group = FI_ADDR_NOTAVAIL;
    fi_addr_t root = FI_ADDR_NOTAVAIL;  // of those that have one
    const void* operand = nullptr;
    void* result = nullptr;
    size_t count = 0;    // of elements that a member gives or gets (Shape::unit)
    size_t element = 1;  // bytes
    fi_datatype type = FI_VOID;
    fi_op op = FI_NOOP;
    void* context = nullptr;
    uint64_t flags = 0;
};

class OperationRecords {
public:
    // Shape::in_memory
    explicit OperationRecords(bool in_memory) : in_memory_(in_memory) {}
    ~OperationRecords();
    OperationRecords(const OperationRecords&) = delete;
    OperationRecords& operator=(const OperationRecords&) = delete;

    // An operation at its first round, with the group's next number; nullptr when memory is short.
    CollectiveOperation* take(Group& group, const CollectiveCall& call, uint32_t root);
    // The same of Group::last. REQUIRES: repeats(group, call)
    CollectiveOperation* take_last(Group& group, const CollectiveCall& call);
    // Whether the record at hand is of an operation with the same arguments, and its memory is there.
    static bool repeats(const Group& group, const CollectiveCall& call);
    // Its blocks come as the group's next ones of its class do. REQUIRES: it is divided, and nothing of it is started.
    static void divide(CollectiveOperation& operation);
    // It is the group's last from now on.
    void give(CollectiveOperation& operation);
    void forget_last(Group& group);
    size_t taken() const { return taken_; }

    // To the round of operation.round_index, of which nothing is started. Behind the last one there is an empty one.
    static void enter_round(CollectiveOperation& operation);

private:
    static constexpr size_t kLookedAt = 4;
    static constexpr size_t kScratchKept = size_t{16} << 10;  // bytes that a spare record holds at most

    CollectiveOperation* pick(const Shape& shape, const CollectiveCall& call);
    void put(CollectiveOperation& operation);
    void begin(CollectiveOperation& operation, Group& group, const CollectiveCall& call, std::byte* scratch);

    const bool in_memory_;
    CollectiveOperation* spare_ = nullptr;
    size_t taken_ = 0;
};

}  // namespace selvage::impl
