// Writes a report in the form that the ending of the file asks for.
#include "conformance/report/write.h"

#include <cerrno>
#include <cstring>
#include <fstream>

namespace selvage::conformance {

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
