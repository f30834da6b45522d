// selvage record: starts a program with the recorder loaded.
#include <fmt/format.h>
#include <sys/personality.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>

#include "conformance/cli/commands.h"
#include "conformance/cli/recording.h"

namespace selvage::conformance {
namespace {

// Beside the tool in a build folder, or where it is installed.
std::string find_recorder() {
    std::error_code ignored;
    const auto tool = std::filesystem::read_symlink("/proc/self/exe", ignored);
    for (const char* place : {"record/libselvage-record.so", SELVAGE_RECORDER_FROM_TOOL}) {
        const auto file = (tool.parent_path() / place).lexically_normal();
        if (std::filesystem::exists(file, ignored)) return file.string();
    }
    return {};
}

void prepend(const char* variable, const std::string& value) {
    const char* before = std::getenv(variable);
    const std::string all = before != nullptr && *before != '\0' ? value + ':' + before : value;
    setenv(variable, all.c_str(), 1);
}

// Why no trace can be written there, as one line; empty if one can.  The program would run, and its trace be lost.
std::string no_output(const std::string& output) {
    std::error_code ignored;
    const std::filesystem::path file(output);
    const auto folder = file.has_parent_path() ? file.parent_path() : std::filesystem::path(".");
    if (output.empty() || std::filesystem::is_directory(file, ignored))
        return fmt::format("--output {}: is a folder, not a file", output.empty() ? "\"\"" : output);
    if (access(folder.c_str(), W_OK | X_OK) == 0) return {};
    return fmt::format("--output {}: can't be written ({})", output, std::strerror(errno));
}

}  // namespace

std::string become_recorded(const Recording& recording) {
    const std::string recorder = find_recorder();
    if (recorder.empty()) return "libselvage-record.so is not beside this program";
    if (auto why = no_output(recording.output); !why.empty()) return why;
    if (!recording.library.empty()) {
        std::error_code error;
        static_cast<void>(std::filesystem::canonical(recording.library, error));
        if (error) return fmt::format("{}: {}", recording.library, error.message());
        const auto plain = std::filesystem::absolute(recording.library).lexically_normal();
        if (plain.filename() != "libfabric.so.1")
            return recording.library + ": programs look for a file of the name libfabric.so.1";
        prepend("LD_LIBRARY_PATH", plain.parent_path().string());
    }
    prepend("LD_PRELOAD", recorder);
    setenv("SELVAGE_RECORD", recording.output.c_str(), 1);
    if (recording.data) setenv("SELVAGE_RECORD_DATA", "1", 1);
    // This tool runs without address randomisation (main.cc); the program is to run as it always does.
    const int now = personality(0xffffffff);
    if (now != -1) personality(static_cast<unsigned long>(now) & ~static_cast<unsigned long>(ADDR_NO_RANDOMIZE));
    unsetenv("SELVAGE_ADDRESSES_KEPT");
    std::vector<char*> argv;
    argv.reserve(recording.command.size() + 1);
    for (const auto& a : recording.command) argv.push_back(const_cast<char*>(a.c_str()));
    argv.push_back(nullptr);
    execvp(argv[0], argv.data());
    return fmt::format("{}: {}", recording.command[0], std::strerror(errno));
}

void add_record(CLI::App& app, Run& run) {
    auto options = std::make_shared<Recording>();
    auto* command = app.add_subcommand("record", "run a program and write down what it asks of libfabric");
    command->add_option("PROGRAM", options->command, "the program and its arguments, after --")->required();
    command->add_option("--output", options->output, "the trace; %p is the number of the process")
        ->type_name("FILE")
        ->capture_default_str();
    command->add_option("--library", options->library, "a libfabric.so.1 to run the program on")->type_name("SO");
    command->add_flag("--data", options->data, "write down what is sent, too, not only its size and a digest");
    command->footer(
        "The program runs as always, with libselvage-record.so in LD_PRELOAD; its exit status is the program's. Every\n"
        "call of libfabric is a line of the trace, with its arguments and its result (docs/formats.md). The trace is\n"
        "complete even if the program crashes. What the program sends is not in it unless --data is given; addresses\n"
        "and names are. Each process that uses libfabric needs a file of its own: %p in the name.\n\n"
        "Example:  selvage record --output /tmp/fail-%p.trace -- ./solver input.txt\n"
        "          mpirun -n 2 selvage record --output rank-%p.trace -- ./solver input.txt\n"
        "          selvage replay /tmp/fail-4711.trace\n"
        "          selvage replay --library build/release/impl/libfabric.so.1 rank-*.trace\n\n"
        "Without this tool:  LD_PRELOAD=libselvage-record.so SELVAGE_RECORD=/tmp/fail-%p.trace ./solver input.txt\n"
        "SELVAGE_RECORD_DATA=1 is --data; SELVAGE_RECORD_LIMIT=BYTES ends a trace (default: 1 GiB).\n\n"
        "Exit status: the program's; 2 if it could not be started: one line on stderr says why.");
    command->callback([options, &run] { run = [options] { return could_not_run(become_recorded(*options)); }; });
}

}  // namespace selvage::conformance
