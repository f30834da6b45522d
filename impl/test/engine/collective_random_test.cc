// Collectives at random over the engine: members of several groups at a time call operations of all kinds and sizes,
// each member when it likes, over a net that answers as it likes. What each gets is held against the operands, and in
// the end nothing is kept of anybody, and everybody may send as much as in the beginning.
#include <cstring>
#include <map>
#include <random>
#include <vector>

#include "impl/collective/reduce.h"
#include "impl/endpoint/atomic_types.h"
#include "impl/engine/peer_state.h"
#include "impl/engine/window.h"
#include "impl/test/engine/trio.h"

namespace selvage::impl::test {
namespace {

constexpr const char* kNames[] = {"a", "b", "c", "d", "e", "f", "g", "h", "i"};
constexpr size_t kGroups = 3, kOperations = 12;
constexpr size_t kDivided = 40;  // of one group, in a play of those that come in pieces or whole (piece_choice.h)

using Bytes = std::vector<std::byte>;

struct Operation {
    fi_collective_op collective;
    fi_datatype type;
    fi_op op;
    size_t count;
    size_t root;
    size_t unit() const { return count * atomic_type_size(type); }
};

struct Script {
    std::vector<size_t> members;  // the numbers of their nodes, in the order of the set
    std::vector<Operation> operations;
};

// An operation as one member calls it. Its buffers begin anywhere.
struct Call {
    size_t group, place, index;
    Bytes operand, result;
    size_t offset;
    bool complete = false;
};

// Each byte is another function of all of these.
Bytes operand_of(size_t group, size_t index, size_t place, size_t size) {
    Bytes bytes(size);
    std::linear_congruential_engine<uint64_t, 6364136223846793005, 1442695040888963407, 0> random(1 + group * 1009 +
                                                                                                  index * 31 + place);
    for (size_t at = 0; at < size; at += sizeof(uint64_t)) {
        uint64_t word = random();
        word ^= word >> 32;  // its low bits alone repeat soon
        memcpy(bytes.data() + at, &word, std::min(sizeof word, size - at));
    }
    return bytes;
}

class Play {
public:
    Play(unsigned seed, bool pulls, bool divided = false) : random_(seed), pulls_(pulls) {
        // As many as there are: members that call what is of one group before what is of another fill no context.
        Setting setting = collective(divided ? kDivided : kGroups * kOperations);
        setting.pulls = pulls;
        net_.capacity = below(3) ? 1000 : 1 + below(4);
        net_.holds = below(2);
        net_.pieces_above = below(3) ? SIZE_MAX : below(100);
        net_.per_progress = 1 + below(20);
        const size_t count = divided ? 3 + below(4) : 2 + below(8);
        for (size_t n = 0; n < count; ++n) nodes_.push_back(std::make_unique<MemberNode>(kNames[n], setting));
        for (size_t n = 0; n < count; ++n) {
            std::vector<size_t> order = shuffled(count);  // nobody's numbers for the others are anybody else's
            std::vector<fi_addr_t> known(count);
            for (const size_t other : order) known[other] = nodes_[n]->knows(*nodes_[other]);
            addresses_.push_back(known);
        }
        for (size_t g = 0; g < kGroups; ++g) scripts_.push_back(divided ? long_script(count, g) : script(count));
    }
    ~Play() {
        for (auto& [key, mc] : groups_) EXPECT_EQ(fi_close(&mc->fid), 0);
        for (fid_av_set* set : sets_) fi_close(&set->fid);
    }

    void run() {
        join();
        if (testing::Test::HasFatalFailure()) return;
        size_t left = 0, idle = 0;
        for (const Script& script : scripts_) left += script.members.size() * script.operations.size();
        while (left && idle < 200'000) {
            const size_t chosen = below(nodes_.size());
            if (below(4) == 0) post_something(chosen);
            const size_t ended = poll(chosen);
            left -= ended;
            idle = ended ? 0 : idle + 1;
        }
        ASSERT_EQ(left, 0u) << "members wait for each other";
        for (size_t i = 0; i < 2000; ++i) poll(i % nodes_.size());
        check_units();
    }

private:
    size_t below(size_t limit) { return random_() % limit; }
    std::vector<size_t> shuffled(size_t count) {
        std::vector<size_t> order(count);
        for (size_t i = 0; i < count; ++i) order[i] = i;
        std::ranges::shuffle(order, random_);
        return order;
    }

