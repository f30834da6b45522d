// Writes a report in the form that the ending of the file asks for.
#include "conformance/report/write.h"

#include <algorithm>
#include <cctype>
#include <iterator>

#include "conformance/base/whole_file.h"

namespace selvage::conformance {

std::string case_name(std::string_view provider, std::string_view clause) {
    std::string out = std::string(provider) + "-" + std::string(clause);
    std::replace_if(
        out.begin(), out.end(),
        [](char c) { return std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '-' && c != '.'; }, '_');
    return out;
}

namespace {

struct Form {
    std::string_view ending;
    std::string (*write)(const Report&);
};
constexpr Form kForms[] = {{".txt", report_text},
                           {".json", report_json},
                           {".xml", report_junit},
                           {".html", report_html},
                           {".sarif", report_sarif}};

const Form* form_of(std::string_view path) {
    const auto* it =
        std::find_if(std::begin(kForms), std::end(kForms), [&](const Form& f) { return path.ends_with(f.ending); });
    return it == std::end(kForms) ? nullptr : it;
}

}  // namespace

std::string wrong_ending(std::string_view path) {
    if (form_of(path) != nullptr) return {};
    return std::string(path) + ": the ending tells the form of a report: " + std::string(kReportEndings);
}

bool write_report(const Report& report, const std::string& path, std::string& error) {
    if (error = wrong_ending(path); !error.empty()) return false;
    return write_whole_file(path, form_of(path)->write(report), error);
}

}  // namespace selvage::conformance
