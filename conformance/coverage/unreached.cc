// See unreached.h.
#include "conformance/coverage/unreached.h"

#include <fmt/format.h>
#include <rdma/fi_domain.h>

#include <cstdlib>
#include <optional>
#include <utility>
#include <vector>

#include "conformance/base/child.h"
#include "conformance/coverage/preconditions.h"
#include "conformance/drive/infer.h"
#include "conformance/drive/lifecycle/raw_calls.h"
#include "conformance/harness/alloc_hooks.h"
#include "conformance/harness/codec.h"
#include "conformance/run/crash_triage.h"
#include "model/judge/judge.h"
#include "model/spec/clause.h"

namespace selvage::conformance {
namespace {

using namespace model;

// The properties that bring up clauses of a kind, in words that fit a sentence.
std::vector<std::string> properties_for(Judges judges) {
    switch (judges) {
        case Judges::Query:
        case Judges::Match:
        case Judges::Offer:
        case Judges::Answer:
            return {"classes", "random"};
        case Judges::Pair:
            return {"pairs"};
        case Judges::SideEffects:
            return {"side_effects"};
        case Judges::Lifecycle:
            return {"openings", "lifecycles"};
        case Judges::String:
            return {"strings"};
        case Judges::Traffic:
            return {"traffic"};
        case Judges::Group:
            return {"groups"};
        case Judges::None:
            break;
    }
    return {};
}

// What the run itself says, without a look at the library.
std::string reason_of_run(const Plan& plan, Version library, const ProviderResult& result, const ClauseText& c) {
    if (!wants(plan, c.clause)) return std::string(kOtherClauses);
    if (c.since > library)
        return fmt::format("holds from version {} on; the library is of {}", c.since.str(), library.str());
    for (const auto& name : properties_for(c.judges))
        if (!result.finished.contains(name)) return fmt::format("{}{}", kNotToItsEnd, name);
    return {};
}

std::vector<const ClauseText*> unexplained(const Report& report, const ProviderResult& result) {
    std::vector<const ClauseText*> out;
    for (const auto& c : clauses()) {
        if (result_of(report, result, c.clause) == ClauseResult::Unreached && !result.reasons.contains(c.clause))
            out.push_back(&c);
    }
    return out;
}

// An offer's fabric and domain, open as long as this lives.
class Ground {
public:
    Ground(const Entries& entries, fi_info* info) : entries_(entries), info_(info) {
        fabric_ = open(ObjectClass::Fabric, {}).first;
        if (fabric_.at != nullptr) domain_ = open(ObjectClass::Domain, fabric_).first;
    }
    ~Ground() {
        if (domain_.at != nullptr) close_raw(domain_);
        if (fabric_.at != nullptr) close_raw(fabric_);
    }
    Ground(const Ground&) = delete;
    Ground& operator=(const Ground&) = delete;

    [[nodiscard]] bool stands() const { return domain_.at != nullptr; }
    /// What fi_set_ops makes of a complete memory override.
    int try_override() { return set_ops_raw(domain_, FI_SET_OPS_HMEM_OVERRIDE, Override::Complete); }
    /// Opens and closes an object.  @return what opening it returned.
    int try_out(ObjectClass what) {
        const bool of_fabric = what == ObjectClass::Eq || what == ObjectClass::Pep;
        const auto [object, ret] = open(what, of_fabric ? fabric_ : domain_);
        if (object.at != nullptr) close_raw(object);
        return ret;
    }

private:
    std::pair<RawObject, int> open(ObjectClass what, const RawObject& parent) {
        Opening o;
        o.kind = what;
        o.parent = parent.at;
        o.info = info_;
        o.key = kKey;
        Step step;
        const RawObject object = open_raw(entries_, o, step);
        return {step.ret == 0 ? object : RawObject{}, step.ret};
    }

