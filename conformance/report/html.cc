// The report as one page: what the library is, how each provider stands, every clause by every provider, every finding.
// Everything that comes from outside goes through escape().
#include <algorithm>
#include <map>
#include <set>
#include <sstream>

#include "conformance/base/markup.h"
#include "conformance/case/case_text.h"
#include "conformance/report/html_page.h"
#include "conformance/report/shared_parts.h"
#include "conformance/report/view.h"
#include "conformance/report/write.h"

namespace selvage::conformance {
namespace {

// 1234567 with narrow spaces between the thousands.
std::string grouped(std::uint64_t n) {
    std::string out = std::to_string(n);
    for (std::size_t at = out.size(); at > 3;) out.insert(at -= 3, "\u202f");
    return out;
}

class Page {
public:
    explicit Page(const Report& r) : r_(r), all_(ordered(r)), anchors_(anchors(all_)), parts_(all_) {}

    std::string str() {
        o_ << "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
           << "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n<title>Selvage report: "
           << escape(r_.subject.path) << "</title>\n<style>" << kPageStyle << "</style>\n</head>\n<body>\n";
        header();
        o_ << "<main>\n";
        providers();
        tools();
        findings();
        matrix();
        coverage();
        notes();
        shared_parts();
        o_ << "</main>\n<footer>Symbols: ✓ kept, ✕ broken, ○ not reached, for the reason that its cell tells, – cannot "
              "be seen from "
              "outside. "
           << "The same seed gives the same report.</footer>\n<script>" << kPageScript
           << "</script>\n</body>\n</html>\n";
        return o_.str();
    }

private:
    // A number, which leads to what it counts.
    void tile(std::string_view cls, std::uint64_t n, std::string_view what) {
        const bool leads = n > 0 && !cls.empty();
        o_ << (leads ? "<a href=\"#group-" + std::string(cls) + "\"" : std::string("<div")) << " class=\"tile " << cls
           << (n == 0 ? " zero" : "") << "\"><b>" << grouped(n) << "</b><small>" << what << "</small></"
           << (leads ? "a" : "div") << ">\n";
    }

    void header() {
        std::uint64_t judged = 0;
        for (const auto& p : r_.providers) judged += p.judged;
        std::array<std::uint64_t, kGradeCount + 1> n{};  // waived ones last
        for (const auto* d : all_) ++n[d->waived.empty() ? static_cast<std::size_t>(d->grade) : kGradeCount];
        const auto of = [&](Grade g) { return n[static_cast<std::size_t>(g)]; };
        o_ << "<header class=\"top\">\n<h1>What the text promises, and what this library keeps</h1>\n<p "
              "class=\"subject dim\">"
           << "<span class=\"path mono\">" << escape(r_.subject.path) << "</span> <span>interface "
           << r_.subject.version.str() << "</span> ";
        if (!r_.subject.build_id.empty())
            o_ << "<span>build <code>" << escape(r_.subject.build_id.substr(0, 12)) << "</code></span> ";
        if (!r_.transfers.empty()) o_ << "<span>transfers " << escape(r_.transfers) << "</span> ";
        o_ << "<span>seed " << r_.seed << "</span></p>\n<div class=\"tiles\">\n";
        tile("fatal", of(Grade::Fatal), "fatal");
        tile("violation", of(Grade::Violation), "violations");
        tile("intermittent", of(Grade::Intermittent), "intermittent");
        tile("weakness", of(Grade::Weakness), "weaknesses");
        tile("disputed", of(Grade::Disputed), "disputed");
        tile("waived", n[kGradeCount], "waived");
        tile("", judged, "cases judged");
        o_ << "</div>\n</header>\n";
    }