    Script script(size_t count) {
        Script script{.members = shuffled(count), .operations = {}};
        script.members.resize(1 + below(count));
        constexpr size_t kCounts[] = {0, 1, 3, 4, 5, 15, 16, 17, 32, 33, 64, 100, 129, 600, 4096, 9000};
        constexpr fi_datatype kTypes[] = {FI_INT8, FI_UINT16, FI_INT32, FI_UINT64, FI_UINT128};
        constexpr fi_op kOps[] = {FI_SUM, FI_MIN, FI_MAX, FI_PROD, FI_BXOR, FI_LAND};
        for (size_t i = 0; i < kOperations; ++i) {
            const bool again = i && below(3) == 0;
            script.operations.push_back(
                again ? script.operations.back()
                      : Operation{.collective = static_cast<fi_collective_op>(below(FI_GATHER + 1)),
                                  .type = kTypes[below(std::size(kTypes))],
                                  .op = kOps[below(std::size(kOps))],
                                  .count = kCounts[below(std::size(kCounts))],
                                  .root = below(script.members.size())});
        }
        return script;
    }

    // Of few sizes, which take turns: those that are chosen again and again.
    Script long_script(size_t count, size_t group) {
        Script script{.members = shuffled(count), .operations = {}};
        constexpr fi_collective_op kCollectives[] = {FI_ALLGATHER, FI_ALLTOALL, FI_ALLREDUCE};
        for (size_t i = 0; !group && i < kDivided; ++i) {
            const fi_collective_op collective = kCollectives[below(std::size(kCollectives))];
            const size_t count_of = collective == FI_ALLREDUCE ? 30'000 : below(2) ? 2051 : 2500;
            script.operations.push_back(
                {.collective = collective, .type = FI_UINT64, .op = FI_SUM, .count = count_of, .root = 0});
        }
        return script;
    }

    // Each in an order of its own, but for groups of the same members.
    void join() {
        std::map<std::pair<size_t, size_t>, bool> joined;
        for (size_t n = 0; n < nodes_.size(); ++n) {
            for (size_t g : shuffled(kGroups)) {
                const auto& members = scripts_[g].members;
                const auto at = std::ranges::find(members, n);
                if (at == members.end()) continue;
                fi_av_set_attr attr{};
                attr.start_addr = attr.end_addr = FI_ADDR_NOTAVAIL;
                attr.comm_key = reinterpret_cast<uint8_t*>(&g);
                attr.comm_key_size = sizeof g;
                fid_av_set* set = nullptr;
                fi_addr_t address;
                ASSERT_EQ(fi_av_set(nodes_[n]->av, &attr, &set, nullptr), 0);
                sets_.push_back(set);
                for (const size_t member : members) ASSERT_EQ(fi_av_set_insert(set, addresses_[n][member]), 0);
                ASSERT_EQ(fi_av_set_addr(set, &address), 0);
                fid_mc*& mc = groups_[{n, g}];
                ASSERT_EQ(fi_join_collective(nodes_[n]->ep, address, set, 0, &mc, nullptr), 0);
                for (size_t i = below(5); i; --i) nodes_[below(nodes_.size())]->progress();
            }
        }
        size_t missing = groups_.size();
        for (size_t i = 0; i < 200'000 && missing; ++i) {
            if (nodes_[below(nodes_.size())]->has_joined()) --missing;
        }
        ASSERT_EQ(missing, 0u);
    }

