// See schedule.h.
#include "impl/collective/schedule.h"

#include <algorithm>
#include <bit>

#include "impl/collective/schedule_member.h"

namespace selvage::impl {
namespace {

// Where the ways of an operation cross, in bytes (docs/performance-collectives.md).
constexpr uint64_t kLongAllreduce = 64u << 10;  // for each member: a ring has more rounds the more there are
constexpr uint64_t kShortAllreduce = 128;
constexpr uint64_t kShortAllreduceOfFour = 1024;
constexpr uint64_t kShortBroadcast = 256;
constexpr uint64_t kTwoBelow = 64u << 10;  // in memory, for more than four members
constexpr uint64_t kLongBroadcast = 4u << 20;
constexpr uint64_t kLongAllgather = 4u << 10;  // of each member
constexpr uint64_t kLongAllgatherOfFew = 128u << 10;
constexpr uint64_t kDoublingAllgather = 16u << 10;  // of eight that are not in memory
constexpr uint64_t kDirect = 64u << 10;
constexpr uint64_t kHalving = 64u << 10;
constexpr uint64_t kHalvingOfFour = 128u << 10;
constexpr uint64_t kDirectInMemory = 32u << 10;
constexpr uint64_t kChain = 64u << 10;
constexpr uint64_t kChainOnOneHost = 128u << 10;  // and no longer: whole messages down a tree need fewer turns
constexpr uint64_t kPiece = 16u << 10;            // of an allgather or alltoall in memory: a frame
constexpr uint64_t kInPieces = 256u << 10;  // and the longest block that comes in such, but for allgathers of some
// Beyond so many that are not in memory, a message to each costs more than some rounds.
constexpr uint32_t kPairwiseFar = 5;

void dissemination(const Member& m, uint32_t round, Round* out) {
    const uint32_t distance = 1u << round;
    out->signal(m.after(distance), m.before(distance));
}

// Smallest distances first. What has come together at a member is in the result of the root, and in scratch behind what
// is received elsewhere.
void reduce(const Member& m, uint32_t round, Round* out) {
    if (m.n() == 1) return out->copy(m.all(Space::Result), m.all(Space::Operand));
    const uint32_t distance = 1u << round, relative = m.relative(), place = relative % (2 * distance);
    const uint64_t unit = m.shape.unit;
    const bool begun = round && relative + 1 < m.n();
    const Part sum = relative ? in_scratch(unit, unit) : m.all(Space::Result);
    const Part mine = begun ? sum : m.all(Space::Operand);
    if (place == distance) {
        out->send(m.absolute(relative - distance), mine);
    } else if (place == 0 && relative + distance < m.n()) {
        out->receive(m.absolute(relative + distance), in_scratch(0, unit));
        out->reduce(sum, mine, in_scratch(0, unit));
    }
}

void allgather_ring(const Member& m, uint32_t round, Round* out) {
    if (!round) out->copy(m.blocks(Space::Result, m.self()), m.all(Space::Operand));
    if (m.n() == 1) return;
    out->receive(m.before(1), m.blocks(Space::Result, m.before(round + 1)));
    out->send(m.after(1), round ? m.blocks(Space::Result, m.before(round)) : m.all(Space::Operand));
}

// Scratch has the blocks of the members from this one on.
void allgather_bruck(const Member& m, uint32_t round, Round* out) {
    const uint32_t n = m.n(), distance = 1u << round, count = std::min(distance, n - distance);
    out->receive(m.after(distance), m.blocks(Space::Scratch, distance, count));
    out->send(m.before(distance), round ? m.blocks(Space::Scratch, 0, count) : m.all(Space::Operand));
    if (!round) out->copy(m.blocks(Space::Scratch, 0), m.all(Space::Operand));
    if (2 * distance < n) return;
    const uint32_t behind = n - m.self();
    out->copy(m.blocks(Space::Result, m.self(), behind), m.blocks(Space::Scratch, 0, behind));
    out->copy(m.blocks(Space::Result, 0, m.self()), m.blocks(Space::Scratch, behind, m.self()));
}

// What is there doubles, and is in its place at once.
void allgather_doubling(const Member& m, uint32_t round, Round* out) {
    const uint32_t self = m.self(), distance = 1u << round, partner = self ^ distance;
    const auto blocks_of = [&](uint32_t member) { return m.blocks(Space::Result, member & ~(distance - 1), distance); };
    out->receive(partner, blocks_of(partner));
    out->send(partner, round ? blocks_of(self) : m.all(Space::Operand));
    if (!round) out->copy(blocks_of(self), m.all(Space::Operand));
}

void barrier_pairwise(const Member& m, uint32_t round, Round* out) {
    const Distances distances(m, round);
    for (uint32_t d = distances.begin; d < distances.end; ++d) out->signal(m.after(d), m.before(d));
}

// Blocks between members in memory come in pieces, one round of exchanges after the other: what is no longer than a
// frame is not announced, and of all that is under way at a time more stays in a cache.
struct Pieces {
    explicit Pieces(const Member& m) : exchanges(exchange_rounds(m)) {
        const bool any_length = m.shape.collective == FI_ALLGATHER && m.n() <= kPairwiseFar;
        const bool few = any_length || m.shape.unit <= kInPieces;
        const bool one = m.shape.whole || !m.shape.in_memory || m.n() <= 2 || m.n() > kPairwiseMost || !few;
        size = one ? std::max<uint64_t>(m.shape.unit, 1) : whole_elements(kPiece, m.shape);
        count = std::max(count_of_pieces(m.shape, size), 1u);
    }
    uint32_t rounds() const { return exchanges * count; }
    // What of a block is the round's.
    Part operator()(uint32_t round, const Part& block) const {
        const uint64_t offset = round / exchanges * size;
        return {block.space, block.offset + offset, std::min(size, block.size - offset)};
    }