    void providers() {
        o_ << "<h2>Providers</h2>\n<div class=\"scroll\"><table class=\"sum\"><thead><tr><th>provider</th><th>kept</th>"
           << "<th>broken</th><th>unreached</th><th>unseen</th><th>cases</th><th></th></tr></thead><tbody>\n";
        for (const auto& p : r_.providers) {
            const auto n = counts_of(r_, p);
            const auto sum = std::max<std::uint64_t>(1, n[0] + n[1] + n[2] + n[3]);
            const auto part = [&](const char* cls, std::uint64_t count) {
                o_ << "<i class=\"" << cls << "\" style=\"width:" << count * 1000 / sum / 10 << "."
                   << count * 1000 / sum % 10 << "%\"></i>";
            };
            o_ << "<tr><td>" << escape(p.provider);
            o_ << "</td><td>" << n[0] << "</td><td>" << n[1] << "</td><td>" << n[2] << "</td><td>" << n[3]
               << "</td><td>" << grouped(p.judged) << "</td><td><div class=\"bar\" title=\"kept, broken, unreached\">";
            part("k", n[0]);
            part("b", n[1]);
            part("n", n[2]);
            o_ << "</div></td></tr>\n";
        }
        o_ << "</tbody></table></div>\n";
    }

    void tools() {
        o_ << "<div class=\"tools\"><input id=\"filter\" type=\"search\" placeholder=\"Filter findings and clauses\" "
              "aria-label=\"Filter findings and clauses\"><label><input id=\"only\" type=\"checkbox\"> only broken"
              "</label><nav><a href=\"#findings\">findings</a><a href=\"#clauses\">clauses</a><a "
              "href=\"#unreached\">unreached</a></nav></div>\n";
    }

    void matrix() {
        o_ << "<h2 id=\"clauses\">Clauses</h2>\n<p class=\"legend\"><span><span class=\"cell kept\">✓</span>kept</span>"
              "<span><span class=\"cell broken\">✕</span>broken</span><span><span class=\"cell broken "
              "disputed\">✕</span>"
              "weak or disputed</span><span><span class=\"cell unreached\">○</span>unreached</span><span><span "
              "class=\"cell unseen\">–</span>unseen</span></p>\n<p id=\"nothing\" class=\"empty\" hidden>No clause "
              "fits the filter.</p>\n";
        // Clauses are ordered by id, so a chapter (the first two words of an id) is a run of them.
        const auto clauses = model::clauses();
        for (std::size_t i = 0; i < clauses.size();) {
            std::size_t end = i;
            while (end < clauses.size() && chapter_of(clauses[end].id) == chapter_of(clauses[i].id)) ++end;
            chapter(clauses.subspan(i, end - i));
            i = end;
        }
    }

    // Every clause that was not reached, with its reasons: hidden until asked for.
    void coverage() {
        o_ << "<h2 id=\"unreached\">Unreached</h2>\n<p>" << escape(coverage_text(coverage_of(r_))) << ".</p>\n";
        const auto all = unreached(r_);
        if (all.empty()) return;
        o_ << "<details class=\"chapter\"><summary>why<span class=\"dim\">" << all.size()
           << (all.size() == 1 ? " clause" : " clauses")
           << "</span></summary><div class=\"matrix\"><table><thead><tr><th>clause</th><th>provider</th><th>reason</th>"
           << "</tr></thead><tbody>\n";
        for (const auto& u : all)
            for (const auto& [reason, providers] : u.reasons)
                o_ << "<tr data-key=\"" << u.clause->id << "\" data-broken=\"0\"><th scope=\"row\">" << u.clause->id
                   << "</th><td class=\"why\">" << escape(providers) << "</td><td class=\"why\">" << escape(reason)
                   << "</td></tr>\n";
        o_ << "</tbody></table></div></details>\n";
    }

    // What could not be run, and why.
    void notes() {
        if (std::all_of(r_.providers.begin(), r_.providers.end(), [](const auto& p) { return p.notes.empty(); }))
            return;
        o_ << "<h2 id=\"notes\">Notes</h2>\n<ul class=\"dim\">\n";
        for (const auto& p : r_.providers)
            for (const auto& note : p.notes)
                o_ << "<li><code>" << escape(p.provider) << "</code> " << escape(note) << "</li>\n";
        o_ << "</ul>\n";
    }

    void shared_parts() {
        const auto parts = parts_.parts_html();
        if (parts.empty()) return;
        o_ << "<h2 id=\"parts\">What programs share</h2>\n<p class=\"dim\">A program is copied whole by its button; "
              "<code>selvage check --save</code> writes them as files.</p>\n<details class=\"code\"><summary>parts of "
              "C programs</summary>\n"
           << parts << "</details>\n";
    }

