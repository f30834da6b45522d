// Shrinking: what is left shows the same, and nothing more can be taken from it.
#include "conformance/shrink/shrink.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>

#include "model/value/field.h"

namespace selvage::conformance {
namespace {

using namespace model;

// A fault of an imagined library: it shows if all of these parts of a call are there.
struct Fault {
    std::vector<std::pair<Field, std::uint64_t>> bits;   // number fields and the bits that must be set
    std::vector<std::pair<Field, std::uint64_t>> sizes;  // size fields and the least value
    std::vector<Field> texts;
    std::uint64_t flags = 0;
    bool node = false, service = false, hints = false;

    [[nodiscard]] bool in(const Query& q) const {
        if ((q.flags & flags) != flags || (node && !q.node) || (service && !q.service)) return false;
        const bool needs_hints = hints || !bits.empty() || !sizes.empty() || !texts.empty();
        if (!q.hints) return !needs_hints;
        for (const auto& [f, mask] : bits)
            if ((get(*q.hints, f) & mask) != mask) return false;
        for (const auto& [f, least] : sizes)
            if (get(*q.hints, f) < least) return false;
        for (const Field f : texts)
            if (!text(*q.hints, f)) return false;
        return true;
    }
};

template <typename T>
T one_of(std::span<const T> all) {
    return all[*rc::gen::inRange<std::size_t>(0, all.size())];
}

std::uint64_t some_bits() { return *rc::gen::arbitrary<std::uint64_t>() & *rc::gen::arbitrary<std::uint64_t>(); }

// Lengths follow their bytes; objects are no business of shrinking here.
bool free_number(const FieldRow& r) {
    return r.form != Form::Object && !r.path.ends_with("len") && !r.path.ends_with("auth_key_size");
}

Query any_query() {
    Query q;
    q.version = Version(1, *rc::gen::inRange(0U, 19U));
    q.flags = some_bits();
    if (*rc::gen::inRange(0, 2) != 0) q.node = "node";
    if (*rc::gen::inRange(0, 2) != 0) q.service = "service";
    q.hints.emplace();
    q.hints->present = kAllParts;
    for (const auto& r : number_fields())
        if (free_number(r) && *rc::gen::inRange(0, 3) != 0) set(*q.hints, r.field, some_bits());
    for (const auto& r : text_fields())
        if (*rc::gen::inRange(0, 3) != 0) text(*q.hints, r.field) = "text";
    return q;
}

// A fault that the query shows.
Fault fault_of(const Query& q) {
    Fault out;
    out.flags = q.flags & some_bits() & some_bits();
    out.node = q.node && *rc::gen::inRange(0, 3) == 0;
    out.service = q.service && *rc::gen::inRange(0, 3) == 0;
    out.hints = *rc::gen::inRange(0, 4) == 0;
    for (int i = *rc::gen::inRange(0, 4); i > 0; --i) {
        const auto& r = one_of(number_fields());
        const auto value = get(*q.hints, r.field);
        if (r.form == Form::Bits && value != 0) out.bits.emplace_back(r.field, value & some_bits());
        if (r.form == Form::Size && value != 0)
            out.sizes.emplace_back(r.field, *rc::gen::inRange<std::uint64_t>(0, value) + 1);
        if (r.form == Form::Enum && value != 0) out.sizes.emplace_back(r.field, 1);
    }
    if (*rc::gen::inRange(0, 2) != 0) {
        const auto& r = one_of(text_fields());
        if (text(*q.hints, r.field)) out.texts.push_back(r.field);
    }
    return out;
}

// Every call that has one thing less: an argument, a flag, a bit, a field, a text, a part, the hints.
std::vector<std::pair<std::string, Query>> all_smaller(const Query& q) {
    std::vector<std::pair<std::string, Query>> out;
    const auto offer = [&](std::string what, Query smaller) {
        if (!(smaller == q)) out.emplace_back(std::move(what), std::move(smaller));
    };
    Query s = q;
    s.node.reset();
    offer("node", s);
    s = q;
    s.service.reset();
    offer("service", s);
    for (std::uint64_t bit = 1; bit != 0; bit <<= 1) {
        s = q;
        s.flags &= ~bit;
        offer("a flag", s);
    }
    if (!q.hints) return out;
    s = q;
    s.hints.reset();
    offer("the hints", s);
    for (const auto& r : number_fields()) {
        s = q;
        set(*s.hints, r.field, 0);
        if (free_number(r)) offer(std::string(r.path), s);
        for (std::uint64_t bit = 1; r.form == Form::Bits && bit != 0; bit <<= 1) {
            s = q;
            set(*s.hints, r.field, get(*q.hints, r.field) & ~bit);
            offer("a bit of " + std::string(r.path), s);
        }
        if (r.form == Form::Size && get(*q.hints, r.field) > 1) {
            s = q;
            set(*s.hints, r.field, get(*q.hints, r.field) / 2);
            offer("half of " + std::string(r.path), s);
        }
    }
    for (const auto& r : text_fields()) {
        s = q;
        text(*s.hints, r.field).reset();
        offer(std::string(r.path), s);
    }
    const auto part = [&](Part p, auto member) {
        s = q;
        if (!s.hints->has(p)) return;
        (*s.hints).*member = {};
        s.hints->drop(p);
        offer("a part", s);
    };
    part(Part::Tx, &Info::tx);
    part(Part::Rx, &Info::rx);
    part(Part::Ep, &Info::ep);
    part(Part::Domain, &Info::domain);
    part(Part::Fabric, &Info::fabric);
    return out;
}

Case call_case(Query q) {
    Case c;
    c.first = std::move(q);
    return c;
}

RC_GTEST_PROP(Shrink, LeavesNothingThatCouldBeDropped, ()) {
    const Query start = any_query();
    const Fault fault = fault_of(start);
    RC_ASSERT(fault.in(start));
    const Case least = shrink(
        call_case(start), [&](const Case& c) { return fault.in(c.first); }, 100'000);
    RC_ASSERT(fault.in(least.first));
    for (const auto& [what, smaller] : all_smaller(least.first)) {
        if (fault.in(smaller)) RC_FAIL(what + " could still be dropped");
    }
}

RC_GTEST_PROP(Shrink, IsTheSameEveryTime, ()) {
    const Query start = any_query();
    const Fault fault = fault_of(start);
    const auto shows = [&](const Case& c) { return fault.in(c.first); };
    RC_ASSERT(shrink(call_case(start), shows) == shrink(call_case(start), shows));
}

RC_GTEST_PROP(Shrink, KeepsToItsBudgetAndToWhatShows, ()) {
    const Query start = any_query();
    const Fault fault = fault_of(start);
    const auto budget = *rc::gen::inRange<std::size_t>(0, 60);
    std::size_t issued = 0;
    std::size_t trials = 0;
    const auto shows = [&](const Case& c) {
        ++issued;
        return fault.in(c.first);
    };
    const Case out = shrink(call_case(start), shows, budget, &trials);
    RC_ASSERT(issued <= budget);
    RC_ASSERT(trials == issued);
    RC_ASSERT(fault.in(out.first));
}

RC_GTEST_PROP(Shrink, ShrinksBothCallsOfAPairInStep, ()) {
    Case pair;
    pair.kind = Case::Kind::Pair;
    pair.metamorphic = MetamorphicRelation::Relaxed;
    pair.first = any_query();
    pair.second = pair.first;
    const Fault fault = fault_of(pair.first);
    const Case out = shrink(
        pair, [&](const Case& c) { return fault.in(c.first) && fault.in(c.second); }, 100'000);
    RC_ASSERT(out.first == out.second);
}

// Without it other providers answer too, and theirs may be what shows.
TEST(Shrink, KeepsTheNameOfTheProviderThatIsJudged) {
    Query q;
    q.hints.emplace();
    q.hints->present = kAllParts;
    q.hints->caps = 6;
    q.hints->fabric.prov_name = "p";
    Case c = call_case(q);
    c.provider = "p";
    const auto shows = [](const Case& x) { return x.first.hints && (x.first.hints->caps & 2) != 0; };
    const auto kept = shrink(c, shows);
    ASSERT_TRUE(kept.first.hints);
    EXPECT_EQ(kept.first.hints->fabric.prov_name, "p");
    EXPECT_EQ(kept.first.hints->caps, 2U);
    EXPECT_FALSE(kept.first.hints->has(Part::Tx));
    c.first.hints->fabric.prov_name = "another";
    const auto other = shrink(c, shows);
    ASSERT_TRUE(other.first.hints);
    EXPECT_FALSE(other.first.hints->fabric.prov_name);
}

TEST(Shrink, NamesTheProviderThatIsJudgedWhereTheDeviationShowsSo) {
    Query q;
    q.flags = 1;
    Case c = call_case(q);
    c.provider = "p";
    const auto named = shrink(c, [](const Case& x) { return x.first.flags == 1; });
    ASSERT_TRUE(named.first.hints);
    EXPECT_EQ(named.first.hints->fabric.prov_name, "p");
    const auto plain = shrink(c, [](const Case& x) { return !x.first.hints; });
    EXPECT_FALSE(plain.first.hints);
}

// A life: the fault needs some openings and closings, in order; all else goes.
Case life_case(std::vector<Action> actions) {
    Case c;
    c.kind = Case::Kind::Lifecycle;
    c.actions = std::move(actions);
    return c;
}

RC_GTEST_PROP(Shrink, LeavesNoActionThatCouldBeDropped, ()) {
    using Verb = Action::Verb;
    std::vector<Action> actions;
    int objects = 0;
    for (int i = *rc::gen::inRange(1, 14); i > 0; --i) {
        Action a;
        const int kind = *rc::gen::inRange(0, 3);
        a.verb = objects == 0 || kind == 0 ? Verb::OpenFabric : kind == 1 ? Verb::Query : Verb::Close;
        if (a.verb == Verb::OpenFabric) {
            ++objects;
        } else {
            a.object = *rc::gen::inRange(1, objects + 1);
        }
        actions.push_back(a);
    }
    // The fault: this many closings of objects that exist.
    const auto closings = [](const Case& c) {
        int opened = 0;
        std::size_t n = 0;
        for (const auto& a : c.actions) {
            opened += a.verb == Action::Verb::OpenFabric ? 1 : 0;
            n += a.verb == Action::Verb::Close && a.object >= 1 && a.object <= opened ? 1U : 0U;
        }
        return n;
    };
    const auto needed = *rc::gen::inRange<std::size_t>(0, closings(life_case(actions)) + 1);
    const Case out = shrink(life_case(actions), [&](const Case& c) { return closings(c) >= needed; });
    RC_ASSERT(closings(out) == needed);
    for (const auto& a : out.actions) RC_ASSERT(a.verb != Verb::Query);
    // Each opening that is left is closed by something.
    int object = 0;
    for (const auto& a : out.actions) {
        if (a.verb != Verb::OpenFabric) continue;
        ++object;
        RC_ASSERT(std::any_of(out.actions.begin(), out.actions.end(),
                              [&](const Action& b) { return b.verb == Verb::Close && b.object == object; }));
    }
}

// A message with much about it that is not plain, on a set-up that is not, and others around it.
Case transfer_case() {
    Case c;
    c.kind = Case::Kind::Traffic;
    c.sequence.counters = c.sequence.selective_transmit = c.sequence.selective_receive = true;
    c.sequence.queue_size = 64;
    for (std::uint64_t i = 0; i < 4; ++i) {
        Operation o;
        o.what = i % 2 == 0 ? Transfer::TaggedRecv : Transfer::TaggedSend;
        o.side = i % 2 == 0 ? Side::B : Side::A;
        o.form = CallForm::Message;
        o.flags = 1 << 3;
        o.length = 64, o.tag = 7, o.pieces = 2, o.data = 9;
        c.sequence.operations.push_back(o);
    }
    return c;
}

bool sends(const Case& c) {
    return std::ranges::any_of(c.sequence.operations,
                               [](const Operation& o) { return o.what == Transfer::TaggedSend; });
}

TEST(TransferShrink, EndsWhereTheFindingIsKnown) {
    std::vector<Case> asked;
    const auto known = [&asked](const Case& c) {
        asked.push_back(c);
        return true;
    };
    const Case out = shrink_transfers(transfer_case(), sends, known, 400);
    ASSERT_EQ(out.sequence.operations.size(), 1U);
    EXPECT_EQ(out.sequence.operations[0].flags, 0U);
    EXPECT_EQ(out.sequence.operations[0].tag, 7U) << "which tells no finding from another";
    EXPECT_EQ(asked, std::vector<Case>{out}) << "once, of what tells it from others";
}

TEST(TransferShrink, TakesAwayMuchAtATime) {
    const auto unknown = [](const Case&) { return false; };
    std::size_t taken = 0;
    const auto shows = [&](const Case& c) {
        taken += sends(c) ? 1U : 0U;
        return sends(c);
    };
    const Case out = shrink_transfers(transfer_case(), shows, unknown, 400);
    EXPECT_FALSE(out.sequence.counters || out.sequence.selective_transmit || out.sequence.selective_receive);
    EXPECT_EQ(out.sequence.queue_size, 0U);
    ASSERT_EQ(out.sequence.operations.size(), 1U);
    EXPECT_EQ(out.sequence.operations[0].tag + out.sequence.operations[0].data, 0U);
    // Four of a set-up and four of an operation go in one trial each.
    EXPECT_LE(taken, 6U);
}

// Of what is needed nothing goes, and of the rest everything.
RC_GTEST_PROP(TransferShrink, LeavesWhatIsNeededAlone, ()) {
    const bool counters = *rc::gen::arbitrary<bool>(), tag = *rc::gen::arbitrary<bool>();
    const bool pieces = *rc::gen::arbitrary<bool>(), selective = *rc::gen::arbitrary<bool>();
    const auto shows = [&](const Case& c) {
        return std::ranges::any_of(c.sequence.operations, [&](const Operation& o) {
            return o.what == Transfer::TaggedSend && (!counters || c.sequence.counters) && (!tag || o.tag == 7) &&
                   (!pieces || o.pieces == 2) && (!selective || c.sequence.selective_receive);
        });
    };
    const Case out = shrink_transfers(
        transfer_case(), shows, [](const Case&) { return false; }, 400);
    RC_ASSERT(out.sequence.operations.size() == 1U);
    const Operation& o = out.sequence.operations[0];
    RC_ASSERT(out.sequence.counters == counters);
    RC_ASSERT(out.sequence.selective_receive == selective);
    RC_ASSERT(!out.sequence.selective_transmit);
    RC_ASSERT((o.tag == 7) == tag);
    RC_ASSERT((o.pieces == 2) == pieces);
    RC_ASSERT(o.data == 0U);
}

}  // namespace
}  // namespace selvage::conformance
