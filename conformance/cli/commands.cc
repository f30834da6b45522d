// See commands.h: what the commands have in common.
#include "conformance/cli/commands.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <sstream>

#include "conformance/base/markup.h"
#include "conformance/run/runner.h"
#include "model/text/call_text.h"

namespace selvage::conformance {

int could_not_run(const std::string& why) {
    std::string line = printable(why);
    std::replace(line.begin(), line.end(), '\n', ' ');
    fmt::print(stderr, "selvage: {}\n", line);
    return kCouldNotRun;
}

bool read_file(const std::string& path, std::string& out, std::string& error) {
    std::ostringstream text;
    if (path == "-") {
        text << std::cin.rdbuf();
    } else {
        std::error_code ignored;
        if (std::filesystem::is_directory(path, ignored)) {
            error = fmt::format("{}: is a folder, not a file", path);
            return false;
        }
        std::ifstream in(path, std::ios::binary);
        if (!in) {
            error = fmt::format("{}: can't be read", path);
            return false;
        }
        text << in.rdbuf();
    }
    out = text.str();
    return true;
}

bool read_api_version(std::string_view option, const std::string& text, model::Version& out, std::string& error) {
    error.clear();
    if (!model::parse_version(text, out)) {
        error = fmt::format("{} {}: a version is MAJOR.MINOR, such as 1.17", option, text);
    } else if (out < model::Version(1, 0) || out > model::kNewest) {
        error = fmt::format("{} {}: versions 1.0 to {} are known; without {} it is the library's", option, text,
                            model::kNewest.str(), option);
    }
    return error.empty();
}

std::string unknown_provider(const std::vector<std::string>& expected, const Survey& found) {
    if (!found.deadly.empty()) return {};
    for (const auto& p : expected) {
        if (std::find(found.providers.begin(), found.providers.end(), p) != found.providers.end()) continue;
        std::string known;
        for (const auto& k : found.providers) known += (known.empty() ? "" : ", ") + k;
        return fmt::format("--provider {}: {} offers nothing under that name (it has {})", p, found.subject.path,
                           known.empty() ? "no provider" : known);
    }
    return {};
}

void add_library_option(CLI::App& command, std::string& library) {
    command
        .add_option("--library", library, "the library to ask: a libfabric.so.1 (default: the one the loader finds)")
        ->type_name("SO");
}

}  // namespace selvage::conformance
