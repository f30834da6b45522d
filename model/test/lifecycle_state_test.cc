// The state model itself: whatever is done, in whatever order and with whatever result, its invariants hold.
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>
#include <rapidcheck/state.h>
#include <rdma/fi_errno.h>

#include <memory>
#include <vector>

#include "model/lifecycle/step.h"

namespace selvage::model {
namespace {

struct Nothing {};
using Command = rc::state::Command<Lifetime, Nothing>;

void expect_invariants(const Lifetime& life) {
    int number = 0;
    for (const Object& o : life.objects()) {
        RC_ASSERT(o.number == ++number);
        if (o.open() && o.parent != 0) RC_ASSERT(life.find_open(static_cast<std::uint64_t>(o.parent)) != nullptr);
        if (!o.open()) RC_ASSERT(!life.has_child(o.number));
        if (o.kind == ObjectClass::Fabric) RC_ASSERT(o.parent == 0);
    }
    RC_ASSERT(life.next_number() == number + 1);
}

// What can be closed in the order given can be closed without a refusal.
void expect_closing_order(Lifetime life) {
    for (const int number : life.closing_order()) {
        RC_ASSERT(!life.has_child(number));
        RC_ASSERT(!life.is_bound(number));
        Step s;
        s.before = &life;
        s.verb = Verb::Close;
        s.object = number;
        Lifetime after = life;
        after.apply(s);
        life = after;
    }
    for (const Object& o : life.objects()) RC_ASSERT(!o.open());
}

class AnyStep : public Command {
public:
    explicit AnyStep(const Step& step) : step_(step) {}
    void checkPreconditions(const Lifetime& life) const override {
        RC_PRE(step_.object == 0 || life.find_open(static_cast<std::uint64_t>(step_.object)) != nullptr);
    }
    void apply(Lifetime& life) const override {
        Step s = step_;
        s.before = &life;
        Lifetime after = life;
        after.apply(s);
        life = after;
    }
    void run(const Lifetime& before, Nothing&) const override {
        const Lifetime after = nextState(before);
        expect_invariants(after);
        expect_closing_order(after);
        RC_ASSERT(after.objects().size() >= before.objects().size());
        for (const Object& o : before.objects()) {  // nothing comes back to life
            const Object& now = after.objects()[static_cast<std::size_t>(o.number) - 1];
            RC_ASSERT(o.open() || now.state == o.state);
        }
        if (before.first_refused() != nullptr)
            RC_ASSERT(after.first_refused()->number == before.first_refused()->number);
    }
    void show(std::ostream& os) const override {
        os << "verb " << static_cast<int>(step_.verb) << " on " << step_.object << " returns " << step_.ret;
    }

private:
    Step step_;
};

Step step(Verb verb, int object, ObjectClass opens = ObjectClass::None, int argument = 0) {
    Step s;
    s.verb = verb;
    s.object = object;
    s.opens = opens;
    s.argument = argument;
    return s;
}

// Every step that could come next: openings on open objects, binds of queues, closes of anything.
std::vector<Step> possible_steps(const Lifetime& life) {
    std::vector<Step> out{step(Verb::Open, 0, ObjectClass::Fabric)};
    for (const Object& o : life.objects()) {
        if (!o.open()) continue;
        out.push_back(step(Verb::Close, o.number));
        if (o.kind == ObjectClass::Fabric) {
            out.push_back(step(Verb::Open, o.number, ObjectClass::Domain));
            out.push_back(step(Verb::Open, o.number, ObjectClass::Eq));
        }
        if (o.kind != ObjectClass::Domain) continue;
        out.push_back(step(Verb::Open, o.number, ObjectClass::Cq));
        for (const Object& eq : life.objects())
            if (eq.open() && eq.kind == ObjectClass::Eq)
                out.push_back(step(Verb::Bind, o.number, ObjectClass::None, eq.number));
    }
    return out;
}

// With any result.
rc::Gen<std::shared_ptr<const Command>> any_step(const Lifetime& life) {
    std::vector<std::shared_ptr<const Command>> out;
    for (Step& s : possible_steps(life)) {
        for (const int ret : {0, 0, 0, -FI_EBUSY, -FI_EINVAL}) {
            s.ret = ret;
            out.push_back(std::make_shared<const AnyStep>(s));
        }
    }
    return rc::gen::elementOf(std::move(out));
}

RC_GTEST_PROP(LifeState, InvariantsHold, ()) {
    Nothing nothing;
    const auto commands = *rc::gen::resize(30, rc::state::gen::commands(Lifetime(), any_step));
    rc::state::runAll(commands, Lifetime(), nothing);
}

TEST(LifeState, ChildrenOfAClosedParentAreLost) {
    Lifetime life;
    Step s;
    s.before = &life;
    s.verb = Verb::Open;
    s.opens = ObjectClass::Fabric;
    life.apply(s);
    s.opens = ObjectClass::Domain;
    s.object = 1;
    life.apply(s);
    s.opens = ObjectClass::Cq;
    s.object = 2;
    life.apply(s);
    s.verb = Verb::Close;
    s.object = 1;
    life.apply(s);
    EXPECT_EQ(life.find(1)->state, Object::State::Closed);
    EXPECT_EQ(life.find(2)->state, Object::State::Lost);
    EXPECT_EQ(life.find(3)->state, Object::State::Lost);
    EXPECT_TRUE(life.closing_order().empty());
}

}  // namespace
}  // namespace selvage::model
