// Random scripts: RapidCheck generates commands over the state model, so that most steps are ones that must work.
//
// A script is a function of (stages, seed, index) alone: the generator is driven by its own rc::Random.
#include <rapidcheck.h>
#include <rapidcheck/state.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>

#include "conformance/generate/lifecycles.h"
#include "conformance/generate/rng.h"
#include "model/lifecycle/step.h"

namespace selvage::conformance {
namespace {

using namespace model;
using ActionVerb = Action::Verb;

constexpr int kLength = 24;  // actions of a script, at most, before everything is closed
constexpr int kMostOpen = 14;

// What the generator knows: the state if the library keeps its promises, and what can be opened.
struct Prospect {
    Lifetime life;
    const std::vector<Stage>* stages = nullptr;
    bool disorder = false;  ///< objects are also closed while others need them

    [[nodiscard]] std::uint64_t ep_type(const Object& o) const {
        for (const Stage& s : *stages)
            if (s.offer == o.offer) return s.ep_type;
        return 0;
    }
};

using Written = std::vector<Action>;
using Command = rc::state::Command<Prospect, Written>;

struct Kind {
    ActionVerb verb;
    ObjectClass opens;
    ObjectClass on;
    int most;  // open at once on one parent
};
constexpr Kind kKinds[] = {
    {ActionVerb::OpenDomain, ObjectClass::Domain, ObjectClass::Fabric, 2},
    {ActionVerb::OpenEq, ObjectClass::Eq, ObjectClass::Fabric, 2},
    {ActionVerb::OpenPep, ObjectClass::Pep, ObjectClass::Fabric, 1},
    {ActionVerb::OpenCq, ObjectClass::Cq, ObjectClass::Domain, 2},
    {ActionVerb::OpenCntr, ObjectClass::Cntr, ObjectClass::Domain, 1},
    {ActionVerb::OpenAv, ObjectClass::Av, ObjectClass::Domain, 1},
    {ActionVerb::OpenMr, ObjectClass::Mr, ObjectClass::Domain, 1},
    {ActionVerb::OpenEp, ObjectClass::Ep, ObjectClass::Domain, 1},
    {ActionVerb::OpenSrx, ObjectClass::Srx, ObjectClass::Domain, 1},
};

ObjectClass opened_by(ActionVerb v) {
    if (v == ActionVerb::OpenFabric) return ObjectClass::Fabric;
    for (const Kind& k : kKinds)
        if (k.verb == v) return k.opens;
    return ObjectClass::None;
}

// The step that an action comes to if every promise is kept.
Step expected(const Prospect& p, const Action& a) {
    Step s;
    s.before = &p.life;
    s.object = a.object;
    s.argument = a.argument;
    s.flags = a.flags;
    s.opens = opened_by(a.verb);
    if (s.opens != ObjectClass::None) {
        s.verb = Verb::Open;
        const Object* parent = p.life.find(static_cast<std::uint64_t>(a.object));
        s.offer_index = parent != nullptr ? parent->offer : a.argument;
    } else if (a.verb == ActionVerb::BindEq || a.verb == ActionVerb::BindEp) {
        s.verb = Verb::Bind;
    } else if (a.verb == ActionVerb::Enable) {
        s.verb = Verb::Enable;
    } else if (a.verb == ActionVerb::Close) {
        s.verb = Verb::Close;
        if (p.life.has_child(a.object) || p.life.is_bound(a.object)) s.ret = -FI_EBUSY;
    } else {
        s.verb = Verb::Query;
    }
    return s;
}

class Act : public Command {
public:
    explicit Act(Action action) : action_(std::move(action)) {}
    void apply(Prospect& p) const override {
        Lifetime after = p.life;
        after.apply(expected(p, action_));
        p.life = std::move(after);
    }
    void run(const Prospect&, Written& written) const override { written.push_back(action_); }
    void show(std::ostream& os) const override { os << static_cast<int>(action_.verb) << " " << action_.object; }

private:
    Action action_;
};

// Everything that could come next, as often as it is likely.
class Choices {
public:
    explicit Choices(const Prospect& p) : p_(p) {
        for (const Object& o : p.life.objects()) open_ += o.open() ? 1 : 0;
    }

    std::vector<Action> all() {
        fabrics();
        for (const Object& o : p_.life.objects()) {
            if (!o.open()) continue;
            for (const Kind& k : kKinds) children(o, k);
            if (o.kind == ObjectClass::Domain) binds(o);
            if (o.kind == ObjectClass::Ep) prepares(o);
            closes(o);
            if (o.kind == ObjectClass::Fabric || o.kind == ObjectClass::Domain)
                add(1, {.verb = ActionVerb::Query, .object = o.number, .argument = 0, .flags = 0, .name = {}});
        }
        add(1, {.verb = ActionVerb::QueryPlain, .object = 0, .argument = 0, .flags = 0, .name = {}});
        return std::move(out_);
    }

private:
    void add(int weight, const Action& a) { out_.insert(out_.end(), static_cast<std::size_t>(weight), a); }

