// The schedules of collectives, run by a simulator for groups of 1 to 33 members: every operation by every algorithm
// that it has, held against what the page says that each member gets. Members go on in a random order, and messages
// between two members wait in a queue, as the engine's do.
#include "impl/collective/schedule.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <deque>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <span>
#include <vector>

namespace selvage::impl {
namespace {

// Elements are sums of terms, one for each member and place, so that what is added twice or is missing shows.
using Element = uint64_t;
Element term(uint32_t member, uint64_t place) {
    return (uint64_t{1} << (member % 60)) + (place + 1) * 1000003 * (member + 1);
}

struct Simulation;

struct SimulatedMember {
    Plan plan;
    std::vector<Element> spaces[3];
    uint32_t round = 0;
    Round steps;
    bool begun = false;
    std::vector<bool> ended;

    Element* at(const Part& part) {
        EXPECT_EQ(part.offset % sizeof(Element), 0u);
        std::vector<Element>& space = spaces[static_cast<size_t>(part.space)];
        EXPECT_LE((part.offset + part.size) / sizeof(Element), space.size());
        return space.data() + part.offset / sizeof(Element);
    }
};

class Simulation {
public:
    Simulation(fi_collective_op collective, std::optional<Algorithm> algorithm, uint32_t members, uint32_t root,
               uint64_t count, bool in_memory, bool whole)
        : random_(members * 131 + root), count_(count) {
        for (uint32_t self = 0; self < members; ++self) {
            const Shape shape{collective,      members,   self, root, count * sizeof(Element),
                              sizeof(Element), in_memory, whole};
            SimulatedMember& m = members_.emplace_back();
            m.plan = algorithm ? plan_of(shape, *algorithm) : plan_of(shape);
            m.spaces[0].resize(count * members);
            m.spaces[1].resize(count * members);
            m.spaces[2].resize(m.plan.scratch / sizeof(Element));
            for (uint64_t i = 0; i < count * members; ++i) m.spaces[0][i] = term(self, i);
        }
    }

    // False: they wait for each other.
    bool run() {
        size_t left = members_.size(), idle = 0;
        while (left && idle < 100 * members_.size()) {
            const auto chosen = static_cast<uint32_t>(random_() % members_.size());
            SimulatedMember& m = members_[chosen];
            if (m.round == m.plan.rounds && !m.begun) {
                if (over_.insert(chosen).second) --left;
                ++idle;
                continue;
            }
            idle = move(chosen) ? 0 : idle + 1;
        }
        for (const auto& [pair, messages] : between_) EXPECT_TRUE(messages.empty()) << "left over";
        return !left;
    }

    const std::vector<Element>& result(uint32_t member) const { return members_[member].spaces[1]; }
    const std::vector<Element>& operand(uint32_t member) const { return members_[member].spaces[0]; }

private:
    // One step of a member, if there is one that can be done.
    bool move(uint32_t self) {
        SimulatedMember& m = members_[self];
        if (!m.begun) {
            make_round(m.plan, m.round, &m.steps);
            EXPECT_LE(m.steps.count, Round::kStepsMost);
            m.ended.assign(m.steps.count, false);
            m.begun = true;
            for (uint32_t i = 0; i < m.steps.count; ++i) {
                const Step& step = m.steps.steps[i];
                if (step.kind != Step::Kind::Send) continue;
                EXPECT_NE(step.member, self);
                const Element* from = m.at(step.part);
                between_[{self, step.member}].emplace_back(from, from + step.part.size / sizeof(Element));
                m.ended[i] = true;
            }
            return true;
        }
        // Receives from one member are in their order; those of several are not.
        std::set<uint32_t> waiting;
        bool all = true;
        for (uint32_t i = 0; i < m.steps.count; ++i) {
            const Step& step = m.steps.steps[i];
            if (step.kind != Step::Kind::Receive || m.ended[i]) continue;
            auto& messages = between_[{step.member, self}];
            if (waiting.contains(step.member) || messages.empty()) {
                waiting.insert(step.member);
                all = false;
                continue;
            }
            EXPECT_EQ(messages.front().size() * sizeof(Element), step.part.size);
            std::ranges::copy(messages.front(), m.at(step.part));
            messages.pop_front();
            m.ended[i] = true;
            return true;
        }
        if (!all) return false;
        for (uint32_t i = 0; i < m.steps.count; ++i) {
            const Step& step = m.steps.steps[i];
            if (!step.is_local()) continue;
            Element* to = m.at(step.part);
            for (size_t e = 0; e < step.part.size / sizeof(Element); ++e) {
                to[e] =
                    step.kind == Step::Kind::Copy ? m.at(step.first)[e] : m.at(step.first)[e] + m.at(step.second)[e];
            }
        }
        ++m.round;
        m.begun = false;
        return true;
    }

