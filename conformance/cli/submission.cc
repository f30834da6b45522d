// See submission.h.
#include "conformance/cli/submission.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nettle/sha2.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string_view>
#include <vector>

#include "conformance/base/terminal.h"
#include "conformance/base/whole_file.h"
#include "conformance/cli/commands.h"
#include "conformance/report/levels.h"
#include "conformance/report/write.h"

namespace selvage::conformance {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr const char* kManifest = "MANIFEST";

std::string digest_of(std::string_view content) {
    sha256_ctx context;
    std::array<std::uint8_t, SHA256_DIGEST_SIZE> digest;
    sha256_init(&context);
    sha256_update(&context, content.size(), reinterpret_cast<const std::uint8_t*>(content.data()));
    sha256_digest(&context, digest.size(), digest.data());
    return fmt::format("{:02x}", fmt::join(digest, ""));
}

// Every file but the manifest, by its path below the folder.
std::map<std::string, std::string> files_below(const std::string& folder) {
    std::map<std::string, std::string> out;
    for (const auto& entry : fs::recursive_directory_iterator(folder)) {
        const auto name = fs::relative(entry.path(), folder).string();
        if (entry.is_regular_file() && name != kManifest) out.emplace(name, entry.path().string());
    }
    return out;
}

bool make_manifest(const std::string& folder, std::string& out, std::string& error) {
    out.clear();
    for (const auto& [name, path] : files_below(folder)) {
        std::string content;
        if (!read_file(path, content, error)) return false;
        out += digest_of(content) + "  " + name + "\n";
    }
    return true;
}

std::vector<std::string_view> ids_of(const std::vector<model::Clause>& clauses) {
    std::vector<std::string_view> out;
    std::transform(clauses.begin(), clauses.end(), std::back_inserter(out),
                   [](model::Clause c) { return model::clause_text(c).id; });
    return out;
}

std::string verdicts_json(const Report& report) {
    Json out = Json::object();
    for (const auto& p : report.providers) {
        for (const auto& level : conformance_levels()) {
            const LevelVerdict v = verdict_on(report, p, level);
            out[p.provider][level.name] = {{"conforms", v.conforms()},
                                           {"broken", ids_of(v.broken)},
                                           {"waived", ids_of(v.waived)},
                                           {"unreached", ids_of(v.unreached)}};
        }
    }
    return out.dump(1) + "\n";
}

// By the name of the file.
std::map<std::string, std::string> badges(const Report& report) {
    std::map<std::string, std::string> out;
    for (const auto& p : report.providers)
        for (const auto& level : conformance_levels())
            out[fmt::format("badges/{}.svg", case_name(p.provider, level.name))] =
                badge_svg(level, verdict_on(report, p, level).conforms());
    return out;
}

std::string own_arguments() {
    std::string out;
    std::ifstream in("/proc/self/cmdline", std::ios::binary);
    for (std::string one; std::getline(in, one, '\0');) out += (out.empty() ? "" : " ") + one;
    return out;
}

std::string environment_text() {
    utsname system{};
    uname(&system);
    std::string out =
        fmt::format("selvage = {}\narguments = {}\nsystem = {} {} {}\nprocessors = {}\n", SELVAGE_VERSION,
                    own_arguments(), system.sysname, system.release, system.machine, sysconf(_SC_NPROCESSORS_ONLN));
    for (char** e = environ; *e != nullptr; ++e)
        if (std::string_view(*e).starts_with("FI_")) out += printable(*e) + "\n";
    return out;
}

// What the report alone determines.
std::map<std::string, std::string> derived(const Report& report) {
    auto out = badges(report);
    out["verdicts.json"] = verdicts_json(report);
    out["report.txt"] = report_text(report);
    out["report.xml"] = report_junit(report);
    out["report.html"] = report_html(report);
    out["report.sarif"] = report_sarif(report);
    return out;
}

bool same_digests(const std::string& folder, std::string& error) {
    std::string written, now;
    if (!read_file(folder + "/" + kManifest, written, error) || !make_manifest(folder, now, error)) return false;
    if (written == now) return true;
    const auto lines = [](const std::string& text) {
        std::map<std::string, std::string> out;
        std::istringstream in(text);
        for (std::string digest, name; in >> digest >> name;) out[name] = digest;
        return out;
    };
    const auto then = lines(written), is = lines(now);
    for (const auto& [name, digest] : then) {
        const auto found = is.find(name);
        if (found == is.end()) error = folder + "/" + name + ": is in the manifest and not there";
        if (found != is.end() && found->second != digest) error = folder + "/" + name + ": is not what was written";
        if (!error.empty()) return false;
    }
    for (const auto& [name, digest] : is)
        if (!then.contains(name) && error.empty()) error = folder + "/" + name + ": is not in the manifest";
    if (error.empty()) error = folder + "/" + kManifest + ": is not as it was written";
    return false;
}

}  // namespace

bool write_submission(const std::string& folder, const Submission& s, std::string& error) {
    // As it reads: times inside the library and the like are no part of what is published.
    Report report;
    const std::string json = report_json(s.report);
    if (!read_report_json(json, report, error)) return false;
    auto files = derived(report);
    files["report.json"] = json;
    files["environment.txt"] = environment_text();
    if (!s.waivers.empty()) files["waivers.toml"] = s.waivers;
    for (const auto& [provider, text] : s.profiles)
        files["profiles/" + case_name(provider, "profile") + ".toml"] = text;
    std::error_code failed;
    for (const char* part : {"badges", "profiles"}) fs::create_directories(fs::path(folder) / part, failed);
    for (const auto& [name, content] : files)
        if (!write_whole_file(folder + "/" + name, content, error)) return false;
    std::string manifest;
    return make_manifest(folder, manifest, error) && write_whole_file(folder + "/" + kManifest, manifest, error);
}

bool verify_submission(const std::string& folder, Report& report, std::string& error) {
    std::string json;
    error.clear();
    if (!same_digests(folder, error) || !read_file(folder + "/report.json", json, error)) return false;
    if (!read_report_json(json, report, error)) {
        error = folder + "/report.json: " + error;
        return false;
    }
    for (const auto& [name, content] : derived(report)) {
        std::string there;
        if (!read_file(folder + "/" + name, there, error)) return false;
        if (there == content) continue;
        error = folder + "/" + name + ": is not what report.json says (made by another selvage, or by hand)";
        return false;
    }
    return true;
}

}  // namespace selvage::conformance
