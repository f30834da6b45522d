// The score of the mutants: runs `selvage check` on each and looks whether the promise that it breaks is reported.
//
//   mutant_score [--jobs N] [--every K] [NAME]...      all mutants, or those whose names begin so; of them one in K
//
// A mutant is detected if a deviation of one of its clauses is reported that the clean library does not have.  Exit
// status: 0 all detected, 1 a survivor (or a clean library that breaks a promise on transfers), 2 could not run.
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <thread>

#include "conformance/mutants/mutant.h"
#include "conformance/mutants/transfers_processes.h"

namespace selvage::mutants {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

#ifdef SELVAGE_SANITIZED
constexpr bool kCountsAllocations = false;  // its allocator is its own
#else
constexpr bool kCountsAllocations = true;
#endif

struct Deviation {
    std::string clause, summary;
    bool operator<(const Deviation& o) const { return std::tie(clause, summary) < std::tie(o.clause, o.summary); }
};
using Findings = std::set<Deviation>;

struct Outcome {
    bool detected = false;
    std::string by;      // the clause that caught it
    std::string others;  // else: what was reported instead
    double seconds = 0;
};

class Workshop {
public:
    Workshop() : folder_(fs::temp_directory_path() / ("selvage-mutants-" + std::to_string(getpid()))) {
        fs::create_directories(folder_);
    }
    ~Workshop() {
        std::error_code ignored;
        fs::remove_all(folder_, ignored);
    }
    Workshop(const Workshop&) = delete;
    Workshop& operator=(const Workshop&) = delete;
    [[nodiscard]] std::string file(const std::string& name) const { return folder_ / name; }

private:
    fs::path folder_;
};

// The tool under test; SELVAGE_TOOL names another than the one that was built.
std::string tool() {
    const char* named = std::getenv("SELVAGE_TOOL");
    return named != nullptr ? named : SELVAGE_TOOL_PATH;
}

std::string library(const std::string& name) {
    return std::string(SELVAGE_MUTANT_FOLDER) + "/libmutant-" + name + ".so";
}

// Runs the tool.  @return its exit status, or -1.
int run(const std::vector<std::string>& arguments, const std::string& filter, const std::string& output) {
    const pid_t child = fork();
    if (child < 0) return -1;
    if (child == 0) {
        if (!filter.empty()) setenv("GTEST_FILTER", filter.c_str(), 1);
        setenv("RES_OPTIONS", "attempts:0", 1);  // names that nobody has are looked up at home only
        setenv("SELVAGE_MUTANT_BASE", SELVAGE_MUTANT_BASE_PATH, 0);
        std::FILE* const to = std::freopen(output.c_str(), "w", stdout);
        if (to == nullptr) _exit(127);
        dup2(STDOUT_FILENO, STDERR_FILENO);
        std::vector<char*> argv;
        for (const auto& a : arguments) argv.push_back(const_cast<char*>(a.c_str()));
        argv.push_back(nullptr);
        execv(argv[0], argv.data());
        _exit(127);
    }
    int status = 0;
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

std::string read_file(const std::string& path) {
    std::ifstream in(path);
    std::ostringstream out;
    out << in.rdbuf();
    return out.str();
}

Findings read_findings(const std::string& report) {
    Findings out;
    const auto json = nlohmann::json::parse(read_file(report), nullptr, false);
    if (!json.is_object()) return out;
    for (const auto& d : json.value("deviations", nlohmann::json::array())) {
        const std::string what = d.value("summary", "") + d.value("call", "");
        out.insert({d.value("clause", ""), what});
        // A refusal of what several clauses grant breaks the general promise; the links name the clauses.
        for (const auto& link : d.value("because", nlohmann::json::array())) {
            if (d.value("clause", "") == "getinfo.call.matching-returned") out.insert({link.value("clause", ""), what});
        }
    }
    return out;
}

// The declared profile of the clean library, changed as the mutant says, in a file of this path; empty on failure.
std::string declare(const std::string& path, const Mutant& m) {
    if (run({tool(), "profile", "--library", library("clean"), "--provider",
             m.provider.substr(0, m.provider.find(';'))},
            "", path) != 0)
        return {};
    std::string text = read_file(path);
    // Of callers of all versions: the clean library makes no difference between them.
    if (const auto api = text.find("\napi = "); api != std::string::npos)
        text.erase(api, text.find('\n', api + 1) - api);
    std::ofstream(path) << text;
    if (m.replaced.empty()) return path;
    auto at = text.find(m.replaced);
    if (at == std::string::npos) return {};
    for (; at != std::string::npos; at = text.find(m.replaced, at + m.replacement.size()))
        text.replace(at, m.replaced.size(), m.replacement);
    std::ofstream(path) << text;
    return path;
}

struct Checked {
    Findings findings;
    std::string trouble;  // why it could not be run
};

enum class Extent { kUntilItsClauses, kWhole };

bool ends_at_first(const Mutant& m) { return m.property == "traffic" || m.property == "groups"; }

Checked check(const Workshop& workshop, const std::string& name, const Mutant& how, unsigned processes, Extent extent) {
    const auto base = name + "-" + how.name + "-" + std::to_string(processes);
    const auto report = workshop.file(base + ".json");
    const auto output = workshop.file(base + ".txt");
    std::vector<std::string> arguments = {tool(),
                                          "check",
                                          "--no-compiler",
                                          "--library",
                                          library(name),
                                          "--provider",
                                          how.provider,
                                          "--cases",
                                          std::to_string(how.cases),
                                          "--quiet",
                                          "--report",
                                          report,
                                          "--processes",
                                          std::to_string(processes)};
    if (extent == Extent::kUntilItsClauses && !how.clauses.empty()) {
        for (const auto& c : how.clauses) arguments.insert(arguments.end(), {"--clause", c});
        arguments.emplace_back("--first");
    }
    if (how.declared) {
        const auto profile = declare(workshop.file(base + ".toml"), how);
        if (profile.empty()) return {{}, "no profile"};
        arguments.insert(arguments.end(), {"--profile", profile});
    }
    const int status = run(arguments, how.property + "." + how.provider, output);
    if (status == 0 || status == 1) return {read_findings(report), {}};
    std::string said = read_file(output);
    said = said.substr(0, said.find('\n'));
    return {{}, "exit " + std::to_string(status) + ": " + said};
}

unsigned processes_of(const Mutant& m) { return is_apart(m.name) ? 2 : 1; }

// What the clean library shows under the same conditions; run once for each.
class Clean {
public:
    explicit Clean(const Workshop& workshop) : workshop_(workshop) {}
    const Findings& under(const Mutant& m) {
        Shown& shown = at(conditions_of(m));
        std::call_once(shown.run, [&] {
            Mutant plainly = m;
            plainly.clauses.clear();   // and of all clauses
            plainly.replaced.clear();  // the clean library is judged by its own profile
            shown.findings = check(workshop_, "clean", plainly, processes_of(m), Extent::kWhole).findings;
        });
        return shown.findings;
    }
    static std::string conditions_of(const Mutant& m) {
        return m.property + "." + m.provider + "." + std::to_string(m.cases) + (m.declared ? "+" : "-") +
               std::to_string(processes_of(m));
    }

private:
    struct Shown {
        std::once_flag run;
        Findings findings;
    };
    Shown& at(const std::string& conditions) {
        const std::lock_guard guard(lock_);
        return shown_[conditions];
    }

    const Workshop& workshop_;
    std::mutex lock_;
    std::map<std::string, Shown> shown_;  // guarded by lock_; entries stay where they are
};

/// Looks in what was seen of a mutant for what it breaks.
Outcome outcome(Clean& clean, const Mutant& m, const Checked& seen) {
    Outcome out;
    out.others = seen.trouble;
    if (m.speechless) {
        out.detected = seen.trouble.starts_with("exit 2: ") && seen.trouble.find("offers") != std::string::npos;
        out.by = seen.trouble;
    }
    for (const auto& d : seen.findings) {
        const bool expected = std::find(m.clauses.begin(), m.clauses.end(), d.clause) != m.clauses.end();
        if (!expected || out.detected) continue;
        // A mutant's own provider has no clean counterpart: then nothing is known of the clean library.
        if (clean.under(m).contains(d)) {
            out.others = "the clean library shows the same: " + d.clause;
            continue;
        }
        out.detected = true;
        out.by = d.clause;
    }
    if (!out.detected && out.others.empty() && !m.speechless) {
        std::set<std::string> instead;
        for (const auto& d : seen.findings)
            if (!clean.under(m).contains(d)) instead.insert(d.clause);
        for (const auto& c : instead) out.others += (out.others.empty() ? "reported instead: " : ", ") + c;
        if (instead.empty()) out.others = "nothing reported";
    }
    return out;
}

// One finding of its clauses is enough. A broken transfer breaks much else on its way, so of these the whole is not
// looked at; a query may show its mutant by another clause that names one of its own, or behind what the clean library
// shows too.
Outcome judge(const Workshop& workshop, Clean& clean, const Mutant& m) {
    const auto began = Clock::now();
    Outcome out = outcome(clean, m, check(workshop, m.name, m, processes_of(m), Extent::kUntilItsClauses));
    if (!out.detected && !ends_at_first(m))
        out = outcome(clean, m, check(workshop, m.name, m, processes_of(m), Extent::kWhole));
    if (out.detected && is_apart(m.name) && !check(workshop, m.name, m, 1, Extent::kUntilItsClauses).findings.empty()) {
        out.detected = false;
        out.others = "shows in one process, too";
    }
    out.seconds = std::chrono::duration<double>(Clock::now() - began).count();
    return out;
}

std::vector<const Mutant*> chosen(const std::vector<std::string>& names, std::size_t every) {
    std::vector<const Mutant*> out;
    std::size_t seen = 0;
    for (const Mutant& m : all_mutants()) {
        if (m.clauses.empty() && !m.speechless) continue;
        if (m.by_allocations && !kCountsAllocations) continue;
        const bool expected = names.empty() || std::any_of(names.begin(), names.end(),
                                                           [&](const auto& n) { return m.name.starts_with(n); });
        if (expected && seen++ % every == 0) out.push_back(&m);
    }
    return out;
}

std::string joined(const std::vector<std::string>& words) {
    std::string out;
    for (const auto& w : words) out += (out.empty() ? "" : " or ") + w;
    return out;
}

// Mutants of transfers and groups, one for each of the conditions that these are tried in.
std::vector<const Mutant*> conditions(const std::vector<const Mutant*>& mutants) {
    std::vector<const Mutant*> out;
    std::set<std::string> seen;
    for (const Mutant* m : mutants) {
        if (ends_at_first(*m) && seen.insert(Clean::conditions_of(*m)).second) out.push_back(m);
    }
    return out;
}

// The clean library breaks nothing under any of them.
std::size_t tell_clean(Clean& clean, const std::vector<const Mutant*>& mutants) {
    std::set<Deviation> all;
    for (const Mutant* m : mutants) {
        const Findings& found = clean.under(*m);
        all.insert(found.begin(), found.end());
    }
    for (const Deviation& d : all)
        std::printf("UNSOUND   clean                            %s: %s\n", d.clause.c_str(), d.summary.c_str());
    return all.size();
}

// Calls `work` with each index below `count`, so many at a time, in their order.
void share_out(unsigned jobs, std::size_t count, const std::function<void(std::size_t)>& work) {
    std::atomic<std::size_t> next{0};
    const auto take = [&] {
        for (std::size_t i = next++; i < count; i = next++) work(i);
    };
    std::vector<std::thread> workers;
    for (unsigned i = 0; i < jobs; ++i) workers.emplace_back(take);
    for (auto& w : workers) w.join();
}

int score(unsigned jobs, std::size_t every, const std::vector<std::string>& names) {
    const auto mutants = chosen(names, every);
    if (mutants.empty()) {
        std::fprintf(stderr, "mutant_score: no mutant begins so\n");
        return 2;
    }
    const auto began = Clock::now();
    const Workshop workshop;
    Clean clean(workshop);
    std::vector<Outcome> outcomes(mutants.size());
    // The clean library first: it is tried to the end of all cases, and nothing else is left for the other processors
    // when its turn is last.
    const auto plain = conditions(mutants);
    share_out(jobs, plain.size() + mutants.size(), [&](std::size_t i) {
        if (i < plain.size())
            clean.under(*plain[i]);
        else
            outcomes[i - plain.size()] = judge(workshop, clean, *mutants[i - plain.size()]);
    });
    std::size_t detected = 0;
    for (std::size_t i = 0; i < mutants.size(); ++i) {
        const Mutant& m = *mutants[i];
        const Outcome& o = outcomes[i];
        detected += o.detected ? 1 : 0;
        std::printf("%-9s %-32s %5.1f s  %-10s %s\n", o.detected ? "detected" : "SURVIVED", m.name.c_str(), o.seconds,
                    m.property.c_str(),
                    o.detected ? o.by.c_str() : (joined(m.clauses) + "  (" + o.others + ")").c_str());
    }
    const std::size_t unsound = tell_clean(clean, plain);
    std::printf("mutants detected: %zu of %zu  (%.0f s)\n", detected, mutants.size(),
                std::chrono::duration<double>(Clock::now() - began).count());
    return detected == mutants.size() && unsound == 0 ? 0 : 1;
}

// A link per mutant, to the one object that holds them all.
int make_links() {
    const fs::path folder(SELVAGE_MUTANT_FOLDER);
    for (const Mutant& m : all_mutants()) {
        const fs::path link = library(m.name);
        std::error_code error;
        if (fs::is_symlink(link)) continue;
        fs::create_symlink("libmutant-all.so", link, error);
        if (!error) continue;
        std::fprintf(stderr, "mutant_score: %s: %s\n", link.c_str(), error.message().c_str());
        return 2;
    }
    return 0;
}

int list() {
    for (const Mutant& m : all_mutants())
        std::printf("%-32s %s: %s\n", m.name.c_str(), joined(m.clauses).c_str(), m.breaks.c_str());
    return 0;
}

// A text of several lines in one.
std::string in_one_line(const std::string& text) {
    std::string out;
    for (const char c : text) out += c == '\n' ? "\\n" : std::string(1, c);
    return out;
}

// How each mutant is to be judged, for other programs: one line each, fields separated by tabs.
int table() {
    for (const Mutant& m : all_mutants())
        std::printf("%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n", m.name.c_str(), m.property.c_str(), m.provider.c_str(),
                    m.declared ? "declared" : "inferred", in_one_line(m.replaced).c_str(),
                    in_one_line(m.replacement).c_str(), m.speechless ? "speechless" : "speaks",
                    joined(m.clauses).c_str());
    return 0;
}

}  // namespace
}  // namespace selvage::mutants

int main(int argc, char** argv) {
    unsigned jobs = 2, every = 1;
    std::vector<std::string> names;
    for (int i = 1; i < argc; ++i) {
        const std::string a = argv[i];
        if (a == "--list") return selvage::mutants::list();
        if (a == "--table") return selvage::mutants::table();
        if (a == "--links") return selvage::mutants::make_links();
        if (a == "--jobs" && i + 1 < argc) {
            jobs = static_cast<unsigned>(std::max(1, std::atoi(argv[++i])));
        } else if (a == "--every" && i + 1 < argc) {
            every = static_cast<unsigned>(std::max(1, std::atoi(argv[++i])));
        } else {
            names.push_back(a);
        }
    }
    return selvage::mutants::score(jobs, every, names);
}
