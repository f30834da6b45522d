// The page of a benchmark: what was measured, plots over sizes, and every row.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "conformance/base/markup.h"
#include "conformance/base/terminal.h"
#include "conformance/bench/figures.h"
#include "conformance/bench/plot.h"
#include "conformance/bench/print.h"

namespace selvage::conformance::bench {
namespace {

constexpr std::string_view kStyle = R"css(
:root{color-scheme:light dark;--bg:#fbfbf9;--card:#fff;--ink:#1d2327;--dim:#5d6870;--line:#dfe3e2;--a:#0b6fb8;--b:#c05621;--c:#2f8f5b;--d:#8e44ad;--e:#b8860b;--floor:#77828a;--good:#1f7a4d;--bad:#b3261e}
@media(prefers-color-scheme:dark){:root{--bg:#14181b;--card:#1b2125;--ink:#e4e8ea;--dim:#9aa6ad;--line:#2f383e;--a:#6db8f2;--b:#f0a070;--c:#6fcf97;--d:#c99ae8;--e:#e0c060;--floor:#9aa6ad;--good:#7ed3a3;--bad:#ff9d94}}
*{box-sizing:border-box}body{margin:0 auto;max-width:1360px;padding:1.5rem;background:var(--bg);color:var(--ink);font:15px/1.5 system-ui,sans-serif}
h1{font-size:1.6rem;margin:0 0 .4rem}h2{font-size:1.15rem;margin:2rem 0 .7rem}p{margin:.2rem 0;overflow-wrap:anywhere}.dim{color:var(--dim)}
.plots{display:grid;grid-template-columns:repeat(auto-fill,minmax(310px,1fr));gap:.8rem}svg{width:100%;background:var(--card);border:1px solid var(--line);border-radius:8px}
.grid{stroke:var(--line)}.tick{font-size:10px;fill:var(--dim)}.end{text-anchor:end}.mid{text-anchor:middle}.head{font-size:12px;font-weight:600;fill:var(--ink)}
polyline{fill:none;stroke-width:1.8}polyline.a{stroke:var(--a)}polyline.b{stroke:var(--b)}polyline.c{stroke:var(--c)}polyline.d{stroke:var(--d)}polyline.e{stroke:var(--e)}polyline.f,polyline.g{stroke:var(--floor);stroke-dasharray:5 4}polyline.g{stroke-dasharray:1 4}
circle.a{fill:var(--a)}circle.b{fill:var(--b)}circle.c{fill:var(--c)}circle.d{fill:var(--d)}circle.e{fill:var(--e)}circle.f,circle.g{fill:var(--floor)}
.key i{display:inline-block;width:1.6rem;height:0;border-top:3px solid;vertical-align:middle;margin:0 .4rem 0 1rem}.key .a{border-color:var(--a)}.key .b{border-color:var(--b)}.key .c{border-color:var(--c)}.key .d{border-color:var(--d)}.key .e{border-color:var(--e)}.key .f{border-color:var(--floor);border-top-style:dashed}.key .g{border-color:var(--floor);border-top-style:dotted}
.scroll{overflow-x:auto;background:var(--card);border:1px solid var(--line);border-radius:8px}table{border-collapse:collapse;width:100%}
td,th{padding:.25rem .7rem;text-align:right;white-space:nowrap;border-bottom:1px solid var(--line);font-variant-numeric:tabular-nums}td:first-child,th:first-child,td:last-child{text-align:left}
th{color:var(--dim);font-size:.83rem}.good{color:var(--good)}.bad{color:var(--bad);font-weight:600}td.why{white-space:normal;color:var(--dim)}
)css";

std::string escaped(std::string_view text) { return escape(printable(text)); }

/// Rows of one provider, operation and kind.
struct Series {
    const Workload* first;
    std::vector<const Result*> rows;
};

std::vector<Series> series_of(const Bench& bench) {
    std::vector<Series> out;
    for (const auto& r : bench.results) {
        const Place& p = r.workload->place;
        auto same = std::find_if(out.begin(), out.end(), [&](const Series& s) {
            const Place& q = s.first->place;
            return q.provider == p.provider && q.operation == p.operation && q.kind == p.kind &&
                   s.first->members == r.workload->members;
        });
        if (same == out.end()) same = out.insert(out.end(), {r.workload, {}});
        same->rows.push_back(&r);
    }
    std::erase_if(out, [](const Series& s) { return s.rows.size() < 2; });
    return out;
}

/// A side's class in the style sheet; beyond the fifth they look the same.
std::string style_of(std::size_t side) {
    return std::string(1, static_cast<char>('a' + std::min<std::size_t>(side, 4)));
}

/// process_vm_readv stands beside shared memory's bandwidth, though no row is held against it.
Curve second_floor(const Bench& bench, const Workload& of) {
    Curve out{"process_vm_readv", "g", {}};
    for (const auto& f : bench.floors) {
        const Place& p = f.workload->place;
        if (of.place.kind == "bandwidth" && p.provider == of.place.provider && p.kind == "vmread" &&
            f.measured.summary.median > 0)
            out.points.push_back({static_cast<double>(p.size), f.measured.summary.median});
    }
    return out;
}

std::string plot_of(const Bench& bench, const Series& series) {
    std::vector<Curve> curves = {second_floor(bench, *series.first), {"floor", "f", {}}};
    const std::size_t sides = bench.sides.size();
    for (std::size_t s = sides; s-- > 0;) curves.push_back({escaped(bench.sides[s].name), style_of(s), {}});
    for (const auto* r : series.rows) {
        const auto size = static_cast<double>(r->workload->place.size);
        if (size <= 0) continue;
        if (r->floor > 0) curves[1].points.push_back({size, r->floor});
        for (std::size_t s = 0; s < sides; ++s) {
            // The library under test is drawn last, above the others.
            const double median = r->sides[s].summary.median;
            if (median > 0) curves[curves.size() - 1 - s].points.push_back({size, median});
        }
    }
    const Place& p = series.first->place;
    std::string kind = p.kind == "latency" ? "there and back" : p.kind;
    if (series.first->members > 0) kind = fmt::format("{} processes", series.first->members);
    return plot(fmt::format("{}: {}, {}", p.provider, p.operation, kind), series.first->quantity, curves);
}

std::string error_cell(const Bench& bench, const Result& r) {
    std::string out;
    for (std::size_t s = 0; s < r.sides.size(); ++s) {
        if (!r.sides[s].error.empty())
            out += fmt::format("{}: {} ", escaped(bench.sides[s].name), escaped(r.sides[s].error));
    }
    return out;
}

std::string cell(const std::string& text) { return "<td>" + text + "</td>"; }

/// The head of the table of rows; row_of has a cell for each.
std::string head_of_rows(const Bench& bench) {
    std::vector<std::string> heads = {""};
    const std::size_t sides = bench.sides.size();
    for (const auto& side : bench.sides) heads.push_back(side.name);
    for (std::size_t s = 1; s < sides; ++s) heads.push_back(sides == 2 ? "ratio" : "by " + bench.sides[s].name);
    heads.insert(heads.end(), {"floor", "A/floor", "A/beside"});
    for (const auto& side : bench.sides) heads.push_back(side.name + " p99");
    for (const auto& side : bench.sides) heads.push_back(side.name + " instr");
    heads.insert(heads.end(), {"goal", ""});
    std::string out = "<tr>";
    for (const auto& h : heads) out += "<th>" + escaped(h) + "</th>";
    return out + "</tr>\n";
}

std::string row_of(const Bench& bench, const Result& r) {
    const Quantity q = r.workload->quantity;
    const Met met = r.met();
    std::string out = cell(escaped(r.workload->place.provider.empty() ? r.workload->title : r.workload->name));
    for (const auto& side : r.sides) out += cell(in_units(q, side.summary.median));
    for (std::size_t s = 1; s < r.sides.size(); ++s) out += cell(as_ratio(r.sides[s].ratio));
    out +=
        cell(in_units(q, r.floor)) + cell(as_ratio(r.sides[0].floor_ratio)) + cell(as_ratio(r.sides[0].beside_ratio));
    for (const auto& side : r.sides) out += cell(in_units(q, side.summary.p99));
    for (const auto& side : r.sides) out += cell(as_count(side.instructions));
    return fmt::format("<tr>{}<td class=\"{}\">{}</td><td class=\"why\">{}</td></tr>\n", out,
                       met == Met::Yes  ? "good"
                       : met == Met::No ? "bad"
                                        : "dim",
                       escaped(verdict(r)), error_cell(bench, r));
}

std::string floor_rows(const Bench& bench) {
    std::string out;
    for (const auto& f : bench.floors) {
        const auto& s = f.measured.summary;
        out += fmt::format("<tr><td>{}: {}</td><td>{}</td><td>{}</td><td></td></tr>\n", f.workload->place.provider,
                           escaped(f.workload->title), in_units(f.workload->quantity, s.median),
                           in_units(f.workload->quantity, s.p99));
    }
    return out;
}

std::string head(const Bench& bench) {
    std::string out = fmt::format("<h1>selvage bench {}</h1>\n", escaped(bench.suite));
    for (const auto& side : bench.sides) {
        out += fmt::format("<p><b>{}</b> {} <span class=\"dim\">version {}{}{}</span></p>\n", escaped(side.name),
                           escaped(side.resolved), escaped(side.version), side.build_id.empty() ? "" : ", build ",
                           escaped(side.build_id));
    }
    for (const auto& l : bench.left_out)
        out += fmt::format("<p class=\"bad\">{} is left out: {}</p>\n", escaped(l.name), escaped(l.why));
    return out + fmt::format(
                     "<p class=\"dim\">{} pairs of runs, all in turn; medians; ratio: how many times as good A "
                     "is, by pairs{}{}</p>\n",
                     bench.pairs, bench.placement.empty() ? "" : "; ", escaped(bench.placement));
}

}  // namespace

std::string as_page(const Bench& bench) {
    std::string out = fmt::format(
        "<!doctype html>\n<html lang=\"en\"><meta charset=\"utf-8\"><meta name=\"viewport\" "
        "content=\"width=device-width\"><title>selvage bench {}</title><style>{}</style>\n",
        escaped(bench.suite), kStyle);
    out += head(bench);
    std::string plots;
    for (const auto& s : series_of(bench)) {
        if (!s.first->place.provider.empty()) plots += plot_of(bench, s);
    }
    if (!plots.empty()) {
        out += "<h2>Over sizes</h2>\n<p class=\"key dim\">";
        for (std::size_t s = 0; s < bench.sides.size(); ++s)
            out += fmt::format("<i class=\"{}\"></i>{}", style_of(s), escaped(bench.sides[s].name));
        out +=
            "<i class=\"f\"></i>the machine without a library<i class=\"g\"></i>process_vm_readv</p>\n"
            "<div class=\"plots\">\n" +
            plots + "</div>\n";
    }
    out += "<h2>All rows</h2>\n<div class=\"scroll\"><table>" + head_of_rows(bench);
    for (const auto& r : bench.results) out += row_of(bench, r);
    out += "</table></div>\n";
    if (!bench.floors.empty()) {
        out +=
            "<h2>The machine without a library</h2>\n<div "
            "class=\"scroll\"><table><tr><th></th><th>median</th><th>p99</th>"
            "<th></th></tr>\n" +
            floor_rows(bench) + "</table></div>\n";
    }
    return out + "</html>\n";
}

}  // namespace selvage::conformance::bench
