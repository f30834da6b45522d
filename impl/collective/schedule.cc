// See schedule.h.
#include "impl/collective/schedule.h"

#include <algorithm>
#include <bit>

#include "impl/collective/schedule_member.h"

namespace selvage::impl {
namespace {

// Where the ways of an operation cross, in bytes (docs/performance-shm.md).
constexpr uint64_t kLongAllreduce = 64u << 10;  // for each member: a ring has more rounds the more there are
constexpr uint64_t kShortAllreduce = 128;
constexpr uint64_t kLongBroadcast = 4u << 20;
constexpr uint64_t kLongAllgather = 4u << 10;  // of each member

constexpr uint32_t kExchanges = kPairwiseMost - 1;  // of Pairwise in a round
constexpr uint32_t kTransfers = 8;                  // of Linear in a round

void dissemination(const Member& m, uint32_t round, Round* out) {
    const uint32_t distance = 1u << round;
    out->signal(m.after(distance), m.before(distance));
}

// A tree from the root: a member has those below it whose distance is less than the lowest bit of its own number, the
// farthest first, since they have most to pass on.
struct TreeNode {
    explicit TreeNode(const Member& m)
        : relative(m.relative()), reach(relative ? relative & -relative : std::bit_ceil(m.n())) {
        for (uint32_t d = reach / 2; d; d /= 2) children += relative + d < m.n();
    }
    uint32_t relative;
    uint32_t reach;  // of itself and all below it
    uint32_t children = 0;

