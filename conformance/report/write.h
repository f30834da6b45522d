// Reports: one Report in five forms, chosen by the ending of the file.
//
// .txt is plain text of 100 columns, .json is the data (docs/report.schema.json), .xml is JUnit, .html is one page that
// needs nothing else, .sarif is what code hosts show beside the sources.  The same Report always gives the same bytes,
// but for times, which stand apart.  Elements are in a fixed order whatever the order in a Report: deviations by grade,
// provider and clause.  The functions that return strings are pure; write_report and the readers do the I/O.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "conformance/report/finding.h"

namespace selvage::conformance {

inline constexpr std::string_view kReportEndings = ".txt, .json, .xml, .html or .sarif";
/// Why a report can't be written under that name, as one line; empty: it can.
std::string wrong_ending(std::string_view path);
/// Writes a report, which is there once it is whole (whole_file.h).  @return false and one line in `error` if the
/// ending is unknown or the file cannot be written.
bool write_report(const Report& report, const std::string& path, std::string& error);

/// Of the files that a case is saved as: "tcp_ofi_rxm-getinfo.caps.granted".
std::string case_name(std::string_view provider, std::string_view clause);

std::string report_text(const Report& report);
std::string report_json(const Report& report);
std::string report_junit(const Report& report);
std::string report_html(const Report& report);
std::string report_sarif(const Report& report);

/// Reads what report_json wrote: all but what a report does not hold (times inside the library, notes of evidence that
/// were cut).  @return false and one line in `error`.
bool read_report_json(std::string_view json, Report& out, std::string& error);

}  // namespace selvage::conformance