    uint32_t exchanges;
    uint64_t size;
    uint32_t count;
};

void allgather_pairwise(const Member& m, uint32_t round, Round* out) {
    const Pieces pieces(m);
    const Distances distances(m, round % pieces.exchanges);
    for (uint32_t d = distances.begin; d < distances.end; ++d) {
        out->receive(m.before(d), pieces(round, m.blocks(Space::Result, m.before(d))));
        out->send(m.after(d), pieces(round, m.all(Space::Operand)));
    }
    if (!round) out->copy(m.blocks(Space::Result, m.self()), m.all(Space::Operand));
}

void alltoall(const Member& m, uint32_t round, Round* out) {
    const Pieces pieces(m);
    const Distances distances(m, round % pieces.exchanges);
    for (uint32_t d = distances.begin; d < distances.end; ++d) {
        out->receive(m.before(d), pieces(round, m.blocks(Space::Result, m.before(d))));
        out->send(m.after(d), pieces(round, m.blocks(Space::Operand, m.after(d))));
    }
    if (!round) out->copy(m.blocks(Space::Result, m.self()), m.blocks(Space::Operand, m.self()));
}

void reduce_scatter(const Member& m, uint32_t round, Round* out) {
    if (m.n() == 1) return out->copy(m.all(Space::Result), m.all(Space::Operand));
    const Distances distances(m, round);
    const auto received = [&](uint32_t d) { return m.blocks(Space::Scratch, d - distances.begin); };
    for (uint32_t d = distances.begin; d < distances.end; ++d) {
        out->receive(m.before(d), received(d));
        out->send(m.after(d), m.blocks(Space::Operand, m.after(d)));
    }
    for (uint32_t d = distances.begin; d < distances.end; ++d) {
        const Part sum = d == 1 ? m.blocks(Space::Operand, m.self()) : m.all(Space::Result);
        out->reduce(m.all(Space::Result), sum, received(d));
    }
}

void with_root(const Member& m, uint32_t round, bool scatters, Round* out) {
    const uint32_t root = m.shape.root;
    if (m.self() != root) {
        scatters ? out->receive(root, m.all(Space::Result)) : out->send(root, m.all(Space::Operand));
        return;
    }
    const uint32_t begin = 1 + round * kTransfers, end = std::min(begin + kTransfers, m.n());
    for (uint32_t d = begin; d < end; ++d) {
        const uint32_t member = m.absolute(d);
        scatters ? out->send(member, m.blocks(Space::Operand, member))
                 : out->receive(member, m.blocks(Space::Result, member));
    }
    if (round) return;
    scatters ? out->copy(m.all(Space::Result), m.blocks(Space::Operand, root))
             : out->copy(m.blocks(Space::Result, root), m.all(Space::Operand));
}

void allgather(const Member& m, Algorithm algorithm, uint32_t round, Round* out) {
    switch (algorithm) {
        case Algorithm::Pairwise:
            return allgather_pairwise(m, round, out);
        case Algorithm::Bruck:
            return allgather_bruck(m, round, out);
        case Algorithm::RecursiveDoubling:
            return allgather_doubling(m, round, out);
        default:
            return allgather_ring(m, round, out);
    }
}

Algorithm choose_allreduce(const Shape& shape, bool few) {
    const uint64_t shortest = shape.members <= 4 ? kShortAllreduceOfFour : kShortAllreduce;
    if (few && shape.in_memory && shape.unit <= shortest) return Algorithm::Pairwise;
    if (few && !shape.in_memory && std::has_single_bit(shape.members)) {
        const uint64_t longest = shape.members == 4 ? kHalvingOfFour : kHalving;
        return shape.unit < longest ? Algorithm::RecursiveDoubling : Algorithm::Halving;
    }
    if (few && shape.unit >= (shape.in_memory ? kDirectInMemory : kDirect)) return Algorithm::Direct;
    return shape.unit >= kLongAllreduce * shape.members && shape.members > 1 ? Algorithm::Ring
                                                                             : Algorithm::RecursiveDoubling;
}

Algorithm choose_allgather(const Shape& shape, bool few) {
    if (few && shape.in_memory) return Algorithm::Pairwise;
    if (few && shape.unit >= kLongAllgather && shape.members <= kPairwiseFar) return Algorithm::Pairwise;
    if (few && std::has_single_bit(shape.members) && shape.unit >= kDoublingAllgather) {
        return Algorithm::RecursiveDoubling;
    }
    if (few) return shape.unit < kLongAllgatherOfFew ? Algorithm::Bruck : Algorithm::Pairwise;
    return shape.members > 2 && shape.unit < kLongAllgather ? Algorithm::Bruck : Algorithm::Ring;
}

Algorithm choose(const Shape& shape) {
    const bool crowd = shape.members > 2;
    const bool few = crowd && shape.members <= kPairwiseMost;
    switch (shape.collective) {
        case FI_BARRIER:
            return few && shape.in_memory ? Algorithm::Pairwise : Algorithm::Dissemination;
        case FI_BROADCAST:
            if (few && !shape.in_memory && shape.unit >= kChain) {
                return shape.one_host && shape.unit >= kChainOnOneHost ? Algorithm::Binary : Algorithm::Chain;
            }
            if (few && shape.in_memory && shape.unit <= kShortBroadcast) return Algorithm::Linear;
            if (crowd && shape.unit >= kLongBroadcast) return Algorithm::ScatterRing;
            if (few && shape.in_memory && (shape.members <= 4 || shape.unit < kTwoBelow)) return Algorithm::Binary;
            return few && !shape.in_memory && shape.members > 4 && shape.unit <= kShortBroadcast ? Algorithm::Binary
                                                                                                 : Algorithm::Binomial;
        case FI_REDUCE:
            return Algorithm::Binomial;
        case FI_ALLREDUCE:
            return choose_allreduce(shape, few);
        case FI_ALLGATHER:
            return choose_allgather(shape, few);
        case FI_ALLTOALL:
        case FI_REDUCE_SCATTER:
            return Algorithm::Pairwise;
        default:
            return Algorithm::Linear;
    }
}

uint32_t allgather_rounds(const Member& m, Algorithm algorithm) {
    if (algorithm == Algorithm::Bruck || algorithm == Algorithm::RecursiveDoubling) return log_of(m.n());
    return algorithm == Algorithm::Ring ? std::max(m.n() - 1, 1u) : Pieces(m).rounds();
}

uint32_t count_rounds(const Member& m, Algorithm algorithm) {
    switch (m.shape.collective) {
        case FI_BARRIER:
            return algorithm == Algorithm::Pairwise ? exchange_rounds(m) : log_of(m.n());
        case FI_BROADCAST:
            return broadcast_rounds(m, algorithm);
        case FI_REDUCE:
            return std::max(log_of(m.n()), 1u);
        case FI_ALLREDUCE:
            return allreduce_rounds(m, algorithm);
        case FI_ALLGATHER:
            return allgather_rounds(m, algorithm);
        case FI_ALLTOALL:
            return Pieces(m).rounds();
        case FI_REDUCE_SCATTER:
            return exchange_rounds(m);
        default:
            return m.relative() ? 1 : std::max(rounds_of(m.n() - 1, kTransfers), 1u);
    }
}

uint64_t count_scratch(const Member& m, Algorithm algorithm) {
    switch (m.shape.collective) {
        case FI_REDUCE:
            return 2 * m.shape.unit;
        case FI_ALLREDUCE:
            return allreduce_scratch(m, algorithm);
        case FI_ALLGATHER:
            return algorithm == Algorithm::Bruck ? m.n() * m.shape.unit : 0;
        case FI_REDUCE_SCATTER:
            return std::min(m.n() - 1, kExchanges) * m.shape.unit;
        default:
            return 0;
    }
}

bool is_divided(Shape shape, Algorithm algorithm) {
    shape.whole = false;
    if (shape.collective == FI_ALLREDUCE) return algorithm == Algorithm::Direct && count_of_direct_blocks(shape) > 1;
    return algorithm == Algorithm::Pairwise && Pieces(Member{shape}).count > 1;
}

}  // namespace

Plan plan_of(const Shape& shape, Algorithm algorithm) {
    const Member m{shape};
    return {shape, algorithm, count_rounds(m, algorithm), count_scratch(m, algorithm), is_divided(shape, algorithm)};
}

Plan plan_of(const Shape& shape) { return plan_of(shape, choose(shape)); }

void make_round(const Plan& plan, uint32_t round, Round* out) {
    const Member m{plan.shape};
    out->count = 0;
    out->has_local = false;
    switch (plan.shape.collective) {
        case FI_BARRIER:
            plan.algorithm == Algorithm::Pairwise ? barrier_pairwise(m, round, out) : dissemination(m, round, out);
            break;
        case FI_BROADCAST:
            broadcast(m, plan.algorithm, round, out);
            break;
        case FI_REDUCE:
            reduce(m, round, out);
            break;
        case FI_ALLREDUCE:
            allreduce(m, plan.algorithm, round, out);
            break;
        case FI_ALLGATHER:
            allgather(m, plan.algorithm, round, out);
            break;
        case FI_ALLTOALL:
            alltoall(m, round, out);
            break;
        case FI_REDUCE_SCATTER:
            reduce_scatter(m, round, out);
            break;
        default:
            with_root(m, round, plan.shape.collective == FI_SCATTER, out);
            break;
    }
}

}  // namespace selvage::impl