    void fabrics() {
        int fabrics = 0;
        for (const Object& o : p_.life.objects()) fabrics += o.open() && o.kind == ObjectClass::Fabric ? 1 : 0;
        if (fabrics >= 2) return;
        // A second fabric is most often of the same entry, which is where instances get mixed up.
        const std::size_t many = fabrics == 0 ? p_.stages->size() : std::min<std::size_t>(2, p_.stages->size());
        for (std::size_t i = 0; i < many; ++i)
            add(1, {.verb = ActionVerb::OpenFabric,
                    .object = 0,
                    .argument = (*p_.stages)[i].offer,
                    .flags = 0,
                    .name = {}});
    }

    void children(const Object& parent, const Kind& k) {
        if (parent.kind != k.on || open_ >= kMostOpen) return;
        const auto type = p_.ep_type(parent);
        if ((k.opens == ObjectClass::Pep && type != FI_EP_MSG) || (k.opens == ObjectClass::Av && type == FI_EP_MSG))
            return;
        int have = 0;
        for (const Object& o : p_.life.objects())
            have += o.open() && o.parent == parent.number && o.kind == k.opens ? 1 : 0;
        if (have < k.most)
            add(k.opens == ObjectClass::Domain ? 4 : 2,
                {.verb = k.verb, .object = parent.number, .argument = 0, .flags = 0, .name = {}});
    }

    void binds(const Object& domain) {
        if (!domain.bound_eqs.empty() || p_.life.has_child(domain.number)) return;
        for (const Object& o : p_.life.objects())
            if (o.open() && o.kind == ObjectClass::Eq && o.parent == domain.parent && o.number < domain.number)
                add(2, {.verb = ActionVerb::BindEq,
                        .object = domain.number,
                        .argument = o.number,
                        .flags = 0,
                        .name = {}});
    }

    // What lies beside an endpoint is bound to it, and it is enabled once it can be.
    void prepares(const Object& ep) {
        if (ep.enabled) return;
        bool queue = false, peers = false;
        for (const Object& o : p_.life.objects()) {
            const bool bound = std::any_of(ep.bindings.begin(), ep.bindings.end(),
                                           [&](const Binding& b) { return b.number == o.number; });
            queue = queue || (bound && o.kind == ObjectClass::Cq);
            peers = peers || (bound && (o.kind == ObjectClass::Av || o.kind == ObjectClass::Eq));
        }
        for (const Object& o : p_.life.objects()) {
            if (!o.open()) continue;
            const bool beside = o.parent == ep.parent;
            if (o.kind == ObjectClass::Cq && beside && !queue) bind(ep, o, FI_TRANSMIT | FI_RECV);
            if (o.kind == ObjectClass::Av && beside && !peers) bind(ep, o, 0);
            if (o.kind == ObjectClass::Eq && p_.ep_type(ep) == FI_EP_MSG && !peers && is_of_fabric(o, ep))
                bind(ep, o, 0);
        }
        if (queue && peers)
            add(2, {.verb = ActionVerb::Enable, .object = ep.number, .argument = 0, .flags = 0, .name = {}});
    }

    [[nodiscard]] bool is_of_fabric(const Object& eq, const Object& ep) const {
        const Object* domain = p_.life.find(static_cast<std::uint64_t>(ep.parent));
        return domain != nullptr && domain->parent == eq.parent;
    }

    void bind(const Object& ep, const Object& other, std::uint64_t flags) {
        add(2, {.verb = ActionVerb::BindEp, .object = ep.number, .argument = other.number, .flags = flags, .name = {}});
    }

    void closes(const Object& o) {
        const bool busy = p_.life.has_child(o.number) || p_.life.is_bound(o.number);
        if (o.kind == ObjectClass::Eq && p_.life.is_bound_to_endpoint(o.number)) return;
        if (!busy || (p_.disorder && !o.refused))
            add(1, {.verb = ActionVerb::Close, .object = o.number, .argument = 0, .flags = 0, .name = {}});
    }

    const Prospect& p_;
    std::vector<Action> out_;
    int open_ = 0;
};

rc::Gen<std::shared_ptr<const Command>> next_command(const Prospect& p) {
    std::vector<std::shared_ptr<const Command>> candidates;
    for (auto& a : Choices(p).all()) candidates.push_back(std::make_shared<const Act>(std::move(a)));
    return rc::gen::elementOf(std::move(candidates));
}

}  // namespace

std::vector<Action> random_script(const std::vector<Stage>& stages, std::uint64_t seed, std::uint64_t index) {
    if (stages.empty()) return {};
    // Each script stands on one or two of the stages.
    Rng rng(seed, "lifecycles", index);
    std::vector<Stage> chosen{stages[rng.below(stages.size())]};
    if (stages.size() > 1 && rng.chance(30)) chosen.push_back(stages[rng.below(stages.size())]);
    Prospect start;
    start.stages = &chosen;
    start.disorder = rng.chance(20);
    const auto generator = rc::state::gen::commands(start, next_command);
    const auto commands = generator(rc::Random(rng.next()), kLength).value();
    Written written;
    rc::state::runAll(commands, start, written);
    for (const auto& c : commands) c->apply(start);
    for (const int number : start.life.closing_order())
        written.push_back({.verb = ActionVerb::Close, .object = number, .argument = 0, .flags = 0, .name = {}});
    return written;
}

}  // namespace selvage::conformance