    void post_something(size_t n) {
        const size_t g = below(kGroups);
        const Script& script = scripts_[g];
        const auto at = std::ranges::find(script.members, n);
        size_t& next = next_[{n, g}];
        if (at == script.members.end() || next == script.operations.size()) return;
        const auto place = static_cast<size_t>(at - script.members.begin());
        auto call = std::make_unique<Call>(make(g, place, next));
        const ssize_t posted = post(*call, n);
        if (posted == -FI_EAGAIN) return;
        ASSERT_EQ(posted, 0);
        ++next;
        calls_.push_back(std::move(call));
    }
    Call make(size_t g, size_t place, size_t index) {
        const Operation& operation = scripts_[g].operations[index];
        const size_t n = scripts_[g].members.size(), unit = operation.unit(), offset = below(9);
        const bool gives_many = operation.collective == FI_ALLTOALL || operation.collective == FI_SCATTER ||
                                operation.collective == FI_REDUCE_SCATTER;
        Call call{.group = g, .place = place, .index = index, .operand = {}, .result = {}, .offset = offset};
        call.operand.resize(offset + unit * (gives_many ? n : 1));
        call.result.resize(offset + unit * n);
        const Bytes bytes = operand_of(g, index, place, unit * (gives_many ? n : 1));
        std::ranges::copy(bytes, call.operand.begin() + static_cast<ptrdiff_t>(offset));
        return call;
    }
    ssize_t post(Call& call, size_t n) {
        const Script& script = scripts_[call.group];
        const Operation& o = script.operations[call.index];
        fid_ep* ep = nodes_[n]->ep;
        const fi_addr_t group = fi_mc_addr(groups_[{n, call.group}]), root = addresses_[n][script.members[o.root]];
        void *from = call.operand.data() + call.offset, *to = call.result.data() + call.offset;
        switch (o.collective) {
            case FI_BARRIER:
                return fi_barrier(ep, group, &call);
            case FI_BROADCAST:
                return fi_broadcast(ep, from, o.count, nullptr, group, root, o.type, 0, &call);
            case FI_ALLTOALL:
                return fi_alltoall(ep, from, o.count, nullptr, to, nullptr, group, o.type, 0, &call);
            case FI_ALLREDUCE:
                return fi_allreduce(ep, from, o.count, nullptr, to, nullptr, group, o.type, o.op, 0, &call);
            case FI_ALLGATHER:
                return fi_allgather(ep, from, o.count, nullptr, to, nullptr, group, o.type, 0, &call);
            case FI_REDUCE_SCATTER:
                return fi_reduce_scatter(ep, from, o.count, nullptr, to, nullptr, group, o.type, o.op, 0, &call);
            case FI_REDUCE:
                return fi_reduce(ep, from, o.count, nullptr, to, nullptr, group, root, o.type, o.op, 0, &call);
            case FI_SCATTER:
                return fi_scatter(ep, from, o.count, nullptr, to, nullptr, group, root, o.type, 0, &call);
            default:
                return fi_gather(ep, from, o.count, nullptr, to, nullptr, group, root, o.type, 0, &call);
        }
    }