    static std::string_view chapter_of(std::string_view id) { return id.substr(0, id.find('.', id.find('.') + 1)); }

    bool broken_anywhere(model::Clause c) const {
        return std::any_of(r_.providers.begin(), r_.providers.end(),
                           [&](const auto& p) { return result_of(r_, p, c) == ClauseResult::Broken; });
    }

    void chapter(std::span<const model::ClauseText> clauses) {
        const auto broken =
            std::count_if(clauses.begin(), clauses.end(), [&](const auto& c) { return broken_anywhere(c.clause); });
        o_ << "<details class=\"chapter\"" << (broken > 0 ? " open" : "") << "><summary>"
           << chapter_of(clauses.front().id) << "<span class=\"dim\">" << clauses.size()
           << (clauses.size() == 1 ? " clause" : " clauses");
        if (broken > 0) o_ << ", " << broken << " broken";
        o_ << "</span></summary><div class=\"matrix\"><table><thead><tr><th>clause</th>";
        for (const auto& p : r_.providers) o_ << "<th>" << escape(p.provider) << "</th>";
        o_ << "</tr></thead><tbody>\n";
        for (const auto& c : clauses) row(c);
        o_ << "</tbody></table></div></details>\n";
    }

    void row(const model::ClauseText& c) {
        const auto rest = c.id.substr(chapter_of(c.id).size() + (chapter_of(c.id).size() < c.id.size() ? 1 : 0));
        std::string promise(c.promise);
        if (!c.unseen.empty()) promise += " Cannot be seen from outside: " + std::string(c.unseen);
        o_ << "<tr data-key=\"" << c.id << ' ' << model::name(c.level) << ' ' << model::name(c.status)
           << "\" data-broken=\"" << (broken_anywhere(c.clause) ? 1 : 0) << "\"><th scope=\"row\" title=\""
           << escape(promise) << "\">" << (rest.empty() ? c.id : rest);
        if (c.level != model::Level::Must) o_ << "<span class=\"tag\">" << model::name(c.level) << "</span>";
        if (c.status == model::Status::Disputed) o_ << "<span class=\"tag disputed\">disputed</span>";
        o_ << "<small>" << escape(c.title) << "</small></th>";
        // Nobody's can be seen: the row has the reason.
        if (c.judges == model::Judges::None && !r_.providers.empty())
            o_ << "<td class=\"unseen\" colspan=\"" << r_.providers.size() << "\">–</td>";
        else
            for (const auto& p : r_.providers) cell(c, p);
        o_ << "</tr>\n";
    }

    void cell(const model::ClauseText& c, const ProviderResult& p) {
        const auto result = result_of(r_, p, c.clause);
        const auto checked = p.tally.applied[static_cast<std::size_t>(c.clause)];
        std::string title;  // the script puts the provider before it
        if (result == ClauseResult::Unreached) {
            const auto reason = reason_of(r_, p, c.clause);
            title += "unreached: " + escape(reason.empty() ? kNoReason : reason);
        } else {
            title += "checked " + std::to_string(checked) + (checked == 1 ? " time" : " times");
        }
        if (result == ClauseResult::Broken) return broken_cell(c, p, title);
        o_ << "<td class=\"" << name(result) << "\" title=\"" << title << "\">"
           << (result == ClauseResult::Kept ? "✓" : "○") << "</td>";
    }

    // Leads to the first finding, the gravest.
    void broken_cell(const model::ClauseText& c, const ProviderResult& p, const std::string& title) {
        const auto first = std::find_if(all_.begin(), all_.end(), [&](const Deviation* d) {
            return d->clause == c.clause && d->provider == p.provider;
        });
        if (first == all_.end()) {
            o_ << "<td class=\"broken\" title=\"" << title << "; no finding has a case of it\">✕</td>";
            return;
        }
        o_ << "<td class=\"broken " << standing(**first) << "\" title=\"" << title << "\"><a href=\"#"
           << anchors_[static_cast<std::size_t>(first - all_.begin())] << "\">✕</a></td>";
    }

