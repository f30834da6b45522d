// See compiler.h.
#include "conformance/convict/compiler.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <sstream>

#include "conformance/base/patience.h"
#include "conformance/convict/bounded_run.h"

namespace selvage::conformance {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::seconds kLimit{60};

bool is_program(const fs::path& path) {
    std::error_code ignored;
    return access(path.c_str(), X_OK) == 0 && fs::is_regular_file(path, ignored);
}

// The program that a shell would start; empty: none.
std::string find_program(const std::string& name) {
    std::error_code ignored;
    if (name.find('/') != std::string::npos) return is_program(name) ? fs::absolute(name, ignored).string() : "";
    const char* const path = std::getenv("PATH");
    std::istringstream folders(path != nullptr ? path : "/usr/local/bin:/usr/bin:/bin");
    for (std::string folder; std::getline(folders, folder, ':');) {
        const fs::path file = fs::absolute(folder.empty() ? "." : folder, ignored) / name;
        if (is_program(file)) return file.string();
    }
    return {};
}

// The first line about an error, else the first line.
std::string what_it_says(const std::string& output) {
    std::istringstream lines(output);
    std::string first;
    for (std::string line; std::getline(lines, line);) {
        if (line.find("error") != std::string::npos) return line;
        if (first.empty()) first = line;
    }
    return first;
}

std::string why_it_failed(const RunResult& r) {
    const std::string code = std::to_string(r.code);
    switch (r.kind) {
        case RunResult::Kind::Exited: {
            if (r.code == 0) return {};
            const std::string said = what_it_says(r.output);
            return "exits with status " + code + (said.empty() ? "" : ": " + said);
        }
        case RunResult::Kind::Signaled:
            return "dies of signal " + code;
        case RunResult::Kind::TimedOut:
            return "does not come to an end";
        case RunResult::Kind::NotStarted:
            return std::strerror(r.code);
    }
    return {};
}

}  // namespace

std::optional<Compiler> Compiler::find(const std::string& command, std::string& why) {
    const char* const cc = std::getenv("CC");
    const bool from_variable = command.empty() && cc != nullptr && std::strspn(cc, " \t") != std::strlen(cc);
    Compiler out;
    out.name_ = !command.empty() ? command : from_variable ? cc : "cc";
    std::istringstream words(out.name_);
    for (std::string word; words >> word;) out.words_.push_back(word);
    const std::string path = out.words_.empty() ? "" : find_program(out.words_.front());
    if (path.empty()) {
        why = std::string(from_variable ? "CC is " : "") + out.name_ + ", which is no program that can be found";
        return std::nullopt;
    }
    out.words_.front() = path;
    if (!command.empty() || from_variable) return out;  // who chose one gets that one
    if (const std::string quick = find_program("tcc"); !quick.empty()) out.quick_ = {quick};
    return out;
}

std::string Compiler::run(const std::vector<std::string>& words, std::initializer_list<const char*> options,
                          const std::vector<std::string>& files, const std::string& directory) const {
    BoundedCommand command;
    command.arguments = words;
    for (const char* option : options) command.arguments.emplace_back(option);
    command.arguments.emplace_back("-o");
    command.arguments.insert(command.arguments.end(), files.begin(), files.end());
    command.environment = own_environment();
    set_variable(command.environment, "LC_ALL", "C");
    command.directory = directory;
    command.limit = kLimit * patience_factor();
    const std::string why = why_it_failed(run_bounded(command));
    return why.empty() ? why : name_ + " " + why;
}

std::string Compiler::compile(Which which, const std::string& source, const std::string& library,
                              const std::string& program, const std::string& directory) const {
    if (which == Which::Quick) return run(quick_, {"-w", "-pthread"}, {program, source, library}, directory);
    // Symbols that the library itself lacks are its own affair.
    return run(words_, {"-O0", "-w", "-pthread", "-Wl,--allow-shlib-undefined"}, {program, source, library}, directory);
}

bool Compiler::compile_preloaded(const std::string& source, const std::string& library,
                                 const std::string& directory) const {
    return run(words_, {"-O1", "-w", "-fPIC", "-shared"}, {library, source}, directory).empty();
}

}  // namespace selvage::conformance
