#include "conformance/explain/print_explanation.h"
#include "conformance/base/markup.h"

#include <algorithm>

#include "conformance/base/terminal.h"
#include "conformance/explain/summary.h"
#include "model/spec/clause.h"
#include "model/text/call_text.h"

namespace selvage::conformance {

using namespace model;

namespace {

// What was asked for in the field of a link, and what the entry offers there.
std::string requested_and_offered(const Query& q, const Entry& entry, Field f) {
    if (!is_number(f) && !is_text(f)) return {};
    const auto requested = q.hints ? print_field(*q.hints, f) : std::string("NULL hints");
    return printable(fmt::format("{}: asked {}, offered {}", row(f).path, requested, print_field(entry.offer, f)));
}

std::string joined(const std::vector<std::string>& names) {
    std::string out;
    for (const auto& n : names) out += (out.empty() ? "" : ", ") + printable(n);
    return out;
}

void print_verdict(LineWriter& out, const std::vector<Answered>& answers) {
    const auto granting = std::count_if(answers.begin(), answers.end(), [](const Answered& a) { return !a.refused(); });
    const auto refused = tinted("refused", Tint::Bad);
    if (answers.empty()) {
        out.line("{}: the library has no providers", refused);
    } else if (granting) {
        out.line("{} by {} of {} providers", tinted("granted", Tint::Good), granting, answers.size());
    } else if (answers.front().ret != 0) {
        out.line("{}: fi_getinfo answers -{}", refused, print_error(answers.front().ret));
    } else {
        out.line("{}, and granted by others: {}", refused, joined(answers.front().others));
    }
}

void print_summary(LineWriter& out, const Query& query, const std::vector<Answered>& answers) {
    std::size_t width = 0;
    for (const auto& a : answers) width = std::max(width, printable(a.provider).size());
    bool any_unrequested = false;
    for (const auto& a : answers) {
        const auto name = fmt::format("{:<{}}", printable(a.provider), width);
        if (a.refused()) {
            out.line("  {}  {}", name, refusal_reason(query, a));
            continue;
        }
        // A profile has all that an offer can do, not what it answers.
        const auto unrequested = a.declared ? std::string() : unrequested_capabilities(query, a.offers);
        any_unrequested = any_unrequested || !unrequested.empty();
        out.line("  {}  granted by {}{}{}", name, counted(a.offers.size(), "offer"),
                 unrequested.empty() ? "" : "; unasked: ", unrequested);
    }
    if (any_unrequested) out.line("  (implied: by what was asked; secondary: a provider may add what costs nothing)");
}

// The smallest change of all, as a table, as the C lines to change and as hints.
void print_smallest_change(LineWriter& out, const std::vector<Answered>& answers) {
    const Proposal* best = nullptr;
    for (const auto& a : answers) {
        if (a.proposal && (!best || a.proposal->changes.size() < best->changes.size())) best = &*a.proposal;
    }
    if (!best) return out.line("no change was found that is granted");
    out.line("smallest change that is granted, by {}:", tinted(printable(best->granted_by), Tint::Bold));
    for (const auto& c : best->changes) {
        out.line("  {}: {} -> {}", row(c.field).path, printable(c.before), printable(c.after));
        const auto statement = printable(c_statement(best->query, c.field));
        if (!statement.empty()) out.line("      {}", statement);
    }
    out.line("  {}", tinted(printable(print_call(best->query)), Tint::Dim));
}

}  // namespace

void print_entry(LineWriter& out, const Query& q, const Explained& e) {
    const auto where =
        printable(fmt::format("{} {} {} {}", e.provider, print_field(e.entry.offer, Field::ep_type),
                              print_field(e.entry.offer, Field::addr_format), e.entry.offer.domain.name.value_or("-")));
    switch (e.matching.choice) {
        case model::Choice::No:
            out.line("{} {}", tinted("refused", Tint::Bad), where);
            break;
        case model::Choice::May:
            out.line("{} {}", tinted("open   ", Tint::Warn), where);
            break;
        default:
            out.line("{} {}", tinted("granted", Tint::Good), where);
            break;
    }
    for (const auto* list : {&e.matching.refuses, &e.matching.leaves_open}) {
        for (const auto& b : *list) {
            out.line("    {}: {}", clause_text(b.clause).id, printable(print_evidence(b.evidence)));
            const auto sides = requested_and_offered(q, e.entry, b.evidence.field);
            if (!sides.empty()) out.line("        {}", sides);
            if (list == &e.matching.refuses) out.line("        {}", tinted(clause_text(b.clause).promise, Tint::Dim));
        }
    }
}

void print_proposals(LineWriter& out, const std::string& provider, const std::vector<Proposal>& proposals) {
    if (proposals.empty()) {
        out.line("no change was found that {} grants", printable(provider));
        return;
    }
    out.line("smallest changes that {} grants:", printable(provider));
    for (const auto& p : proposals) {
        out.line("  {}", tinted(printable(p.granted_by), Tint::Bold));
        for (const auto& c : p.changes)
            out.line("    {}: {} -> {}", row(c.field).path, printable(c.before), printable(c.after));
        out.line("    {}", tinted(printable(print_call(p.query)), Tint::Dim));
    }
}

std::vector<Explained> print_provider(LineWriter& out, TestContext& context, const Query& query) {
    const std::string name = printable(context.provider());
    const Profile& profile = context.profile(query.version);
    const Verdict verdict = expect(query, context.world(), profile);
    if (verdict.kind == Verdict::Kind::MustRefuse) {
        out.line("{} {}: the call itself", tinted("refused", Tint::Bad), name);
        for (const auto& b : verdict.because) {
            out.line("    {}: {}", clause_text(b.clause).id, printable(print_evidence(b.evidence)));
        }
    }
    if (profile.entries.empty()) {
        out.line("{} {}: it offers nothing to callers of version {}", tinted("refused", Tint::Bad), name,
                 query.version.str());
    }
    auto explained = explain(query, context.world(), profile);
    for (const auto& e : explained) print_entry(out, query, e);
    const Answer answer = context.single().issue(query).answer;
    if (offers_any(answer, context.provider())) return {};
    if (verdict.kind == Verdict::Kind::Granted) {
        out.line("{} {} refuses this call, though the text demands an offer", tinted("deviation", Tint::Bad), name);
    }
    return explained;
}

void print_answers(LineWriter& out, const Query& query, const std::vector<Answered>& answers) {
    print_verdict(out, answers);
    print_summary(out, query, answers);
    if (std::any_of(answers.begin(), answers.end(), [](const Answered& a) { return !a.refused(); })) return;
    out.line("");
    print_smallest_change(out, answers);
}

}  // namespace selvage::conformance
