#include "conformance/explain/answered.h"

#include <fmt/format.h>
#include <rdma/fi_errno.h>

#include <algorithm>

#include "conformance/base/terminal.h"
#include "conformance/explain/summary.h"
#include "model/text/call_text.h"

namespace selvage::conformance {

using namespace model;

namespace {

constexpr std::size_t kObstaclesShown = 2;

// By a rule for all providers, not by what this one offers.
bool is_call_refused(const Answered& a) {
    const auto refuses = [](const Explained& e) { return e.matching.choice == model::Choice::No; };
    const bool by_offers = a.declared && !a.entries.empty() && std::all_of(a.entries.begin(), a.entries.end(), refuses);
    return a.verdict.kind == Verdict::Kind::MustRefuse && !a.verdict.because.empty() && !by_offers;
}

// An entry fits, and the text lets the provider refuse all the same: what it answered, and what it would grant.
std::string unexplained(const Answered& a) {
    std::string out = "refuses what one of its entries fits, as it may: fi_getinfo returned ";
    out += a.ret == 0 ? std::string("0, with no offer of it") : "-" + print_error(a.ret);
    if (!a.proposal) return out + "; no change of the hints was found that it grants";
    std::string changes;
    for (const auto& c : a.proposal->changes)
        changes += fmt::format("{}{} = {}", changes.empty() ? "" : ", ", row(c.field).path, c.after);
    return out + "; granted with " + printable(changes);
}

}  // namespace

bool offers_any(const Answer& a, const std::string& provider) {
    return std::any_of(a.offers.begin(), a.offers.end(), [&](const Info& o) { return offer_is_of(o, provider); });
}

Answered query_provider(TestContext& context, const Query& query) {
    Answered out;
    const std::string& provider = out.provider = context.provider();
    const Profile& profile = context.profile(query.version);
    out.verdict = expect(query, context.world(), profile);
    out.entries = explain(query, context.world(), profile);
    Answer answer = context.single().issue(query).answer;
    out.ret = answer.ret;
    for (auto& o : answer.offers) {
        const auto name = o.fabric.prov_name.value_or("");
        if (offer_is_of(o, provider)) {
            out.offers.push_back(std::move(o));
        } else if (std::find(out.others.begin(), out.others.end(), name) == out.others.end()) {
            out.others.push_back(name);
        }
    }
    if (out.refused()) {
        const auto granted = [&](const Query& q, const std::string& name) {
            return offers_any(context.single().issue(q).answer, name);
        };
        auto proposals = propose(query, context.world(), out.entries, granted, 1);
        if (!proposals.empty()) out.proposal = std::move(proposals.front());
    }
    return out;
}

Answered judge_profile(const Profile& profile, const Query& query) {
    const World world;
    Answered out;
    out.declared = true;
    out.provider = profile.provider;
    out.verdict = expect(query, world, profile);
    out.entries = explain(query, world, profile);
    const auto is_granted = [&](const Query& q) { return expect(q, world, profile).kind == Verdict::Kind::Granted; };
    for (const auto i : out.verdict.granting) out.offers.push_back(profile.entries[i].offer);
    if (!is_granted(query)) out.offers.clear();
    if (!out.refused()) return out;
    out.ret = -(out.verdict.errnos.empty() ? FI_ENODATA : out.verdict.errnos.front());
    auto proposals = propose(
        query, world, out.entries, [&](const Query& q, const std::string&) { return is_granted(q); }, 1);
    if (!proposals.empty()) out.proposal = std::move(proposals.front());
    return out;
}

std::string refusal_reason(const Query& query, const Answered& a) {
    if (is_call_refused(a)) return printable(print_evidence(a.verdict.because.front().evidence));
    if (a.entries.empty()) return fmt::format("offers nothing here to callers of version {}", query.version.str());
    const auto found = obstacles(query, a.entries, a.proposal ? &*a.proposal : nullptr);
    std::string out;
    for (std::size_t i = 0; i < std::min(found.size(), kObstaclesShown); ++i)
        out += (i ? "; " : "") + printable(found[i]);
    if (found.size() > kObstaclesShown) out += fmt::format("; and {} more", found.size() - kObstaclesShown);
    if (a.declared && a.verdict.kind == Verdict::Kind::MayRefuse) return "may be refused: " + out;
    if (a.verdict.kind == Verdict::Kind::Granted)
        return out + (out.empty() ? "" : "; ") + "a deviation: the text demands an offer";
    return out.empty() ? unexplained(a) : out;
}

}  // namespace selvage::conformance
