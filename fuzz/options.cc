// See options.h.
#include "fuzz/options.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string_view>

namespace selvage::fuzz {
namespace {

// Names separated by commas.
std::vector<std::string> split(std::string_view text) {
    std::vector<std::string> out;
    while (!text.empty()) {
        const auto end = std::min(text.find(','), text.size());
        if (end > 0) out.emplace_back(text.substr(0, end));
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return out;
}

// Where an option's value goes; nullptr: no such option.
std::string* place(Options& o, std::string_view name) {
    if (name == "library") return &o.library;
    if (name == "other") return &o.other;
    if (name == "keep-going") return &o.keep_going;
    if (name == "journal") return &o.journal;
    if (name == "tool") return &o.tool;
    return nullptr;
}

// What was built with the target, or, where it runs on another machine, the file of that name beside it.
std::string built_or_beside(const std::filesystem::path& built) {
    std::error_code none;
    if (std::filesystem::exists(built, none)) return built.string();
    return (std::filesystem::read_symlink("/proc/self/exe", none).parent_path() / built.filename()).string();
}

bool take(Options& o, std::string_view name, std::string_view value) {
    if (name == "provider") {
        for (auto& p : split(value)) o.providers.push_back(std::move(p));
        return true;
    }
    if (name == "profile") {
        for (auto& p : split(value)) o.profiles.push_back(std::move(p));
        return true;
    }
    std::string* const to = place(o, name);
    if (to != nullptr) *to = value;
    return to != nullptr;
}

void take_environment(Options& o) {
    for (const std::string name : {"library", "other", "keep-going", "journal", "tool", "provider", "profile"}) {
        std::string variable = "SELVAGE_FUZZ_" + name;
        for (char& c : variable) c = c == '-' ? '_' : c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
        if (const char* value = std::getenv(variable.c_str())) take(o, name, value);
    }
}

}  // namespace

bool read_options(int argc, char** argv, Options& out, std::string& error) {
    out.library = built_or_beside(SELVAGE_FUZZ_OWN_LIBRARY);
    out.tool = built_or_beside(SELVAGE_FUZZ_FRESH_NAMES);
    take_environment(out);
    for (int i = 1; i < argc; ++i) {
        std::string_view a = argv[i];
        if (!a.starts_with("--")) continue;
        a.remove_prefix(2);
        const auto equals = a.find('=');
        if (equals == std::string_view::npos || !take(out, a.substr(0, equals), a.substr(equals + 1))) {
            error = "--" + std::string(a) +
                    ": the options are --library=SO, --other=SO, --provider=NAME,.., --profile=FILE,.., "
                    "--keep-going=FOLDER, --journal=FILE and --tool=PATH";
            return false;
        }
    }
    return true;
}

}  // namespace selvage::fuzz
