// Broadcasts (schedule.h): down one of two trees, along a chain, or in parts down a tree and then around a ring.
#include <algorithm>
#include <bit>

#include "impl/collective/schedule_member.h"

namespace selvage::impl {
namespace {

constexpr uint64_t kSegment = 32u << 10;  // bytes, of Chain
constexpr uint32_t kSegmentsAtOnce = 4;   // in a round

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

// The segments of a broadcast, of whole elements, and the rounds in which a member receives them or passes them on.
struct Segments {
    explicit Segments(const Shape& shape)
        : unit(shape.unit), size(whole_elements(kSegment, shape)), count(count_of_pieces(shape, size)) {}
    uint32_t rounds() const { return rounds_of(count, kSegmentsAtOnce); }
    Part operator[](uint32_t index) const {
        return {Space::Operand, index * size, std::min(size, unit - index * size)};
    }
    template <typename Do>
    void for_each(uint32_t round, Do with_segment) const {
        const uint32_t begin = round * kSegmentsAtOnce, end = std::min(begin + kSegmentsAtOnce, count);
        for (uint32_t i = begin; i < end; ++i) with_segment((*this)[i]);
    }

    uint64_t unit;
    uint64_t size;
    uint32_t count;
};

// A member passes on what it has received in the round before, while more comes.
void broadcast_chain(const Member& m, uint32_t round, Round* out) {
    const Segments segments(m.shape);
    const uint32_t relative = m.relative(), late = relative ? 1 : 0;
    if (relative) segments.for_each(round, [&](const Part& part) { out->receive(m.before(1), part); });
    if (round < late || relative + 1 == m.n()) return;
    segments.for_each(round - late, [&](const Part& part) { out->send(m.after(1), part); });
}

// Down a tree in which each member has at most two below it, counted from the root: a root of a binomial tree has as
// many as the tree is deep.
void broadcast_binary(const Member& m, uint32_t round, Round* out) {
    const uint32_t relative = m.relative(), first = 2 * relative + 1;
    if (relative && !round) return out->receive(m.absolute((relative - 1) / 2), m.all(Space::Operand));
    for (uint32_t child = first; child < std::min(first + 2, m.n()); ++child) {
        out->send(m.absolute(child), m.all(Space::Operand));
    }
}
uint32_t binary_rounds(const Member& m) {
    const uint32_t relative = m.relative();
    return (relative ? 1 : 0) + (2 * relative + 1 < m.n() ? 1 : 0);
}

// The root sends to each other member.
void broadcast_linear(const Member& m, uint32_t round, Round* out) {
    if (m.relative()) return out->receive(m.shape.root, m.all(Space::Operand));
    const uint32_t begin = 1 + round * kTransfers, end = std::min(begin + kTransfers, m.n());
    for (uint32_t d = begin; d < end; ++d) out->send(m.absolute(d), m.all(Space::Operand));
}

uint32_t linear_rounds(const Member& m) { return m.relative() ? 1 : rounds_of(m.n() - 1, kTransfers); }

uint32_t chain_rounds(const Member& m) {
    const bool passes_on = m.relative() && m.relative() + 1 < m.n();
    return Segments(m.shape).rounds() + (passes_on ? 1 : 0);
}

}  // namespace

void broadcast(const Member& m, Algorithm algorithm, uint32_t round, Round* out) {
    if (algorithm == Algorithm::Chain) return broadcast_chain(m, round, out);
    if (algorithm == Algorithm::Linear) return broadcast_linear(m, round, out);
    if (algorithm == Algorithm::Binary) return broadcast_binary(m, round, out);
    const TreeNode node(m);
    if (round < node.rounds()) {
        broadcast_tree(m, node, round, algorithm == Algorithm::ScatterRing, out);
    } else {
        broadcast_ring(m, round - node.rounds(), out);
    }
}
uint32_t broadcast_rounds(const Member& m, Algorithm algorithm) {
    if (algorithm == Algorithm::Chain) return chain_rounds(m);
    if (algorithm == Algorithm::Linear) return linear_rounds(m);
    if (algorithm == Algorithm::Binary) return binary_rounds(m);
    const uint32_t down = TreeNode(m).rounds();
    return algorithm == Algorithm::ScatterRing ? down + m.n() - 1 : down;
}

}  // namespace selvage::impl
