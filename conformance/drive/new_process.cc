#include "conformance/drive/new_process.h"

#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace selvage::conformance {
namespace {

constexpr unsigned kMostSeconds = 20;

// In the child: becomes the tool, its standard output the pipe.
[[noreturn]] void become_tool(const Plan& plan, const std::optional<std::string>& fi_provider, std::uint64_t flags,
                              int out) {
    if (fi_provider) {
        setenv("FI_PROVIDER", fi_provider->c_str(), 1);
    } else {
        unsetenv("FI_PROVIDER");
    }
    dup2(out, STDOUT_FILENO);
    alarm(kMostSeconds);  // survives exec: a library that hangs ends here
    const std::string number = std::to_string(flags);
    execl(plan.tool.c_str(), plan.tool.c_str(), "fresh-names", "--library", plan.library.c_str(), "--flags",
          number.c_str(), nullptr);
    _exit(127);
}

void read_line(FreshAnswer& answer, const std::string& line) {
    if (line.starts_with("R")) answer.ret = std::atoi(line.c_str() + 1);
    if (line.starts_with("P")) answer.providers.push_back(line.substr(1));
}

}  // namespace

std::optional<FreshAnswer> issue_fresh(const Plan& plan, const std::optional<std::string>& fi_provider,
                                       std::uint64_t flags) {
    int ends[2];
    if (pipe(ends) != 0) return std::nullopt;
    const pid_t child = fork();
    if (child < 0) {
        close(ends[0]);
        close(ends[1]);
        return std::nullopt;
    }
    if (child == 0) {
        close(ends[0]);
        become_tool(plan, fi_provider, flags, ends[1]);
    }
    close(ends[1]);
    FreshAnswer answer;
    std::string line;
    char byte = 0;
    std::FILE* in = fdopen(ends[0], "r");
    for (int c = in == nullptr ? EOF : std::fgetc(in); c != EOF; c = std::fgetc(in)) {
        byte = static_cast<char>(c);
        if (byte != '\n') {
            line.push_back(byte);
            continue;
        }
        read_line(answer, line);
        line.clear();
    }
    if (in != nullptr) std::fclose(in);
    int status = 0;
    waitpid(child, &status, 0);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 127) return std::nullopt;
    if (WIFSIGNALED(status)) {
        answer.signal = WTERMSIG(status);
        answer.hung = answer.signal == SIGALRM;
    }
    return answer;
}

int fresh_names(const std::string& path, std::uint64_t flags) {
    std::string error;
    const auto library = Library::open(path, error);
    if (!library) return 2;
    Caller caller(*library);
    model::Query q;
    q.version = model::Version(library->entries().version());
    q.flags = flags;
    const Issued issued = caller.issue(q);
    std::printf("R%d\n", issued.answer.ret);
    for (const auto& o : issued.answer.offers) std::printf("P%s\n", o.fabric.prov_name.value_or("").c_str());
    std::fflush(stdout);
    return 0;
}

}  // namespace selvage::conformance