    uint32_t receives() const { return relative ? 1 : 0; }
    uint32_t rounds() const { return receives() + rounds_of(children, kTransfers); }
};

// `in_parts`: only what a member and those below it are to have.
void broadcast_tree(const Member& m, const TreeNode& node, uint32_t round, bool in_parts, Round* out) {
    const auto data = [&](uint32_t first, uint32_t reach) {
        return in_parts ? m.parts(Space::Operand, first, std::min(first + reach, m.n())) : m.all(Space::Operand);
    };
    if (round < node.receives()) {
        return out->receive(m.absolute(node.relative - node.reach), data(node.relative, node.reach));
    }
    const uint32_t begin = (round - node.receives()) * kTransfers;
    uint32_t child = 0;
    for (uint32_t d = node.reach / 2; d; d /= 2) {
        if (node.relative + d >= m.n()) continue;
        const bool now = child >= begin && child < begin + kTransfers;
        if (now) out->send(m.absolute(node.relative + d), data(node.relative + d, d));
        ++child;
    }
}

void broadcast_ring(const Member& m, uint32_t round, Round* out) {
    const uint32_t n = m.n(), relative = m.relative();
    out->receive(m.before(1), m.part(Space::Operand, (relative + n - round - 1) % n));
    out->send(m.after(1), m.part(Space::Operand, (relative + n - round) % n));
}

void broadcast(const Member& m, Algorithm algorithm, uint32_t round, Round* out) {
    const TreeNode node(m);
    if (round < node.rounds()) {
        broadcast_tree(m, node, round, algorithm == Algorithm::ScatterRing, out);
    } else {
        broadcast_ring(m, round - node.rounds(), out);
    }
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

// Members beyond a power of two give their data to their neighbours first, and get the result from them.
struct Folded {
    explicit Folded(uint32_t n) : count(std::bit_floor(n)), extra(n - count) {}
    uint32_t count;
    uint32_t extra;

    bool gives(uint32_t member) const { return member < 2 * extra && member % 2 == 0; }
    bool takes(uint32_t member) const { return member < 2 * extra && member % 2; }
    uint32_t number(uint32_t member) const { return member < 2 * extra ? member / 2 : member - extra; }
    uint32_t member(uint32_t number) const { return number < extra ? 2 * number + 1 : number + extra; }
    uint32_t rounds() const { return static_cast<uint32_t>(std::bit_width(count)) - 1 + (extra ? 2 : 0); }
};

// In the order of members, so that all of them have the same result to the last bit.
void reduce_ordered(const Part& to, const Part& mine, const Part& other, bool other_first, Round* out) {
    other_first ? out->reduce(to, other, mine) : out->reduce(to, mine, other);
}

void allreduce_doubling(const Member& m, uint32_t round, Round* out) {
    if (m.n() == 1) return out->copy(m.all(Space::Result), m.all(Space::Operand));
    const Folded folded(m.n());
    const Part operand = m.all(Space::Operand), result = m.all(Space::Result), other = in_scratch(0, m.shape.unit);
    const uint32_t self = m.self();
    const bool first = round == 0, last = round + 1 == folded.rounds();
    if (folded.extra && (first || last)) {
        if (folded.gives(self)) {
            first ? out->send(self + 1, operand) : out->receive(self + 1, result);
        } else if (folded.takes(self)) {
            if (last) return out->send(self - 1, result);
            out->receive(self - 1, other);
            out->reduce(result, other, operand);
        } else if (first) {
            out->copy(result, operand);
        }
        return;
    }
    if (folded.gives(self)) return;
    const uint32_t number = folded.number(self);
    const uint32_t partner = number ^ (1u << (folded.extra ? round - 1 : round));
    const Part mine = first ? operand : result;
    out->receive(folded.member(partner), other);
    out->send(folded.member(partner), mine);
    reduce_ordered(result, mine, other, partner < number, out);
}

// Everybody has all operands, and reduces them in the order of members. The sum so far is behind what is received, for
// the result may be where the operand is.
void allreduce_pairwise(const Member& m, Round* out) {
    const uint32_t n = m.n();
    const auto operand_of = [&](uint32_t member) {
        return member == m.self() ? m.all(Space::Operand) : m.blocks(Space::Scratch, member);
    };
    for (uint32_t d = 1; d < n; ++d) {
        out->receive(m.before(d), operand_of(m.before(d)));
        out->send(m.after(d), m.all(Space::Operand));
    }
    const Part sum = m.blocks(Space::Scratch, n);
    for (uint32_t i = 1; i < n; ++i) {
        out->reduce(i + 1 == n ? m.all(Space::Result) : sum, i == 1 ? operand_of(0) : sum, operand_of(i));
    }
}

void allreduce_ring(const Member& m, uint32_t round, Round* out) {
    const uint32_t n = m.n(), self = m.self();
    if (round < n - 1) {
        const uint32_t sent = m.before(round), received = m.before(round + 1);
        const Part other = in_scratch(0, m.part(Space::Result, received).size);
        out->receive(m.before(1), other);
        out->send(m.after(1), m.part(round ? Space::Result : Space::Operand, sent));
        out->reduce(m.part(Space::Result, received), m.part(Space::Operand, received), other);
        return;
    }
    round -= n - 1;
    out->receive(m.before(1), m.part(Space::Result, (self + n - round) % n));
    out->send(m.after(1), m.part(Space::Result, (self + n + 1 - round) % n));
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

// Distances of this round: from the first on, before the last.
struct Distances {
    Distances(const Member& m, uint32_t round)
        : begin(1 + round * kExchanges), end(std::min(begin + kExchanges, m.n())) {}
    uint32_t begin;
    uint32_t end;
};

void barrier_pairwise(const Member& m, uint32_t round, Round* out) {
    const Distances distances(m, round);
    for (uint32_t d = distances.begin; d < distances.end; ++d) out->signal(m.after(d), m.before(d));
}

void allgather_pairwise(const Member& m, uint32_t round, Round* out) {
    const Distances distances(m, round);
    for (uint32_t d = distances.begin; d < distances.end; ++d) {
        out->receive(m.before(d), m.blocks(Space::Result, m.before(d)));
        out->send(m.after(d), m.all(Space::Operand));
    }
    if (!round) out->copy(m.blocks(Space::Result, m.self()), m.all(Space::Operand));
}

void alltoall(const Member& m, uint32_t round, Round* out) {
    const Distances distances(m, round);
    for (uint32_t d = distances.begin; d < distances.end; ++d) {
        out->receive(m.before(d), m.blocks(Space::Result, m.before(d)));
        out->send(m.after(d), m.blocks(Space::Operand, m.after(d)));
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

void allreduce(const Member& m, Algorithm algorithm, uint32_t round, Round* out) {
    switch (algorithm) {
        case Algorithm::Pairwise:
            return allreduce_pairwise(m, out);
        case Algorithm::Ring:
            return allreduce_ring(m, round, out);
        default:
            return allreduce_doubling(m, round, out);
    }
}

void allgather(const Member& m, Algorithm algorithm, uint32_t round, Round* out) {
    switch (algorithm) {
        case Algorithm::Pairwise:
            return allgather_pairwise(m, round, out);
        case Algorithm::Bruck:
            return allgather_bruck(m, round, out);
        default:
            return allgather_ring(m, round, out);
    }
}

Algorithm choose(const Shape& shape) {
    const bool crowd = shape.members > 2;
    const bool few = crowd && shape.members <= kPairwiseMost;
    const bool direct = few && shape.in_memory;
    switch (shape.collective) {
        case FI_BARRIER:
            return direct ? Algorithm::Pairwise : Algorithm::Dissemination;
        case FI_BROADCAST:
            return crowd && shape.unit >= kLongBroadcast ? Algorithm::ScatterRing : Algorithm::Binomial;
        case FI_REDUCE:
            return Algorithm::Binomial;
        case FI_ALLREDUCE:
            if (direct && shape.unit <= kShortAllreduce) return Algorithm::Pairwise;
            return shape.unit >= kLongAllreduce * shape.members && shape.members > 1 ? Algorithm::Ring
                                                                                     : Algorithm::RecursiveDoubling;
        case FI_ALLGATHER:
            if (direct || (few && shape.unit >= kLongAllgather)) return Algorithm::Pairwise;
            return crowd && shape.unit < kLongAllgather ? Algorithm::Bruck : Algorithm::Ring;
        case FI_ALLTOALL:
        case FI_REDUCE_SCATTER:
            return Algorithm::Pairwise;
        default:
            return Algorithm::Linear;
    }
}

uint32_t count_rounds(const Shape& shape, Algorithm algorithm) {
    const uint32_t n = shape.members;
    switch (algorithm) {
        case Algorithm::Dissemination:
            return log_of(n);
        case Algorithm::Binomial:
            return shape.collective == FI_REDUCE ? std::max(log_of(n), 1u) : TreeNode(Member{shape}).rounds();
        case Algorithm::ScatterRing:
            return TreeNode(Member{shape}).rounds() + n - 1;
        case Algorithm::RecursiveDoubling:
            return std::max(Folded(n).rounds(), 1u);
        case Algorithm::Ring:
            return shape.collective == FI_ALLREDUCE ? 2 * (n - 1) : std::max(n - 1, 1u);
        case Algorithm::Bruck:
            return log_of(n);
        case Algorithm::Pairwise:
            return std::max(rounds_of(n - 1, kExchanges), 1u);
        case Algorithm::Linear:
            return shape.self == shape.root ? std::max(rounds_of(n - 1, kTransfers), 1u) : 1;
    }
    return 0;
}

uint64_t count_scratch(const Shape& shape, Algorithm algorithm) {
    const Member m{shape};
    switch (shape.collective) {
        case FI_REDUCE:
            return 2 * shape.unit;
        case FI_ALLREDUCE:
            if (algorithm == Algorithm::Pairwise) return (shape.members + 1) * shape.unit;
            return algorithm == Algorithm::Ring ? m.part(Space::Result, 0).size : shape.unit;
        case FI_ALLGATHER:
            return algorithm == Algorithm::Bruck ? shape.members * shape.unit : 0;
        case FI_REDUCE_SCATTER:
            return std::min(shape.members - 1, kExchanges) * shape.unit;
        default:
            return 0;
    }
}

}  // namespace

Plan plan_of(const Shape& shape, Algorithm algorithm) {
    return {shape, algorithm, count_rounds(shape, algorithm), count_scratch(shape, algorithm)};
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
