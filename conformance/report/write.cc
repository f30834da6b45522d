// Writes a report in the form that the ending of the file asks for.
#include "conformance/report/write.h"

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstring>
#include <fstream>

namespace selvage::conformance {

std::string case_name(std::string_view provider, std::string_view clause) {
    std::string out = std::string(provider) + "-" + std::string(clause);
    std::replace_if(
        out.begin(), out.end(),
        [](char c) { return std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '-' && c != '.'; }, '_');
    return out;
}

bool write_report(const Report& report, const std::string& path, std::string& error) {
    std::string content;
    if (path.ends_with(".txt")) {
        content = report_text(report);
    } else if (path.ends_with(".json")) {
        content = report_json(report);
    } else if (path.ends_with(".xml")) {
        content = report_junit(report);
    } else if (path.ends_with(".html")) {
        content = report_html(report);
    } else {
        error = path + ": the ending tells the form of a report: .txt, .json, .xml or .html";
        return false;
    }
    std::ofstream file(path, std::ios::binary);
    file << content;
    file.close();
    if (file) return true;
    error = path + ": " + std::strerror(errno);
    return false;
}

}  // namespace selvage::conformance
