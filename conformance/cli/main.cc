// selvage: asks a libfabric library whether it keeps the promises of the interface.
#include <fmt/format.h>
#include <sys/personality.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sstream>

#include "conformance/base/markup.h"
#include "conformance/base/terminal.h"
#include "conformance/base/tunables.h"
#include "conformance/cli/commands.h"
#include "conformance/drive/new_process.h"
#include "conformance/run/runner.h"

namespace selvage::conformance {

// Hidden: the tool calls itself so, to ask a library that nobody has loaded yet (new_process.h).
static void add_fresh_names(CLI::App& app, Run& run) {
    auto library = std::make_shared<std::string>();
    auto flags = std::make_shared<std::uint64_t>(0);
    auto* command = app.add_subcommand("fresh-names", "")->group("");
    command->add_option("--library", *library);
    command->add_option("--flags", *flags);
    command->callback([library, flags, &run] { run = [library, flags] { return fresh_names(*library, *flags); }; });
}

// Without address randomisation, where the kernel allows it: what a library with a damaged heap does depends on where
// things lie, and the same seed should give the same report.
static bool keep_addresses() {
    const int now = personality(0xffffffff);
    return now != -1 && (now & ADDR_NO_RANDOMIZE) == 0 &&
           personality(static_cast<unsigned long>(now) | ADDR_NO_RANDOMIZE) != -1;
}

// With huge pages for large allocations: a check opens thousands of endpoints, and some libraries clear tens of
// megabytes for each.  Who has tunables of his own keeps them.
static bool use_huge_pages() { return std::getenv(kTunables) == nullptr && setenv(kTunables, kHugePages, 1) == 0; }

// Starts the tool again, once, with what only a new program gets.
static void start_again(int argc, char** argv) {
    constexpr const char* kMark = "SELVAGE_ADDRESSES_KEPT";
    if (std::getenv(kMark) != nullptr) return;
    const bool checks = argc > 1 && std::string_view(argv[1]) == "check";
    const bool kept = keep_addresses();
    const bool huge = checks && use_huge_pages();
    if (!kept && !huge) return;
    setenv(kMark, "1", 1);
    execv("/proc/self/exe", argv);
}

// What was printed and is lost is no answer.
static int with_output_written(int status) {
    errno = 0;
    if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return status;
    return could_not_run(fmt::format("standard output can't be written{}{}", errno != 0 ? ": " : "",
                                     errno != 0 ? std::strerror(errno) : ""));
}

// Help whose descriptions are as wide as the terminal.
class NarrowHelp : public CLI::Formatter {
public:
    NarrowHelp() { column_width(kNames); }
    [[nodiscard]] std::string make_option_desc(const CLI::Option* option) const override {
        return narrowed(option->get_description());
    }
    [[nodiscard]] std::string make_subcommand(const CLI::App* command) const override {
        std::ostringstream out;
        CLI::detail::format_help(out, command->get_display_name(true), narrowed(command->get_description()), kNames);
        return out.str();
    }

private:
    static constexpr std::size_t kNames = 30;
    static std::string narrowed(const std::string& text) {
        std::string out = wrap(text, "", std::max(columns(), kNames + 20) - kNames);
        if (!out.empty()) out.pop_back();
        return out;
    }
};

// What is wrong with the command line, and whose help says what is right.
static std::string misread(const CLI::App& app, const CLI::ParseError& error) {
    const auto chosen = app.get_subcommands();
    const auto left = app.remaining(true);
    if (chosen.empty() && !left.empty())
        return fmt::format("there is no command {} (selvage --help lists them)", left.front());
    std::string command = "selvage";
    for (const CLI::App* at = &app; !at->get_subcommands().empty();) {
        at = at->get_subcommands().front();
        command += " " + at->get_name();
    }
    const auto option = std::find_if(left.begin(), left.end(), [](const auto& l) { return l.starts_with('-'); });
    const bool is_extra = dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr;
    if (is_extra && option != left.end())
        return fmt::format("{} has no option {} ({} --help lists them)", command, *option, command);
    return fmt::format("{} ({} --help tells the options)", error.what(), command);
}

}  // namespace selvage::conformance

// What cannot even be reported ends the process.
int main(int argc, char** argv) {  // NOLINT(bugprone-exception-escape)
    selvage::conformance::start_again(argc, argv);
    using namespace selvage::conformance;
    CLI::App app{
        "Judges libfabric libraries by the promises of the interface: what fi_getinfo, fi_fabric, fi_domain and\n"
        "what they open must do, may do and must not do.",
        "selvage"};
    app.footer(
        "Exit status: 0 all promises kept, 1 deviations found, 2 could not run.\n"
        "Start with:  selvage check --provider shm\n"
        "             selvage explain --hints 'caps=FI_MSG|FI_ATOMIC, ep_attr.type=FI_EP_RDM'\n"
        "             selvage clauses getinfo.caps");
    app.require_subcommand(1);
    app.formatter(std::make_shared<NarrowHelp>());
    app.set_version_flag("--version", SELVAGE_VERSION);
    Run run;
    add_check(app, run);
    add_explain(app, run);
    add_replay(app, run);
    add_record(app, run);
    add_clauses(app, run);
    add_info(app, run);
    add_profile(app, run);
    add_bench(app, run);
    add_merge(app, run);
    add_coverage(app, run);
    add_diff(app, run);
    add_matrix(app, run);
    add_verify(app, run);
    add_findings(app, run);
    add_stat(app, run);
    add_completion(app, run);
    add_manual(app, run);
    add_fresh_names(app, run);
    try {
        app.parse(argc, argv);
    } catch (const CLI::CallForHelp& e) {
        return with_output_written(app.exit(e));
    } catch (const CLI::CallForVersion& e) {
        return with_output_written(app.exit(e));
    } catch (const CLI::ParseError& e) {
        return could_not_run(misread(app, e));
    }
    try {
        return with_output_written(run());
    } catch (const std::exception& e) {
        return could_not_run(e.what());
    }
}
