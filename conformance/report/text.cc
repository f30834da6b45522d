// The plain text report.
#include <algorithm>
#include <sstream>

#include "conformance/base/markup.h"
#include "conformance/case/case_text.h"
#include "conformance/report/view.h"
#include "conformance/report/write.h"

namespace selvage::conformance {
namespace {

std::string pad(std::string_view text, std::size_t width) {
    std::string out(text);
    if (out.size() < width) out.resize(width, ' ');
    return out;
}

std::string right(std::uint64_t n, std::size_t width) {
    const auto digits = std::to_string(n);
    return std::string(width > digits.size() ? width - digits.size() : 0, ' ') + digits;
}

std::string heading(std::string_view text, char line) {
    return "\n" + std::string(text) + "\n" + std::string(text.size(), line) + "\n";
}

void put_header(std::ostream& o, const Report& r) {
    o << "Selvage report\n==============\n";
    o << "library    " << clean(r.subject.path) << "\n";
    o << "version    " << r.subject.version.str() << "\n";
    if (!r.subject.build_id.empty()) o << "build id   " << clean(r.subject.build_id) << "\n";
    o << "seed       " << r.seed << "\n";
    o << "cases      " << r.cases << " per suite\n";
    if (!r.transfers.empty()) o << "transfers  " << clean(r.transfers) << "\n";
}

void put_deviation(std::ostream& o, const Deviation& d) {
    const auto& c = model::clause_text(d.clause);
    o << "\n  " << c.id << " (version " << d.api_version.str() << ", seen " << d.seen
      << (d.seen == 1 ? " time" : " times");
    if (d.intermittent) o << ", intermittent: " << tries_text(*d.intermittent);
    o << ")\n";
    o << wrap(clean(d.summary), "    ");
    o << wrap("Promise: " + std::string(c.promise), "    ");
    for (const auto& b : d.because) o << wrap("because " + link_text(b), "    ");
    o << wrap(clean(describe(d.shown_by)), "      ");
    if (d.intermittent) o << wrap(std::string(at_times_text(d)), "    ");
    if (d.program) o << wrap(clean(program_text(*d.program)), "    ");
    if (!d.waived.empty()) o << wrap("waived: " + clean(d.waived), "    ");
    if (!d.saved_as.empty()) o << "    reproducer: " << clean(d.saved_as) << "\n";
}

void put_deviations(std::ostream& o, const Report& r) {
    const auto all = ordered(r);
    std::string group;
    std::string provider;
    for (const auto* d : all) {
        const std::string now(standing(*d));
        if (now != group) {
            const auto n =
                std::count_if(all.begin(), all.end(), [&](const Deviation* x) { return standing(*x) == now; });
            o << heading(now + ": " + std::to_string(n), '-');
            group = now;
            provider.clear();
        }
        if (d->provider != provider) o << "\n" << (d->provider.empty() ? "(library)" : clean(d->provider)) << "\n";
        provider = d->provider;
        put_deviation(o, *d);
    }
    if (all.empty()) o << "\nNo broken promise was found.\n";
    if (const auto programs = programs_text(r); !programs.empty()) o << "\n" << clean(programs) << "\n";
}

void put_table(std::ostream& o, const Report& r) {
    o << heading("Clauses by provider", '-');
    o << pad("provider", 24) << "   kept  broken    unreached  unseen       cases\n";
    for (const auto& p : r.providers) {
        const auto n = counts_of(r, p);
        o << pad(clean(p.provider), 24) << right(n[0], 7) << right(n[1], 8) << right(n[2], 13) << right(n[3], 8)
          << right(p.judged, 14) << "\n";
        for (const auto& note : p.notes) o << wrap(clean(note), "    ");
    }
}

// Clauses that a provider was not brought to, and why.
void put_unreached(std::ostream& o, const Report& r) {
    const auto all = unreached(r);
    if (all.empty()) return;
    o << heading("Unreached", '-')
      << "Clauses that nothing in this run made apply, with the reason for each provider.\n";
    for (const auto& u : all) {
        o << "\n  " << u.clause->id << " (" << model::name(u.clause->level) << ")"
          << (u.anywhere               ? ""
              : r.providers.size() > 1 ? ": on no provider"
                                       : "")
          << "\n";
        for (const auto& [reason, providers] : u.reasons)
            o << wrap(clean(providers + ": " + std::string(reason)), "    ");
    }
}

// How far the run got: a line for each provider, and the last line of the report for all of them.
void put_coverage(std::ostream& o, const Report& r) {
    o << heading("Coverage", '-');
    if (r.providers.size() > 1) {
        for (const auto& p : r.providers)
            o << wrap(clean(p.provider) + ": " + coverage_text(coverage_of(r, p)), "  ", 120);
        o << "\n";
    }
    o << coverage_text(coverage_of(r)) << "\n";
}

void put_exercised(std::ostream& o, const Report& r) {
    o << heading("How often each clause was checked", '-');
    for (const auto& c : model::clauses()) {
        std::uint64_t least = ~std::uint64_t{0};
        std::uint64_t sum = 0;
        for (const auto& p : r.providers) {
            const auto n = p.tally.applied[static_cast<std::size_t>(c.clause)];
            least = std::min(least, n);
            sum += n;
        }
        if (sum != 0) o << "  " << pad(c.id, 44) << right(sum, 12) << "   at least " << least << " on each provider\n";
    }
}

}  // namespace

std::string report_text(const Report& r) {
    std::ostringstream o;
    put_header(o, r);
    put_deviations(o, r);
    put_table(o, r);
    put_unreached(o, r);
    put_exercised(o, r);
    put_coverage(o, r);
    return o.str();
}

}  // namespace selvage::conformance
