// A member of a group as schedule.cc counts: others by their distance, and the parts of the data. Pure functions.
#pragma once

#include <algorithm>
#include <bit>

#include "impl/collective/schedule.h"

namespace selvage::impl {

// Distances 1, 2, 4, ... that are less than n.
inline uint32_t log_of(uint32_t n) { return static_cast<uint32_t>(std::bit_width(n - 1)); }
inline uint32_t rounds_of(uint32_t steps, uint32_t in_a_round) { return (steps + in_a_round - 1) / in_a_round; }

// As many whole elements as so many bytes have, and at least one; bytes.
inline uint64_t whole_elements(uint64_t bytes, const Shape& shape) {
    return std::max<uint64_t>(bytes - bytes % shape.element, shape.element);
}
// Pieces of so many bytes that the data of a member has; the last may be shorter.
inline uint32_t count_of_pieces(const Shape& shape, uint64_t bytes) {
    return static_cast<uint32_t>((shape.unit + bytes - 1) / bytes);
}

struct Member {
    const Shape& shape;

    uint32_t n() const { return shape.members; }
    uint32_t self() const { return shape.self; }
    // REQUIRES: distance <= n
    uint32_t after(uint32_t distance) const { return (self() + distance) % n(); }
    uint32_t before(uint32_t distance) const { return (self() + n() - distance) % n(); }
    // Counted from the root, and back.
    uint32_t relative() const { return (self() + n() - shape.root) % n(); }
    uint32_t absolute(uint32_t relative) const { return (relative + shape.root) % n(); }

    Part all(Space space) const { return {space, 0, shape.unit}; }
    // `count` of the blocks that members give or get.
    Part blocks(Space space, uint32_t index, uint32_t count = 1) const {
        return {space, index * shape.unit, count * shape.unit};
    }
    // The data as one part for each member, as equal as whole elements can be: those from `begin` on, before `end`.
    Part parts(Space space, uint32_t begin, uint32_t end) const {
        const uint64_t from = part_offset(begin);
        return {space, from, part_offset(end) - from};
    }
    Part part(Space space, uint32_t index) const { return parts(space, index, index + 1); }

private:
    uint64_t part_offset(uint32_t index) const {
        const uint64_t elements = shape.unit / shape.element, each = elements / n(), more = elements % n();
        return (each * index + std::min<uint64_t>(index, more)) * shape.element;
    }
};

// Of Pairwise and Direct in a round.
inline constexpr uint32_t kExchanges = kPairwiseMost - 1;
// Of Binomial and Linear in a round.
inline constexpr uint32_t kTransfers = 8;

// Distances of this round: from the first on, before the last.
struct Distances {
    Distances(const Member& m, uint32_t round)
        : begin(1 + round * kExchanges), end(std::min(begin + kExchanges, m.n())) {}
    uint32_t begin;
    uint32_t end;
};
// At least one, so that a member that is alone has a round for its local steps.
inline uint32_t exchange_rounds(const Member& m) { return std::max(rounds_of(m.n() - 1, kExchanges), 1u); }

inline Part in_scratch(uint64_t offset, uint64_t size) { return {Space::Scratch, offset, size}; }

// schedule_broadcast.cc, schedule_allreduce.cc: a round, by an algorithm of the operation, and how many there are.
void broadcast(const Member& m, Algorithm algorithm, uint32_t round, Round* out);
uint32_t broadcast_rounds(const Member& m, Algorithm algorithm);
// Blocks of Direct, if they are not whole.
uint32_t count_of_direct_blocks(const Shape& shape);
void allreduce(const Member& m, Algorithm algorithm, uint32_t round, Round* out);
uint32_t allreduce_rounds(const Member& m, Algorithm algorithm);
uint64_t allreduce_scratch(const Member& m, Algorithm algorithm);

}  // namespace selvage::impl