    void findings() {
        o_ << "<h2 id=\"findings\">Findings</h2>\n";
        if (all_.empty()) o_ << "<p class=\"empty\">No broken promise was found.</p>\n";
        if (const auto programs = programs_text(r_); !programs.empty())
            o_ << "<p class=\"dim\">" << escape(programs) << "</p>\n";
        if (std::any_of(all_.begin(), all_.end(), [](const auto* d) { return !d->reproducer.empty(); }))
            o_ << "<p class=\"dim\" id=\"programs\">This page has the C programs of the gravest: <code>selvage check "
                  "--save FOLDER</code> writes all of them, and the .json form has them.</p>\n";
        o_ << "<p id=\"no-finding\" class=\"empty\" hidden>No finding fits the filter.</p>\n";
        for (std::size_t i = 0; i < all_.size();) {
            const auto group = standing(*all_[i]);
            std::size_t end = i;
            std::map<model::Clause, std::vector<std::size_t>> by_promise;
            for (; end < all_.size() && standing(*all_[end]) == group; ++end)
                by_promise[all_[end]->clause].push_back(end);
            o_ << "<section class=\"group\" id=\"group-" << group << "\"><h3>" << heading(group) << "</h3>\n";
            for (const auto& [clause, mine] : by_promise) promise(clause, mine, group);
            o_ << "</section>\n";
            i = end;
        }
    }

    // A promise with who breaks it, how often; its findings are hidden until asked for.
    void promise(model::Clause clause, const std::vector<std::size_t>& mine, std::string_view group) {
        std::map<std::string, std::size_t> by_provider;
        for (const auto i : mine) ++by_provider[all_[i]->provider];
        const auto& c = model::clause_text(clause);
        o_ << "<details class=\"promise\"><summary><span class=\"line\"><span class=\"badge " << group << "\">" << group
           << "</span><code>" << c.id << "</code>";
        for (const auto& [provider, n] : by_provider) {
            o_ << "<span class=\"badge prov\">" << (provider.empty() ? "library" : escape(provider));
            if (n > 1) o_ << " ×" << n;
            o_ << "</span>";
        }
        o_ << "</span><p>" << escape(c.title) << "</p></summary>\n<div class=\"body\"><dl>";
        item("Promise", escape(c.promise));
        item("Sources", sources(c));
        if (c.status == model::Status::Disputed)
            item("Reading", escape(c.dispute_reading) + " <span class=\"dim\">" + escape(c.dispute_why) + "</span>");
        o_ << "</dl></div>\n";
        std::set<std::string> shown;
        std::size_t left_out = 0;
        for (const auto i : mine) {
            const bool first = shown.insert(all_[i]->provider).second;
            const std::string html = finding(*all_[i], anchors_[i], group, first);
            if (takes(html.size(), first))
                o_ << html;
            else if (first)
                o_ << in_one_line(*all_[i], anchors_[i]);
            else
                ++left_out;
        }
        if (left_out > 0)
            o_ << "<p class=\"more dim\">" << left_out << " more of the same providers: the .json form has "
               << (left_out == 1 ? "it" : "them") << ".</p>\n";
        o_ << "</details>\n";
    }

    // Whether the page has room for all of one more finding.
    bool takes(std::size_t bytes, bool first) {
        if (!first && (repeat_bytes_ += bytes) > kMostRepeats) return false;
        return (finding_bytes_ += bytes) <= kMostFindings;
    }

    static std::string in_one_line(const Deviation& d, const std::string& anchor) {
        return "<p class=\"short dim\" id=\"" + anchor + "\"><span class=\"badge prov\">" + escape(d.provider) +
               "</span> " + escape(d.summary) + "</p>\n";
    }

    static std::string_view heading(std::string_view group) {
        if (group == "fatal") return "Fatal: the process died, hung, or memory was corrupted";
        if (group == "violation") return "Violations: a clear must is broken";
        if (group == "intermittent")
            return "Intermittent: fatal ones and violations that no run of their programs shows";
        if (group == "weakness") return "Weaknesses: a clear should is broken";
        if (group == "disputed") return "Disputed: the text can be read in more than one way";
        return "Waived: known and answered for";
    }

