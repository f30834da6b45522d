// The JUnit report: a suite for each provider, a case for each clause.
#include <sstream>

#include "conformance/base/markup.h"
#include "conformance/case/case_text.h"
#include "conformance/report/view.h"
#include "conformance/report/write.h"

namespace selvage::conformance {
namespace {

std::string headline(const Deviation& d) {
    return d.intermittent ? d.summary + " (intermittent: " + tries_text(*d.intermittent) + ")" : d.summary;
}

std::string failure_text(const Deviation& d) {
    std::string out = headline(d) + "\n";
    for (const auto& b : d.because) out += "because " + link_text(b) + "\n";
    out += describe(d.shown_by) + "\n";
    if (d.intermittent) out.append(at_times_text(d)).push_back('\n');
    if (d.program) out += program_text(*d.program) + "\n";
    return d.waived.empty() ? out : out + "waived: " + d.waived + "\n";
}

// The deviations of a clause on a provider, in the order of the report.
std::vector<const Deviation*> of(const std::vector<const Deviation*>& all, std::string_view provider, model::Clause c) {
    std::vector<const Deviation*> out;
    for (const auto* d : all)
        if (d->clause == c && d->provider == provider) out.push_back(d);
    return out;
}

void put_case(std::ostream& o, const Report& r, const ProviderResult& p, const std::vector<const Deviation*>& all,
              const model::ClauseText& c) {
    o << "    <testcase classname=\"" << escape(p.provider) << "\" name=\"" << c.id << "\" assertions=\""
      << p.tally.applied[static_cast<std::size_t>(c.clause)] << "\"";
    const auto result = result_of(r, p, c.clause);
    if (result == ClauseResult::Kept) {
        o << "/>\n";
        return;
    }
    o << ">\n";
    if (result == ClauseResult::Unseen) o << "      <skipped message=\"" << escape(c.unseen) << "\"/>\n";
    if (result == ClauseResult::Unreached) {
        const auto reason = reason_of(r, p, c.clause);
        o << "      <skipped message=\"not reached: " << escape(reason.empty() ? kNoReason : reason) << "\"/>\n";
    }
    if (result == ClauseResult::Broken) {
        const auto mine = of(all, p.provider, c.clause);
        if (mine.empty()) o << "      <failure message=\"broken\" type=\"violation\"/>\n";
        // One result for each case: the gravest finding is it; a waived one is skipped.
        if (!mine.empty()) {
            const auto& d = *mine.front();
            std::string text;
            for (const auto* m : mine) text += failure_text(*m);
            if (!d.waived.empty()) {
                o << "      <skipped message=\"" << escape("waived: " + d.waived) << "\"/>\n";
            } else {
                o << "      <failure message=\"" << escape(headline(d)) << "\" type=\"" << name(d.grade) << "\">"
                  << escape(text) << "</failure>\n";
            }
        }
    }
    o << "    </testcase>\n";
}

}  // namespace

std::string report_junit(const Report& r) {
    const auto all = ordered(r);
    std::ostringstream o;
    o << "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"selvage\">\n";
    for (const auto& p : r.providers) {
        std::uint64_t failures = 0;
        std::uint64_t skipped = 0;
        std::ostringstream cases;
        for (const auto& c : model::clauses()) {
            const auto result = result_of(r, p, c.clause);
            const auto mine = of(all, p.provider, c.clause);
            const bool waived = !mine.empty() && !mine.front()->waived.empty();
            if (result == ClauseResult::Broken && !waived)
                ++failures;
            else if (result != ClauseResult::Kept)
                ++skipped;
            put_case(cases, r, p, all, c);
        }
        o << "  <testsuite name=\"" << escape(p.provider) << "\" tests=\"" << model::clauses().size()
          << "\" failures=\"" << failures << "\" skipped=\"" << skipped
          << "\" errors=\"0\">\n    <properties>\n      <property name=\"library\" value=\"" << escape(r.subject.path)
          << "\"/>\n      <property name=\"transfers\" value=\"" << escape(r.transfers)
          << "\"/>\n      <property name=\"seed\" value=\"" << r.seed << "\"/>\n    </properties>\n"
          << cases.str() << "  </testsuite>\n";
    }
    return o.str() + "</testsuites>\n";
}

}  // namespace selvage::conformance
