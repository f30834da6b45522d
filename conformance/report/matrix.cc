// See matrix.h.
#include "conformance/report/matrix.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "conformance/base/markup.h"
#include "conformance/base/terminal.h"
#include "conformance/report/html_page.h"
#include "conformance/report/view.h"

namespace selvage::conformance {
namespace {

std::string_view area_of(std::string_view id) { return id.substr(0, id.find('.')); }

void add(AreaCount& to, std::optional<Grade> broken_as) {
    ++to.reached;
    if (!broken_as) return;
    ++to.broken;
    to.grade = to.grade ? std::min(*to.grade, *broken_as) : *broken_as;
}

MatrixColumn column_of(const Report& report, std::size_t number, const ProviderResult& p) {
    MatrixColumn out{.report = number, .provider = p.provider, .areas = {}, .all = {}};
    for (const auto& c : model::clauses()) {
        const auto result = result_of(report, p, c.clause);
        if (result != ClauseResult::Kept && result != ClauseResult::Broken) continue;
        const auto grade = gravest(report, p, c);
        add(out.areas[std::string(area_of(c.id))], grade);
        add(out.all, grade);
    }
    return out;
}

const AreaCount* find(const MatrixColumn& column, const std::string& area) {
    const auto it = column.areas.find(area);
    return it == column.areas.end() ? nullptr : &it->second;
}

std::string cell_text(const AreaCount* n) {
    return n == nullptr || n->reached == 0 ? "·" : fmt::format("{}/{}", n->broken, n->reached);
}

Tint tint_of(const AreaCount* n) {
    if (n == nullptr || n->reached == 0) return Tint::Dim;
    if (!n->grade) return Tint::Good;
    return is_grave(*n->grade) ? Tint::Bad : Tint::Warn;
}

// "A": which library a column is of, where there are several.
std::string letter(std::size_t report) { return std::string(1, static_cast<char>('A' + report % 26)); }

std::string head_of(const Matrix& m, const MatrixColumn& c) {
    return m.libraries.size() == 1 ? c.provider : letter(c.report) + ":" + c.provider;
}

std::string library_text(const Subject& s) {
    return fmt::format("{} version {}{}", s.path, s.version.str(),
                       s.build_id.empty() ? "" : ", build id " + s.build_id);
}

void add_row(std::string& out, const Matrix& m, const std::string& label, const std::vector<const AreaCount*>& counts,
             const std::vector<std::size_t>& widths) {
    std::string line = fmt::format("{:<12}", label);
    for (std::size_t i = 0; i < m.columns.size(); ++i)
        line += tinted(fmt::format("  {:>{}}", cell_text(counts[i]), widths[i]), tint_of(counts[i]));
    out += line + "\n";
}

std::vector<const AreaCount*> row_of(const Matrix& m, const std::string& area) {
    std::vector<const AreaCount*> out;
    for (const auto& c : m.columns) out.push_back(find(c, area));
    return out;
}

std::vector<const AreaCount*> whole_row(const Matrix& m) {
    std::vector<const AreaCount*> out;
    for (const auto& c : m.columns) out.push_back(&c.all);
    return out;
}

std::string_view class_of(const AreaCount* n) {
    if (n == nullptr || n->reached == 0) return "unreached";
    if (!n->grade) return "kept";
    if (*n->grade == Grade::Fatal) return "broken fatal";
    return is_grave(*n->grade) ? "broken" : "broken disputed";
}

void add_html_row(std::string& out, const std::string& label, const std::vector<const AreaCount*>& counts) {
    out += "<tr><th>" + escape(label) + "</th>";
    for (const auto* n : counts)
        fmt::format_to(std::back_inserter(out), "<td><span class=\"cell {}\">{}</span></td>", class_of(n),
                       cell_text(n));
    out += "</tr>\n";
}

}  // namespace

Matrix matrix_of(std::span<const Report> reports) {
    Matrix out;
    for (const auto& c : model::clauses()) {
        const std::string area(area_of(c.id));
        if (std::find(out.areas.begin(), out.areas.end(), area) == out.areas.end()) out.areas.push_back(area);
    }
    for (const Report& r : reports) {
        for (const auto& p : r.providers) out.columns.push_back(column_of(r, out.libraries.size(), p));
        out.libraries.push_back(r.subject);
    }
    return out;
}

std::string matrix_text(const Matrix& m) {
    constexpr std::size_t kLeast = 7;
    std::string out;
    if (m.libraries.size() == 1) out += clean(library_text(m.libraries.front())) + "\n";
    for (std::size_t i = 0; i < m.libraries.size() && m.libraries.size() > 1; ++i)
        out += letter(i) + "  " + clean(library_text(m.libraries[i])) + "\n";
    out += "\nbroken/reached promises of each area\n\n" + std::string(12, ' ');
    std::vector<std::size_t> widths;
    for (const auto& c : m.columns) {
        widths.push_back(std::max(kLeast, head_of(m, c).size()));
        out += tinted(fmt::format("  {:>{}}", printable(head_of(m, c)), widths.back()), Tint::Bold);
    }
    out += "\n";
    for (const auto& area : m.areas) add_row(out, m, area, row_of(m, area), widths);
    add_row(out, m, "all", whole_row(m), widths);
    return out;
}

std::string matrix_html(const Matrix& m) {
    std::string out =
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" "
        "content=\"width=device-width,initial-scale=1\">\n<title>Libraries side by side</title>\n<style>";
    out += kPageStyle;
    out +=
        "</style>\n</head>\n<body>\n<header class=\"top\">\n<h1>Libraries side by side</h1>\n<p class=\"subject dim\">";
    for (std::size_t i = 0; i < m.libraries.size(); ++i)
        out += letter(i) + " <span class=\"path mono\">" + escape(library_text(m.libraries[i])) + "</span><br>";
    out +=
        "</p>\n</header>\n<main>\n<p>Of the promises of each area that a run reached, how many the provider "
        "breaks.</p>\n"
        "<div class=\"matrix\"><table><thead><tr><th>area</th>";
    for (const auto& c : m.columns)
        fmt::format_to(std::back_inserter(out), "<th>{}<br>{}</th>", letter(c.report), escape(c.provider));
    out += "</tr></thead><tbody>\n";
    for (const auto& area : m.areas) add_html_row(out, area, row_of(m, area));
    add_html_row(out, "all", whole_row(m));
    return out + "</tbody></table></div>\n</main>\n</body>\n</html>\n";
}

}  // namespace selvage::conformance