    // Returns how many operations are over.
    size_t poll(size_t n) {
        fi_cq_tagged_entry entry;
        const ssize_t read = nodes_[n]->read(&entry);
        if (read < 0) ADD_FAILURE() << fi_strerror(nodes_[n]->read_error().err);
        if (read != 1) return 0;
        Call& call = *static_cast<Call*>(entry.op_context);
        EXPECT_FALSE(call.complete);
        call.complete = true;
        check(call);
        return 1;
    }
    // Of the operands of all, at `at`, `size` bytes.
    Bytes reduced(const Call& call, size_t whole, size_t at, size_t size) const {
        const Operation& o = scripts_[call.group].operations[call.index];
        const Reducer reduce = reducer_of(o.type, o.op);
        Bytes sum;
        for (size_t m = 0; m < scripts_[call.group].members.size(); ++m) {
            const Bytes all = operand_of(call.group, call.index, m, whole);
            const Bytes part(all.begin() + static_cast<ptrdiff_t>(at), all.begin() + static_cast<ptrdiff_t>(at + size));
            if (m) {
                reduce(sum.data(), sum.data(), part.data(), o.count);
            } else {
                sum = part;
            }
        }
        return sum;
    }
    void check(const Call& call) const {
        const Script& script = scripts_[call.group];
        const Operation& o = script.operations[call.index];
        const size_t n = script.members.size(), unit = o.unit();
        const bool is_root = call.place == o.root;
        Bytes expected;
        const auto append = [&](size_t member, size_t whole, size_t at) {
            const Bytes all = operand_of(call.group, call.index, member, whole);
            expected.insert(expected.end(), all.begin() + static_cast<ptrdiff_t>(at),
                            all.begin() + static_cast<ptrdiff_t>(at + unit));
        };
        switch (o.collective) {
            case FI_BROADCAST:
                append(o.root, unit, 0);
                break;
            case FI_ALLTOALL:
                for (size_t m = 0; m < n; ++m) append(m, n * unit, call.place * unit);
                break;
            case FI_ALLGATHER:
                for (size_t m = 0; m < n; ++m) append(m, unit, 0);
                break;
            case FI_GATHER:
                for (size_t m = 0; m < n && is_root; ++m) append(m, unit, 0);
                break;
            case FI_SCATTER:
                append(o.root, n * unit, call.place * unit);
                break;
            case FI_ALLREDUCE:
                expected = reduced(call, unit, 0, unit);
                break;
            case FI_REDUCE:
                if (is_root) expected = reduced(call, unit, 0, unit);
                break;
            case FI_REDUCE_SCATTER:
                expected = reduced(call, n * unit, call.place * unit, unit);
                break;
            default:
                break;
        }
        const Bytes& buffer = o.collective == FI_BROADCAST ? call.operand : call.result;
        const std::byte* came = buffer.data() + call.offset;
        EXPECT_TRUE(expected.empty() || memcmp(came, expected.data(), expected.size()) == 0)
            << "collective " << o.collective << " of " << n << ", count " << o.count << ", type " << o.type << ", op "
            << o.op << ", member " << call.place << ", root " << o.root;
    }

    template <bool Pulls>
    PeerState::Collective* collective_of(size_t n, size_t other) {
        auto* peer = nodes_[n]->template transport<Pulls>().peer_called(nodes_[other]->endpoint.shm_address);
        return peer && peer->state ? &static_cast<PeerState*>(peer->state)->collective : nullptr;
    }
    void check_units() {
        for (size_t n = 0; n < nodes_.size(); ++n) {
            for (size_t other = 0; other < nodes_.size(); ++other) {
                const auto* here = pulls_ ? collective_of<true>(n, other) : collective_of<false>(n, other);
                const auto* there = pulls_ ? collective_of<true>(other, n) : collective_of<false>(other, n);
                if (!here || !there) continue;
                EXPECT_EQ(here->kept, 0u);
                EXPECT_EQ(here->announced, 0u);
                EXPECT_EQ(here->left + there->owed, kCollectiveUnits);
            }
        }
    }

    std::mt19937 random_;
    FakeNet net_;
    const bool pulls_;
    std::vector<std::unique_ptr<MemberNode>> nodes_;
    std::vector<std::vector<fi_addr_t>> addresses_;  // of each node, by the number of the other
    std::vector<Script> scripts_;
    std::map<std::pair<size_t, size_t>, fid_mc*> groups_;  // by node and group
    std::map<std::pair<size_t, size_t>, size_t> next_;
    std::vector<fid_av_set*> sets_;
    std::vector<std::unique_ptr<Call>> calls_;
};

class CollectiveRandom : public testing::TestWithParam<unsigned> {};

TEST_P(CollectiveRandom, EveryOperationGivesWhatThePageSays) {
    for (unsigned seed = 10 * GetParam(); seed < 10 * GetParam() + 10; ++seed) {
        SCOPED_TRACE(testing::Message() << "seed " << seed);
        Play(seed, seed % 3 == 0).run();
        if (testing::Test::HasFailure()) return;
    }
}
// Each goes on as it likes, with several operations under way, while the first member of the group changes how they
// come.
TEST_P(CollectiveRandom, MembersAgreeOnPiecesOrWholeBlocks) {
    for (unsigned seed = 10 * GetParam(); seed < 10 * GetParam() + 5; ++seed) {
        SCOPED_TRACE(testing::Message() << "seed " << seed);
        Play(seed, seed % 3 == 0, true).run();
        if (testing::Test::HasFailure()) return;
    }
}
INSTANTIATE_TEST_SUITE_P(Seeds, CollectiveRandom, testing::Range(0u, 6u));

}  // namespace
}  // namespace selvage::impl::test
