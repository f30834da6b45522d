// See lifecycle.h.
#include "conformance/drive/lifecycle/lifecycle.h"

#include <malloc.h>
#include <rdma/fi_domain.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>

#include "conformance/drive/lifecycle/serialize.h"
#include "conformance/generate/lifecycles.h"
#include "conformance/harness/codec.h"

namespace selvage::conformance {
namespace {

using namespace model;
using ActionVerb = Action::Verb;

constexpr int kPerturb = 0xA5;                     // what is freed is overwritten, so that using it shows
constexpr std::chrono::milliseconds kQuiet{3000};  // a step that takes longer hangs

ObjectClass opened_by(ActionVerb v) {
    switch (v) {
        case ActionVerb::OpenFabric:
            return ObjectClass::Fabric;
        case ActionVerb::OpenDomain:
        case ActionVerb::OpenDomain2:
            return ObjectClass::Domain;
        case ActionVerb::OpenEq:
            return ObjectClass::Eq;
        case ActionVerb::OpenCq:
            return ObjectClass::Cq;
        case ActionVerb::OpenCntr:
            return ObjectClass::Cntr;
        case ActionVerb::OpenAv:
            return ObjectClass::Av;
        case ActionVerb::OpenPep:
            return ObjectClass::Pep;
        case ActionVerb::OpenMr:
        case ActionVerb::OpenMrv:
            return ObjectClass::Mr;
        case ActionVerb::OpenEp:
            return ObjectClass::Ep;
        case ActionVerb::OpenSrx:
            return ObjectClass::Srx;
        default:
            return ObjectClass::None;
    }
}

Verb verb_of(ActionVerb v) {
    switch (v) {
        case ActionVerb::BindEq:
        case ActionVerb::BindEp:
            return Verb::Bind;
        case ActionVerb::Enable:
            return Verb::Enable;
        case ActionVerb::Receive:
            return Verb::Receive;
        case ActionVerb::OpenOps:
            return Verb::OpenOps;
        case ActionVerb::SetOps:
            return Verb::SetOps;
        case ActionVerb::Close:
            return Verb::Close;
        case ActionVerb::Query:
        case ActionVerb::QueryPlain:
            return Verb::Query;
        default:
            return Verb::Open;
    }
}

// The class of object that another is opened on.
ObjectClass parent_of(ObjectClass kind) {
    switch (kind) {
        case ObjectClass::Fabric:
        case ObjectClass::None:
            return ObjectClass::None;
        case ObjectClass::Domain:
        case ObjectClass::Eq:
        case ObjectClass::Pep:
            return ObjectClass::Fabric;
        default:
            return ObjectClass::Domain;
    }
}

Altered altered_by(const Action& a, ObjectClass kind) {
    if (a.name.empty()) return Altered::Nothing;
    if (kind == ObjectClass::Domain) return Altered::DomainName;
    if (kind != ObjectClass::Fabric) return Altered::Nothing;
    return (a.flags & kLifeOtherProvider) != 0 ? Altered::ProviderName : Altered::FabricName;
}

// The names in a list of layers, in the order of the alphabet.
std::vector<std::string_view> layers(std::string_view list) {
    std::vector<std::string_view> out;
    for (;;) {
        const auto end = list.find(';');
        out.push_back(list.substr(0, end));
        if (end == std::string_view::npos) break;
        list.remove_prefix(end + 1);
    }
    std::sort(out.begin(), out.end());
    return out;
}

bool same_layers(std::string_view list, const Text& provider) {
    return provider && list != *provider && layers(list) == layers(*provider);
}

// A crash that breaks no clause is passed on, for whoever watches this process.
[[noreturn]] void die_alike(const Ending& e) {
    if (e.kind == Ending::Kind::Crashed) {
        std::signal(e.signal, SIG_DFL);
        std::raise(e.signal);
    }
    while (e.kind == Ending::Kind::Hung) pause();
    _exit(e.status);
}

}  // namespace

Life::Life(TestContext& context, const Case& c) : context_(context), case_(c), arena_(room_for(c.first)) {}

Life::~Life() {
    if (list_ != nullptr) context_.library().entries().freeinfo(list_);
}

void Life::issue() {
    const Encoded e = encode(case_.first, arena_, {});
    const int ret = context_.library().entries().getinfo(e.version, e.node, e.service, e.flags, e.hints, &list_);
    if (ret != 0) list_ = nullptr;
    decode_list(list_, {}, answer_);
    for (fi_info* i = list_; i != nullptr && entries_.size() < answer_.offers.size(); i = i->next)
        entries_.push_back(i);
}

int Life::offer_of(const Action& action) const {
    if (action.verb == ActionVerb::OpenFabric || action.argument != 0) return action.argument;
    const Object* parent = state_.find(static_cast<std::uint64_t>(std::max(action.object, 0)));
    return parent != nullptr ? parent->offer : 0;
}

const Info* Life::offer_at(int entry) const {
    const auto index = static_cast<std::size_t>(entry);
    const bool there = entry >= 0 && index < answer_.offers.size();
    return there && offer_is_of(answer_.offers[index], case_.provider) ? &answer_.offers[index] : nullptr;
}

Step Life::plan(const Action& action) const {
    Step s;
    s.before = &state_;
    s.verb = verb_of(action.verb);
    s.object = action.verb == ActionVerb::OpenFabric || action.verb == ActionVerb::QueryPlain ? 0 : action.object;
    s.argument = action.argument;
    s.flags = action.flags;
    s.to_endpoint = action.verb == ActionVerb::BindEp;
    s.name = action.name;
    s.override_ops = (action.flags & kLifeCompleteOps) != 0   ? Override::Complete
                     : (action.flags & kLifeTooSmallOps) != 0 ? Override::TooSmall
                                                              : Override::NullCallbacks;
    s.version = case_.first.version;
    s.provider = case_.provider;
    if (const Object* o = s.target(); o != nullptr && s.verb != Verb::Open) s.offer = offer_at(o->offer);
    if (s.verb != Verb::Open) return s;
    s.opens = opened_by(action.verb);
    s.second_call = action.verb == ActionVerb::OpenDomain2;
    s.altered = altered_by(action, s.opens);
    s.names_only = (case_.first.flags & FI_PROV_ATTR_ONLY) != 0;
    s.offer_index = offer_of(action);
    s.offer = offer_at(s.offer_index);
    const Text none;
    if (s.altered == Altered::ProviderName &&
        same_layers(action.name, s.offer != nullptr ? s.offer->fabric.prov_name : none))
        s.altered = Altered::ProviderOrder;
    s.av_type = s.opens == ObjectClass::Av ? action.flags : 0;
    if (action.verb == ActionVerb::OpenMr) s.requested_key = action.flags;
    if (action.verb == ActionVerb::OpenMrv) {
        s.requested_key = kMrvKey;
        s.vectors = vectors_of(action.flags);
    }
    return s;
}

bool Life::possible(const Step& s) const {
    const ObjectClass kind = s.target() != nullptr ? s.target()->kind : ObjectClass::None;
    if (s.verb == Verb::Open) {
        return s.offer != nullptr && s.offer->has(Part::Fabric) && s.offer->has(Part::Domain) &&
               kind == parent_of(s.opens) && (s.altered == Altered::Nothing || !s.name.empty());
    }
    if (s.verb == Verb::Query) {
        return s.object == 0 || kind == ObjectClass::Fabric || kind == ObjectClass::Domain || kind == ObjectClass::Pep;
    }
    const Object* other = s.argument > 0 ? state_.find_open(static_cast<std::uint64_t>(s.argument)) : nullptr;
    if (s.verb == Verb::Bind)
        return other != nullptr && kind == (s.to_endpoint ? ObjectClass::Ep : ObjectClass::Domain);
    if (s.verb == Verb::Enable) return kind == ObjectClass::Ep;
    if (s.verb == Verb::Receive) return kind == ObjectClass::Ep && s.target()->enabled;
    // Of closing the event queue of an endpoint that is open the pages say nothing.
    if (s.verb == Verb::Close && kind == ObjectClass::Eq) return !state_.is_bound_to_endpoint(s.object);
    return kind != ObjectClass::None;
}

void Life::advance(const Step& s) {
    Lifetime after = state_;
    after.apply(s);
    state_ = std::move(after);
}

bool Life::goes_ahead(Step& s) {
    if (possible(s)) return true;
    if (s.verb != Verb::Open) return false;
    // Its number is used up all the same.
    s.ret = -FI_EOTHER;
    raw_.push_back({});
    advance(s);
    return false;
}

void Life::open(const Action& action, Step& s) {
    Opening o;
    o.kind = s.opens;
    o.parent = s.object > 0 ? raw(s.object).at : nullptr;
    o.info = entries_[static_cast<std::size_t>(s.offer_index)];
    o.name = action.name;
    o.altered = s.altered;
    o.second_call = s.second_call;
    o.flags = action.flags;
    o.null_context = !s.second_call && (action.flags & kLifeNullContext) != 0;
    o.av_type = s.av_type;
    o.key = s.requested_key;
    o.vectors = s.vectors;
    raw_.push_back(open_raw(context_.library().entries(), o, s));
    if (s.opens == ObjectClass::Mr && s.worked() && s.target()->asynchronous)
        s.completed = registration_reported(raw(s.target()->bound_eqs.back()));
}

// fi_getinfo with the case's hints and perhaps an instance.
void Life::query(Step& s) {
    Query query = case_.first;
    if (const Object* o = s.target()) {
        if (!query.hints) query.hints.emplace();
        const auto handle = static_cast<std::uint64_t>(s.object);
        const Field f = o->kind == ObjectClass::Fabric   ? Field::fabric_fabric
                        : o->kind == ObjectClass::Domain ? Field::domain_domain
                                                         : Field::handle;
        if (f == Field::fabric_fabric) query.hints->add(Part::Fabric);
        if (f == Field::domain_domain) query.hints->add(Part::Domain);
        set(*query.hints, f, handle);
    }
    // The address of a closed object identifies it only as long as no open one has it.
    std::vector<void*> pointers;
    for (std::size_t i = 0; i < raw_.size(); ++i) {
        const bool open = state_.find_open(i + 1) != nullptr;
        const bool reused = !open && std::any_of(raw_.begin() + static_cast<std::ptrdiff_t>(i) + 1, raw_.end(),
                                                 [&](const RawObject& later) { return later.at == raw_[i].at; });
        pointers.push_back(reused ? nullptr : raw_[i].at);
    }
    context_.single().set_objects(pointers);
    found_ = context_.single().issue(query).answer;
    s.ret = found_.ret;
    s.answer = &found_;
}

void Life::take(const Action& action, Step& s) {
    switch (s.verb) {
        case Verb::Open:
            return open(action, s);
        case Verb::Bind:
            s.ret = bind_raw(raw(s.object), raw(s.argument), s.flags);
            return;
        case Verb::Enable:
            s.ret = enable_raw(raw(s.object));
            return;
        case Verb::Receive:
            s.ret = receive_raw(raw(s.object), std::min(s.flags, kMostReceives), s.accepted);
            return;
        case Verb::OpenOps:
            s.ret = open_ops_raw(raw(s.object), action.name);
            return;
        case Verb::SetOps:
            s.ret = set_ops_raw(raw(s.object), action.name, s.override_ops);
            return;
        case Verb::Close:
            s.ret = close_raw(raw(s.object));
            return;
        case Verb::Query:
            return query(s);
    }
}

void Life::close_all() {
    for (const int number : state_.closing_order()) close_raw(raw(number));
}

void Life::live(Channel& channel) {
    mallopt(M_PERTURB, kPerturb);
    for (std::size_t i = 0; i < case_.actions.size(); ++i) {
        Step s = plan(case_.actions[i]);
        if (!goes_ahead(s)) continue;
        channel.doing(i + 1);
        take(case_.actions[i], s);
        channel.send(tell(s));
        advance(s);
    }
    channel.doing(case_.actions.size() + 1);
    close_all();
}

void Life::judge_crash(Step& s, const Ending& ending, Tally& tally, std::vector<Because>& broken) {
    s.crashed_signal = ending.kind == Ending::Kind::Crashed ? ending.signal : 0;
    s.hung = ending.kind == Ending::Kind::Hung;
    s.exited = ending.kind == Ending::Kind::Exited;
    judge(s, tally, broken);
    if (broken.empty() && !enables_too_early(s)) die_alike(ending);
}

void Life::judge_records(const std::vector<std::string>& records, const Ending& ending, Tally& tally,
                         std::vector<Because>& broken) {
    auto next = records.begin();
    for (const Action& action : case_.actions) {
        Step s = plan(action);
        if (!goes_ahead(s)) continue;
        if (next == records.end()) return judge_crash(s, ending, tally, broken);
        if (!parse(*next++, s, found_)) return;
        if (s.verb == Verb::Open) raw_.push_back({});
        if (s.verb == Verb::Query) {
            s.query = &case_.first;
            s.answer = &found_;
        }
        judge(s, tally, broken);
        if (!broken.empty()) return;
        advance(s);
    }
}

void Life::run(Tally& tally, std::vector<Because>& broken) {
    issue();
    std::vector<std::string> records;
    const Ending ending = run_in_child([&](Channel& channel) { live(channel); },
                                       [&](std::string_view record) { records.emplace_back(record); }, kQuiet);
    judge_records(records, ending, tally, broken);
}

void Life::run_here(Tally& tally, std::vector<Because>& broken) {
    issue();
    for (const Action& action : case_.actions) {
        Step s = plan(action);
        if (!goes_ahead(s)) continue;
        take(action, s);
        if (s.verb == Verb::Query) s.query = &case_.first;
        judge(s, tally, broken);
        if (!broken.empty()) break;
        advance(s);
    }
    if (broken.empty()) close_all();
    context_.single().set_objects({});
}

}  // namespace selvage::conformance