    // `first`: of its promise and provider.
    std::string finding(const Deviation& d, const std::string& anchor, std::string_view group, bool first) {
        std::ostringstream o;
        o << "<details class=\"finding " << group << "\" id=\"" << anchor
          << "\"><summary><span class=\"line\"><span class=\"badge prov\">"
          << (d.provider.empty() ? "library" : escape(d.provider)) << "</span><span class=\"dim\">version "
          << d.api_version.str() << ", seen " << d.seen << (d.seen == 1 ? " time" : " times") << "</span>"
          << (d.intermittent ? "<span class=\"badge prov\">intermittent</span>" : "") << "</span><p>"
          << escape(d.summary) << "</p></summary>\n<div class=\"body\"><dl>";
        if (!says_no_more_than_summary(d)) item(o, "Because", chain(d));
        if (d.intermittent) item(o, "Repeats", escape(tries_text(*d.intermittent)) + ". " + escape(at_times_text(d)));
        if (d.program) item(o, "Program", escape(program_text(*d.program)));
        if (!d.waived.empty()) item(o, "Waived", escape(d.waived));
        if (!d.saved_as.empty()) item(o, "Saved as", "<code>" + escape(d.saved_as) + "</code>");
        o << "</dl>\n<div class=\"code\"><button class=\"copy\">copy</button><pre class=\"wrap\">"
          << escape(describe(d.shown_by)) << "</pre></div>\n"
          << program(d, first) << "</div></details>\n";
        return o.str();
    }

    static bool says_no_more_than_summary(const Deviation& d) {
        if (d.because.empty()) return true;
        return d.because.size() == 1 &&
               link_text(d.because.front()) == std::string(model::clause_text(d.clause).id) + ": " + d.summary;
    }

    // A page has those of the gravest findings, so that it loads at once.
    std::string program(const Deviation& d, bool first) {
        if (d.reproducer.empty()) return {};
        const auto html = first ? parts_.program_html(d.reproducer) : std::string();
        if (!first || program_bytes_ + html.size() > kMostPrograms)
            return !d.saved_as.empty()
                       ? ""
                       : "<p class=\"dim\">Its C program is <a href=\"#programs\">not on this page</a>.</p>\n";
        program_bytes_ += html.size();
        return "<details class=\"code\"><summary>" + std::string(program_title(d)) +
               "</summary><div class=\"code\"><button class=\"copy\">copy</button><pre>\n" + html +
               "</pre></div></details>\n";
    }

    static std::string_view program_title(const Deviation& d) {
        if (d.grade == Grade::Intermittent) return "C program that did not show it";
        return d.intermittent ? "C program that shows it at times" : "C program that shows it";
    }

    void item(std::string_view term, const std::string& html) { item(o_, term, html); }
    static void item(std::ostream& o, std::string_view term, const std::string& html) {
        o << "<dt>" << term << "</dt><dd>" << html << "</dd>";
    }

    static std::string sources(const model::ClauseText& c) {
        std::string out;
        for (const auto s : c.source) out += (out.empty() ? "<code>" : ", <code>") + escape(s) + "</code>";
        return out;
    }

    static std::string chain(const Deviation& d) {
        std::string out = "<ol>";
        for (const auto& b : d.because) {
            const auto text = link_text(b);
            const auto colon = text.find(": ");
            out += "<li><code>" + escape(text.substr(0, colon)) + "</code>" + escape(text.substr(colon)) + "</li>";
        }
        return out + "</ol>";
    }

    const Report& r_;
    std::vector<const Deviation*> all_;
    std::vector<std::string> anchors_;
    SharedParts parts_;
    // So that a page of eight providers with all that they break has at most 2 MB: programs, findings of a promise and
    // a provider beyond the first, and all findings, of which the gravest come first; of the others it has a line.
    static constexpr std::size_t kMostPrograms = 50'000;
    static constexpr std::size_t kMostRepeats = 15'000;
    static constexpr std::size_t kMostFindings = 600'000;
    std::size_t program_bytes_ = 0;
    std::size_t finding_bytes_ = 0;
    std::size_t repeat_bytes_ = 0;
    std::ostringstream o_;
};

}  // namespace

std::string report_html(const Report& r) { return Page(r).str(); }

}  // namespace selvage::conformance