    static constexpr std::uint64_t kKey = 0x5A;  // fits any key size
    const Entries& entries_;
    fi_info* info_;
    RawObject fabric_, domain_;
};

// Tries something on the provider's offers until it works, in a child of its own, since it may end there.
// @return what the last try returned; nothing if one worked, or none could be made.
template <typename Try>
std::optional<int> refused(TestContext& context, Try&& try_once) {
    constexpr int kMostOffers = 8;
    std::optional<int> last;
    run_in_child(
        [&](Channel& channel) {
            const Entries& entries = context.library().entries();
            const Query q = widest_query(context.provider(), context.version());
            Arena arena(room_for(q));
            const Encoded call = encode(q, arena, {});
            fi_info* list = nullptr;
            if (entries.getinfo(call.version, call.node, call.service, call.flags, call.hints, &list) != 0) return;
            int left = kMostOffers;
            for (fi_info* info = list; info != nullptr && left > 0; info = info->next) {
                Info offer;
                decode(info, {}, offer);
                if (!offer_is_of(offer, context.provider())) continue;
                --left;
                Ground ground(entries, info);
                if (!ground.stands()) continue;
                const int ret = try_once(ground);
                channel.send(std::to_string(ret));
                if (ret == 0) break;
            }
        },
        [&](std::string_view record) { last = std::atoi(std::string(record).c_str()); }, kQuietAgain);
    return last == 0 ? std::nullopt : last;
}

void try_openings(TestContext& context, Channel& channel, Facts& facts) {
    for (const auto what : {ObjectClass::Eq, ObjectClass::Pep, ObjectClass::Cq, ObjectClass::Cntr, ObjectClass::Av,
                            ObjectClass::Mr, ObjectClass::Ep, ObjectClass::Srx}) {
        channel.doing(static_cast<std::uint64_t>(what) + 1);
        const auto ret = refused(context, [&](Ground& ground) { return ground.try_out(what); });
        if (ret) facts.refused[what] = *ret;
    }
    facts.override_refused = refused(context, [](Ground& ground) { return ground.try_override(); });
}

// The child's side: one record for each clause that the provider explains, "id reason".  What needs objects comes
// last, as opening them may end the child.
void look_at_provider(const Plan& plan, const ProviderResult& result, std::vector<const ClauseText*> open,
                      Channel& channel) {
    std::string error;
    auto context = TestContext::open(plan, result.provider, error);
    if (!context) return;
    std::vector<Profile> profiles;
    for (unsigned minor = 0; minor <= context->version().minor_part(); ++minor) {
        channel.doing(minor + 1);  // a sign of life: each version is asked anew
        profiles.push_back(context->profile(Version(1, minor)));
    }
    Facts facts{.profiles = profiles,
                .result = result,
                .refused = {},
                .override_refused = {},
                .shortage = allocations_available()};
    const auto tell = [&] {
        std::erase_if(open, [&](const ClauseText* c) {
            const auto reason = lacking(c->clause, facts);
            if (!reason.empty()) channel.send(std::string(c->id) + " " + reason);
            return !reason.empty();
        });
    };
    tell();
    if (open.empty()) return;
    try_openings(*context, channel, facts);
    tell();
}

}  // namespace

void explain_unreached(const Plan& plan, const Report& report, ProviderResult& result) {
    for (const auto* c : unexplained(report, result)) {
        auto reason = reason_of_run(plan, report.subject.version, result, *c);
        if (!reason.empty()) result.reasons[c->clause] = std::move(reason);
    }
    const auto open = unexplained(report, result);
    if (open.empty()) return;
    run_in_child([&](Channel& channel) { look_at_provider(plan, result, open, channel); },
                 [&](std::string_view record) {
                     const auto cut = record.find(' ');
                     const auto* c = find_clause(record.substr(0, cut));
                     if (c != nullptr && cut != std::string_view::npos)
                         result.reasons[c->clause] = std::string(record.substr(cut + 1));
                 },
                 kQuiet);
}

}  // namespace selvage::conformance