    std::mt19937_64 random_;
    uint64_t count_;
    std::vector<SimulatedMember> members_;
    std::map<std::pair<uint32_t, uint32_t>, std::deque<std::vector<Element>>> between_;
    std::set<uint32_t> over_;
};

struct Way {
    fi_collective_op collective;
    std::optional<Algorithm> algorithm;
};
const Way kWays[] = {
    {FI_BARRIER, Algorithm::Dissemination},
    {FI_BARRIER, Algorithm::Pairwise},
    {FI_BROADCAST, Algorithm::Binomial},
    {FI_BROADCAST, Algorithm::Binary},
    {FI_BROADCAST, Algorithm::Chain},
    {FI_BROADCAST, Algorithm::Linear},
    {FI_BROADCAST, Algorithm::ScatterRing},
    {FI_ALLTOALL, {}},
    {FI_ALLREDUCE, Algorithm::RecursiveDoubling},
    {FI_ALLREDUCE, Algorithm::Ring},
    {FI_ALLREDUCE, Algorithm::Pairwise},
    {FI_ALLREDUCE, Algorithm::Direct},
    {FI_ALLREDUCE, Algorithm::Halving},
    {FI_ALLGATHER, Algorithm::RecursiveDoubling},
    {FI_ALLGATHER, Algorithm::Bruck},
    {FI_ALLGATHER, Algorithm::Ring},
    {FI_ALLGATHER, Algorithm::Pairwise},
    {FI_REDUCE_SCATTER, {}},
    {FI_REDUCE, {}},
    {FI_SCATTER, {}},
    {FI_GATHER, {}},
};

// What a member gets at a place, or nothing if nothing is written there.
std::optional<Element> expected(const Way& way, uint32_t n, uint32_t self, uint32_t root, uint64_t count, uint64_t i) {
    const auto sum = [&](uint64_t place) {
        Element all = 0;
        for (uint32_t m = 0; m < n; ++m) all += term(m, place);
        return all;
    };
    switch (way.collective) {
        case FI_BROADCAST:
            return i < count ? std::optional(term(root, i)) : std::nullopt;
        case FI_ALLREDUCE:
            return i < count ? std::optional(sum(i)) : std::nullopt;
        case FI_REDUCE:
            return i < count && self == root ? std::optional(sum(i)) : std::nullopt;
        case FI_REDUCE_SCATTER:
            return i < count ? std::optional(sum(self * count + i)) : std::nullopt;
        case FI_SCATTER:
            return i < count ? std::optional(term(root, self * count + i)) : std::nullopt;
        case FI_ALLTOALL:
            return term(static_cast<uint32_t>(i / count), self * count + i % count);
        case FI_ALLGATHER:
            return term(static_cast<uint32_t>(i / count), i % count);
        case FI_GATHER:
            return self == root ? std::optional(term(static_cast<uint32_t>(i / count), i % count)) : std::nullopt;
        default:
            return std::nullopt;
    }
}

// Partners at doubling distances without others between them.
bool is_of_powers_of_two(const Way& way) {
    return way.algorithm == Algorithm::Halving ||
           (way.collective == FI_ALLGATHER && way.algorithm == Algorithm::RecursiveDoubling);
}

void hold_against_page(const Way& way, uint32_t n, uint32_t root, uint64_t count, bool in_memory = false,
                       bool whole = false) {
    SCOPED_TRACE(testing::Message() << "collective " << way.collective << " of " << n << ", root " << root << ", count "
                                    << count << ", algorithm "
                                    << (way.algorithm ? static_cast<int>(*way.algorithm) : -1));
    Simulation simulation(way.collective, way.algorithm, n, root, count, in_memory, whole);
    ASSERT_TRUE(simulation.run()) << "members wait for each other";
    for (uint32_t self = 0; self < n; ++self) {
        const auto& got = way.collective == FI_BROADCAST ? simulation.operand(self) : simulation.result(self);
        for (uint64_t i = 0; i < count * n; ++i) {
            const std::optional<Element> is = expected(way, n, self, root, count, i);
            if (!is) continue;
            ASSERT_EQ(got[i], *is) << "member " << self << ", place " << i;
        }
    }
}

TEST(Schedule, EachMemberGetsWhatThePageSaysInGroupsOfOneToThirtyThree) {
    for (uint32_t n = 1; n <= 33; ++n) {
        for (const Way& way : kWays) {
            if (n == 1 && way.algorithm) continue;  // the next test has what is chosen for one
            const bool all_operands = way.collective == FI_ALLREDUCE && way.algorithm == Algorithm::Pairwise;
            if (all_operands && n > kPairwiseMost) continue;
            if (is_of_powers_of_two(way) && !std::has_single_bit(n)) continue;
            // More members than elements, as many, and some more.
            for (const uint64_t count : {uint64_t{1}, uint64_t{n}, uint64_t{2 * n + 3}}) {
                hold_against_page(way, n, 0, count);
                hold_against_page(way, n, n - 1, count);
                hold_against_page(way, n, n / 2, count);
                if (HasFatalFailure()) return;
            }
        }
    }
}

TEST(Schedule, WhatIsChosenForEachSizeIsRight) {
    for (const uint32_t n : {1u, 2u, 3u, 4u, 5u, 7u, 8u}) {
        for (const Way& way : kWays) {
            for (const uint64_t count : {0, 1, 600, 5000, 17000}) {
                hold_against_page({way.collective, {}}, n, n - 1, count);
                hold_against_page({way.collective, {}}, n, n - 1, count, true);
                if (n > 2) hold_against_page({way.collective, {}}, n, n - 1, count, true, true);
                if (HasFatalFailure()) return;
            }
        }
    }
}

// Several blocks of Direct, and several rounds of Chain.
TEST(Schedule, LongDataComesInSeveralPieces) {
    for (const bool in_memory : {false, true}) {
        hold_against_page({FI_ALLREDUCE, Algorithm::Direct}, 4, 0, 70'000, in_memory);
        hold_against_page({FI_BROADCAST, Algorithm::Chain}, 4, 1, 70'000, in_memory);
    }
    const Shape shape{FI_ALLREDUCE, 4, 0, 0, 560'000, 8, true};
    EXPECT_EQ(plan_of(shape, Algorithm::Direct).rounds, 10u);
}

// Of eight members that are not in memory each sends a message a round to one other, where a message costs a turn.
TEST(Schedule, LongDataOfEightThatAreNotInMemoryNeedsFewMessages) {
    struct Expected {
        fi_collective_op collective;
        uint64_t unit;
        uint32_t messages;
    };
    for (const Expected& is : {Expected{FI_ALLREDUCE, 64u << 10, 6}, Expected{FI_ALLREDUCE, 1u << 20, 6},
                               Expected{FI_ALLGATHER, 64u << 10, 3}, Expected{FI_ALLGATHER, 1u << 20, 3}}) {
        const Plan plan = plan_of({is.collective, 8, 3, 0, is.unit, 8});
        uint32_t sends = 0;
        for (uint32_t round = 0; round < plan.rounds; ++round) {
            Round steps;
            make_round(plan, round, &steps);
            for (const Step& step : std::span(steps.steps, steps.count)) sends += step.kind == Step::Kind::Send;
        }
        EXPECT_EQ(sends, is.messages) << is.collective << ", " << is.unit;
    }
}

TEST(Schedule, LongBroadcastsOnOneHostGoDownATreeAndElsewhereAlongAChain) {
    for (const uint32_t n : {4u, 8u}) {
        Shape shape{FI_BROADCAST, n, 1, 0, 1u << 20, 8};
        EXPECT_EQ(plan_of(shape).algorithm, Algorithm::Chain);
        shape.one_host = true;
        EXPECT_EQ(plan_of(shape).algorithm, Algorithm::Binary);
        shape.unit = 64u << 10;
        EXPECT_EQ(plan_of(shape).algorithm, Algorithm::Chain);
    }
}

// What the first member may say in the first round of an operation that comes one way reaches all others, and the
// memory is enough for the other way.
TEST(Schedule, WhatMayBeDividedHasAMessageToEachMemberInItsFirstRound) {
    for (const fi_collective_op collective : {FI_ALLGATHER, FI_ALLTOALL, FI_ALLREDUCE}) {
        for (uint32_t n = 2; n <= 9; ++n) {
            for (const uint64_t unit : {uint64_t{16} << 10, uint64_t{20'000}, uint64_t{300'008}, uint64_t{1} << 20}) {
                const Plan pieces = plan_of({collective, n, 0, 0, unit, 8, true});
                const Plan whole = plan_of({collective, n, 0, 0, unit, 8, true, true});
                ASSERT_EQ(pieces.divided, whole.divided);
                ASSERT_EQ(pieces.divided, pieces.rounds > whole.rounds);
                if (!pieces.divided) continue;
                EXPECT_EQ(pieces.scratch, whole.scratch);
                EXPECT_EQ(pieces.algorithm, whole.algorithm);
                for (const Plan& plan : {pieces, whole}) {
                    Round first;
                    make_round(plan, 0, &first);
                    std::set<uint32_t> to;
                    for (const Step& step : std::span(first.steps, first.count)) {
                        if (step.kind != Step::Kind::Send) continue;
                        to.insert(step.member);
                        EXPECT_GT(step.part.size, 32u);
                    }
                    EXPECT_EQ(to.size(), n - 1);
                }
            }
        }
    }
    EXPECT_TRUE(plan_of({FI_ALLGATHER, 4, 0, 0, 64u << 10, 8, true}).divided);
    EXPECT_FALSE(plan_of({FI_ALLGATHER, 4, 0, 0, 64u << 10, 8}).divided);
    EXPECT_FALSE(plan_of({FI_ALLREDUCE, 2, 0, 0, 1u << 20, 8, true}).divided);
    EXPECT_FALSE(plan_of({FI_BARRIER, 4, 0, 0, 0, 1, true}).divided);
}

TEST(Schedule, BlocksInMemoryAreNotLongerThanAFrame) {
    for (const fi_collective_op collective : {FI_ALLGATHER, FI_ALLTOALL}) {
        for (const uint32_t n : {3u, 8u}) {
            const Plan plan = plan_of({collective, n, 1, 0, 100'008, 12, true});
            uint64_t sent = 0;
            for (uint32_t round = 0; round < plan.rounds; ++round) {
                Round steps;
                make_round(plan, round, &steps);
                for (const Step& step : std::span(steps.steps, steps.count)) {
                    if (step.kind != Step::Kind::Send) continue;
                    EXPECT_LE(step.part.size, 16u << 10);
                    EXPECT_EQ(step.part.size % 12, 0u);
                    sent += step.part.size;
                }
            }
            EXPECT_EQ(sent, uint64_t{100'008} * (n - 1));
        }
    }
}

// No member is through before every other one has begun: what a member has received tells of those that it heard of.
void hear_of_everybody(uint32_t n, Algorithm algorithm) {
    const auto plan_at = [&](uint32_t self) { return plan_of({FI_BARRIER, n, self, 0, 0, 1}, algorithm); };
    std::vector<std::set<uint32_t>> known(n);
    for (uint32_t self = 0; self < n; ++self) known[self].insert(self);
    const uint32_t rounds = plan_at(0).rounds;
    for (uint32_t round = 0; round < rounds; ++round) {
        const auto before = known;
        for (uint32_t self = 0; self < n; ++self) {
            Round steps;
            make_round(plan_at(self), round, &steps);
            for (uint32_t i = 0; i < steps.count; ++i) {
                if (steps.steps[i].kind != Step::Kind::Receive) continue;
                known[self].insert(before[steps.steps[i].member].begin(), before[steps.steps[i].member].end());
            }
        }
    }
    for (uint32_t self = 0; self < n; ++self) EXPECT_EQ(known[self].size(), n) << n;
}

TEST(Schedule, ABarrierHearsOfEverybody) {
    for (uint32_t n = 1; n <= 33; ++n) {
        hear_of_everybody(n, Algorithm::Dissemination);
        hear_of_everybody(n, Algorithm::Pairwise);
    }
}

// The result may be where the operand is.
TEST(Schedule, AllreduceReadsNoOperandBehindItsResult) {
    for (uint32_t n = 2; n <= kPairwiseMost; ++n) {
        for (uint32_t self = 0; self < n; ++self) {
            const Plan plan = plan_of({FI_ALLREDUCE, n, self, 0, 8, 8}, Algorithm::Pairwise);
            Round steps;
            make_round(plan, 0, &steps);
            bool written = false;
            for (uint32_t i = 0; i < steps.count; ++i) {
                const Step& step = steps.steps[i];
                if (step.kind != Step::Kind::Reduce) continue;
                EXPECT_FALSE(written);
                written = step.part.space == Space::Result;
            }
            EXPECT_TRUE(written);
        }
    }
}

// The same of the bytes that a member reads and writes in its rounds. Those that it sends in a round it may send until
// the end of that.
class InPlace {
public:
    explicit InPlace(const Plan& plan) : written_(plan.shape.unit) {
        for (uint32_t round = 0; round < plan.rounds; ++round) {
            Round steps;
            make_round(plan, round, &steps);
            look_at(std::span(steps.steps, steps.count));
        }
        EXPECT_EQ(std::ranges::count(written_, true), static_cast<ptrdiff_t>(plan.shape.unit));
    }

private:
    static bool overlap(const Part& a, const Part& b) {
        return a.offset < b.offset + b.size && b.offset < a.offset + a.size;
    }
    void read(const Part& part) {
        if (part.space != Space::Operand) return;
        for (uint64_t i = 0; i < part.size; ++i) ASSERT_FALSE(written_[part.offset + i]) << part.offset;
    }
    void write(const Part& part) {
        if (part.space != Space::Result) return;
        std::fill_n(written_.begin() + static_cast<ptrdiff_t>(part.offset), part.size, true);
    }
    void look_at(std::span<const Step> steps) {
        for (const Step& step : steps) {
            if (step.kind == Step::Kind::Send) read(step.part);
        }
        for (const Step& step : steps) {
            if (step.kind != Step::Kind::Receive) continue;
            for (const Step& other : steps) {
                const bool sends = other.kind == Step::Kind::Send && other.part.space != Space::Scratch;
                EXPECT_FALSE(sends && step.part.space == Space::Result && overlap(step.part, other.part));
            }
            write(step.part);
        }
        for (const Step& step : steps) {
            if (!step.is_local()) continue;
            read(step.first);
            if (step.kind == Step::Kind::Reduce) read(step.second);
            write(step.part);
        }
    }

    std::vector<bool> written_;
};

TEST(Schedule, AllreduceWithEachOtherMemberKeepsOperandsThatAreStillToBeRead) {
    for (const uint32_t n : {2u, 3u, 5u, 8u, 11u}) {
        for (uint32_t self = 0; self < n; ++self) {
            for (const bool in_memory : {false, true}) {
                for (const uint64_t unit : {uint64_t{8}, uint64_t{8} * n + 24, uint64_t{700'000}})
                    InPlace(plan_of({FI_ALLREDUCE, n, self, 0, unit, 4, in_memory}, Algorithm::Direct));
            }
        }
    }
}

TEST(Schedule, AShortBroadcastInMemoryComesFromItsRootAlone) {
    for (uint32_t member = 0; member < 8; ++member) {
        const Plan plan = plan_of({FI_BROADCAST, 8, member, 3, 256, 8, true});
        Round round;
        make_round(plan, 0, &round);
        EXPECT_EQ(round.count, plan.rounds == 1 && member == 3 ? 7u : 1u);
    }
}

// What a member passes on one after another is what a stream of broadcasts waits for.
void HasAtMostTwoBelow(Shape shape) {
    uint32_t sends = 0;
    for (shape.self = 0; shape.self < shape.members; ++shape.self) {
        const Plan plan = plan_of(shape);
        uint32_t below = 0;
        for (uint32_t round = 0; round < plan.rounds; ++round) {
            Round steps;
            make_round(plan, round, &steps);
            for (const Step& step : std::span(steps.steps, steps.count)) below += step.kind == Step::Kind::Send;
        }
        EXPECT_LE(below, 2u) << shape.members << " members, " << shape.self << " of a broadcast of " << shape.unit
                             << " bytes from " << shape.root;
        sends += below;
    }
    EXPECT_EQ(sends, shape.members - 1);
}
TEST(Schedule, ABroadcastHasAtMostTwoBelowAMember) {
    const Shape shapes[] = {{FI_BROADCAST, 0, 0, 0, 256, 8, false},
                            {FI_BROADCAST, 0, 0, 0, 264, 8, true},
                            {FI_BROADCAST, 0, 0, 0, 32u << 10, 8, true}};
    for (Shape shape : shapes) {
        for (shape.members = 5; shape.members <= 8; ++shape.members) {
            for (shape.root = 0; shape.root < shape.members; ++shape.root) HasAtMostTwoBelow(shape);
        }
    }
}

// The result is the same where both sides do a piece twice.
TEST(Schedule, AChainMovesEachByteOnce) {
    for (const uint64_t unit : {uint64_t{64} << 10, (uint64_t{300} << 10) + 8, uint64_t{1} << 20}) {
        for (uint32_t self = 0; self < 4; ++self) {
            const Plan plan = plan_of({FI_BROADCAST, 4, self, 0, unit, 8}, Algorithm::Chain);
            uint64_t sent = 0, received = 0;
            for (uint32_t round = 0; round < plan.rounds; ++round) {
                Round steps;
                make_round(plan, round, &steps);
                for (const Step& step : std::span(steps.steps, steps.count)) {
                    if (step.kind == Step::Kind::Send) sent += step.part.size;
                    if (step.kind == Step::Kind::Receive) received += step.part.size;
                }
            }
            EXPECT_EQ(sent, self == 3 ? 0 : unit) << self << " of " << unit;
            EXPECT_EQ(received, self == 0 ? 0 : unit) << self << " of " << unit;
        }
    }
}

// A chain of long segments would be a tree's trunk alone: members pass on what they have while more comes.
TEST(Schedule, AChainPassesOnWhatItHasWhileMoreComes) {
    const Plan plan = plan_of({FI_BROADCAST, 4, 1, 0, uint64_t{1} << 20, 8}, Algorithm::Chain);
    uint32_t both = 0;
    for (uint32_t round = 0; round < plan.rounds; ++round) {
        Round steps;
        make_round(plan, round, &steps);
        const std::span all(steps.steps, steps.count);
        const auto has = [&](Step::Kind kind) {
            return std::ranges::any_of(all, [&](const Step& step) { return step.kind == kind; });
        };
        both += has(Step::Kind::Receive) && has(Step::Kind::Send);
    }
    EXPECT_GE(both, 4u);
    EXPECT_EQ(both + 2, plan.rounds);
}

}  // namespace
}  // namespace selvage::impl
