// Allreduce (schedule.h): by partners at doubling distances, around a ring, or with each other member.
#include <algorithm>
#include <bit>

#include "impl/collective/schedule_member.h"

namespace selvage::impl {
namespace {

constexpr uint64_t kDirectPart = 32u << 10;  // bytes of a member, in memory

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

// Partners at half of the distance each time reduce half of what both have; then all of it comes together again on the
// way back. The result may be where the operand is: what is written was sent in an earlier round, or is of this
// member's half.
void allreduce_halving(const Member& m, uint32_t round, Round* out) {
    const uint32_t self = m.self(), half = log_of(m.n());
    const bool gives = round >= half;
    const uint32_t distance = gives ? 1u << (round - half) : m.n() >> (round + 1);
    const uint32_t partner = self ^ distance;
    const auto block_of = [&](Space space, uint32_t member) {
        const uint32_t first = member & ~(distance - 1);
        return m.parts(space, first, first + distance);
    };
    const Part mine = block_of(Space::Result, self);
    if (gives) {
        out->receive(partner, block_of(Space::Result, partner));
        out->send(partner, mine);
        return;
    }
    const Space from = round ? Space::Result : Space::Operand;
    const Part other = in_scratch(0, mine.size);
    out->receive(partner, other);
    out->send(partner, block_of(from, partner));
    reduce_ordered(mine, block_of(from, self), other, partner < self, out);
}

// The data of Direct comes in blocks, one after the other: of each there is a part for every member. In memory a block
// is small enough to stay in the caches; elsewhere a round costs more than that.
struct DirectBlock {
    explicit DirectBlock(const Shape& shape, uint32_t index = 0) : block(shape) {
        const uint64_t part = whole_elements(kDirectPart, shape);
        size = shape.in_memory && !shape.whole ? part * shape.members : std::max<uint64_t>(shape.unit, 1);
        offset = index * size;
        block.unit = std::min(size, shape.unit - offset);
    }
    Part part(Space space, uint32_t index) const {
        Part result = Member{block}.part(space, index);
        result.offset += offset;
        return result;
    }
    uint32_t count(const Shape& shape) const { return count_of_pieces(shape, size); }

    Shape block;    // this one's
    uint64_t size;  // of all but the last
    uint64_t offset;
};

// First as reduce_scatter, then as allgather. The result may be where the operand is: all of that was sent, or is of
// this member's part, before anything is written there.
void allreduce_direct(const Member& m, uint32_t round, Round* out) {
    const uint32_t self = m.self(), half = exchange_rounds(m);
    const DirectBlock block(m.shape, round / (2 * half));
    round %= 2 * half;
    const bool gives = round >= half;
    const Distances distances(m, gives ? round - half : round);
    const Part mine = block.part(Space::Result, self);
    const auto received = [&](uint32_t d) { return in_scratch((d - distances.begin) * mine.size, mine.size); };
    for (uint32_t d = distances.begin; d < distances.end; ++d) {
        out->receive(m.before(d), gives ? block.part(Space::Result, m.before(d)) : received(d));
        out->send(m.after(d), gives ? mine : block.part(Space::Operand, m.after(d)));
    }
    for (uint32_t d = distances.begin; d < distances.end && !gives; ++d)
        out->reduce(mine, d == 1 ? block.part(Space::Operand, self) : mine, received(d));
}
}  // namespace

uint32_t count_of_direct_blocks(const Shape& shape) { return DirectBlock(shape).count(shape); }

void allreduce(const Member& m, Algorithm algorithm, uint32_t round, Round* out) {
    switch (algorithm) {
        case Algorithm::Pairwise:
            return allreduce_pairwise(m, out);
        case Algorithm::Ring:
            return allreduce_ring(m, round, out);
        case Algorithm::Direct:
            return allreduce_direct(m, round, out);
        case Algorithm::Halving:
            return allreduce_halving(m, round, out);
        default:
            return allreduce_doubling(m, round, out);
    }
}

uint32_t allreduce_rounds(const Member& m, Algorithm algorithm) {
    switch (algorithm) {
        case Algorithm::Pairwise:
            return 1;
        case Algorithm::Ring:
            return 2 * (m.n() - 1);
        case Algorithm::Direct:
            return 2 * exchange_rounds(m) * DirectBlock(m.shape).count(m.shape);
        case Algorithm::Halving:
            return 2 * log_of(m.n());
        default:
            return std::max(Folded(m.n()).rounds(), 1u);
    }
}

uint64_t allreduce_scratch(const Member& m, Algorithm algorithm) {
    switch (algorithm) {
        case Algorithm::Pairwise:
            return (m.n() + 1) * m.shape.unit;
        case Algorithm::Ring:
            return m.part(Space::Result, 0).size;
        case Algorithm::Direct:
            return std::min(m.n() - 1, kExchanges) * m.part(Space::Result, 0).size;  // of a whole block
        case Algorithm::Halving:
            return m.parts(Space::Scratch, 0, m.n() / 2).size;
        default:
            return m.shape.unit;
    }
}

}  // namespace selvage::impl
