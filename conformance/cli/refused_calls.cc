// See refused_calls.h.
#include "conformance/cli/refused_calls.h"

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "conformance/cli/commands.h"
#include "conformance/cli/recording.h"
#include "conformance/convict/scratch.h"
#include "conformance/trace/trace.h"

namespace selvage::conformance {
namespace {

constexpr int kNoProgram = 127;  // as a shell says it

bool run(const Recording& recording, int& status, std::string& error) {
    const pid_t child = fork();
    if (child == 0) {
        could_not_run(become_recorded(recording));
        _exit(kNoProgram);
    }
    int ended = 0;
    while (child > 0 && waitpid(child, &ended, 0) < 0 && errno == EINTR) {
    }
    if (child < 0) error = fmt::format("fork: {}", std::strerror(errno));
    status = WIFEXITED(ended) ? WEXITSTATUS(ended) : -1;
    return child > 0;
}

void add(const TraceCall& call, ProgramCalls& out) {
    model::Query query;
    std::string what;
    ++out.queries;
    if (call.result == 0 || !parse_trace_query(call, query, what)) return;
    const auto same = std::find_if(out.refused.begin(), out.refused.end(),
                                   [&](const RefusedCall& r) { return r.query == query && r.result == call.result; });
    if (same != out.refused.end())
        ++same->times;
    else
        out.refused.push_back({std::move(query), call.result, 1});
}

bool read_traces(const std::string& folder, ProgramCalls& out, std::string& error) {
    std::vector<std::string> files;
    for (const auto& file : std::filesystem::directory_iterator(folder)) files.push_back(file.path());
    std::sort(files.begin(), files.end());
    for (const auto& file : files) {
        std::string text;
        Trace trace;
        if (!read_file(file, text, error) || !parse_trace(file, std::move(text), trace, error)) return false;
        if (out.processes++ == 0) out.library = trace.header.string("library").value_or("");
        for (const auto& call : trace.calls)
            if (call.call == "fi_getinfo") add(call, out);
    }
    return true;
}

}  // namespace

bool run_and_read(const std::string& command_line, const std::string& library, ProgramCalls& out, std::string& error) {
    const ScratchDirectory folder;
    const Recording recording{
        .command = {"sh", "-c", command_line}, .output = folder.path("%p.trace"), .library = library, .data = false};
    return run(recording, out.status, error) && read_traces(folder.path(), out, error);
}

}  // namespace selvage::conformance
