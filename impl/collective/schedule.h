// What one member of a group does in a collective operation, as plain values: pure functions of the operation, the
// group and the member. Nothing here moves a byte; the executor (collectives.h) runs it over messages, and a test runs
// it in a simulator.
//
// A plan has rounds. In a round all sends and receives are under way together; when all of them are complete, the local
// steps (Copy, Reduce) are done in their order, and the next round begins. Between two members the order of sends is
// the order of receives, over all rounds, and each message is as long as the receive for it: messages need no tags.
//
// Bytes are in three spaces: what the application gave to be read, where it wants the result, and memory of the library
// (Plan::scratch bytes). Broadcast has its buffer in Operand, and writes there.
#pragma once

#include "impl/base/rdma.h"

namespace selvage::impl {

enum class Algorithm : uint8_t {
    Dissemination,      // barrier: to and from members at distances 1, 2, 4, ...
    Binomial,           // broadcast, reduce: down or up a tree
    Binary,             // broadcast: down a tree of two below each member
    Chain,              // broadcast: segments from each member to the next, one behind the other
    ScatterRing,        // broadcast: parts down a tree, then around a ring
    RecursiveDoubling,  // allreduce, allgather: with partners at distances 1, 2, 4, ...
    Halving,            // allreduce: partners at distances n / 2, ..., 2, 1 reduce halves of what they have, and give
                        // them back at distances 1, 2, ..., n / 2
    Ring,               // allgather: blocks go around; allreduce: they are reduced on their way, and go around again
    Bruck,              // allgather: what is there doubles in each round
    Pairwise,           // alltoall, reduce_scatter, barrier, allgather: each member with each other one; allreduce: all
                        // operands are everywhere, in a group of kPairwiseMost
    Linear,             // scatter, gather, broadcast: the root with each member
    Direct,             // allreduce: each member reduces a part of all operands, and gives it to all others
};

// With so many members each exchanges messages with each other one in a single round.
inline constexpr uint32_t kPairwiseMost = 8;

// The operation as one member sees it. `unit`: bytes that a member gives or gets: all of the data for broadcast, reduce
// and allreduce, else a block for one member.
struct Shape {
    fi_collective_op collective;
    uint32_t members;
    uint32_t self;
    uint32_t root;
    uint64_t unit;
    uint32_t element;  // bytes of an element; parts of the data are made of whole ones
    // All members are on one machine, by a transport of shared memory: a message costs little beside a round. The same
    // at all members.
    bool in_memory = false;
    // Of what may be divided (Plan): no block is. The same at all members.
    bool whole = false;
    // All members are on one machine, though not in memory: a turn of a member costs more than a copy, and no network
    // is slower than these. The same at all members.
    bool one_host = false;

    bool operator==(const Shape&) const = default;
};

struct Plan {
    Shape shape;
    Algorithm algorithm;
    uint32_t rounds;
    uint64_t scratch;
    // Blocks come in pieces, one round of exchanges after the other, or, where Shape::whole is set, would come so
    // without it. Each member has a message from each other one in the first round, of more than
    // ShortMessage::kBytesMost, and `scratch` is the same either way.
    bool divided;
};

enum class Space : uint8_t { Operand, Result, Scratch };

struct Part {
    Space space;
    uint64_t offset;
    uint64_t size;
};

struct Step {
    enum class Kind : uint8_t { Send, Receive, Copy, Reduce };
    Kind kind;
    uint32_t member;  // Send, Receive
    Part part;        // what is sent, or written
    Part first;       // Copy: the source; Reduce: part = first op second
    Part second;

    bool is_local() const { return kind == Kind::Copy || kind == Kind::Reduce; }
};

struct Round {
    static constexpr uint32_t kStepsMost = 24;

    uint32_t count = 0;
    bool has_local = false;  // of these
    Step steps[kStepsMost];  // the first `count` of them

    void receive(uint32_t member, const Part& part) { add({Step::Kind::Receive, member, part, {}, {}}); }
    void send(uint32_t member, const Part& part) { add({Step::Kind::Send, member, part, {}, {}}); }
    void copy(const Part& to, const Part& from) { add({Step::Kind::Copy, 0, to, from, {}}); }
    void reduce(const Part& to, const Part& first, const Part& second) {
        add({Step::Kind::Reduce, 0, to, first, second});
    }
    // A barrier's messages have no bytes; of other operations what has none is left out, at both ends.
    void signal(uint32_t to, uint32_t from) {
        steps[count++] = {Step::Kind::Receive, from, {}, {}, {}};
        steps[count++] = {Step::Kind::Send, to, {}, {}, {}};
    }

private:
    void add(const Step& step) {
        if (!step.part.size) return;
        steps[count++] = step;
        has_local |= step.is_local();
    }
};

// REQUIRES: 0 < members, self < members, root < members, unit a multiple of element, and no product overflows.
Plan plan_of(const Shape& shape);
// The same, by an algorithm that the operation has in such a group.
Plan plan_of(const Shape& shape, Algorithm algorithm);
// REQUIRES: round < plan.rounds
void make_round(const Plan& plan, uint32_t round, Round* out);

}  // namespace selvage::impl
