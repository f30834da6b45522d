#include "conformance/drive/new_process.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>

#include "conformance/base/starved.h"

namespace selvage::conformance {
namespace {

constexpr int kGlance = 10;  // milliseconds between two looks at how long it takes

// In the child: becomes the tool, its standard output the pipe.
[[noreturn]] void become_tool(const Plan& plan, const std::optional<std::string>& fi_provider, std::uint64_t flags,
                              int out) {
    if (fi_provider) {
        setenv("FI_PROVIDER", fi_provider->c_str(), 1);
    } else {
        unsetenv("FI_PROVIDER");
    }
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    dup2(out, STDOUT_FILENO);
    const std::string number = std::to_string(flags);
    execl(plan.tool.c_str(), plan.tool.c_str(), "fresh-names", "--library", plan.library.c_str(), "--flags",
          number.c_str(), nullptr);
    _exit(127);
}

void read_line(FreshAnswer& answer, const std::string& line) {
    if (line.starts_with("R")) answer.ret = std::atoi(line.c_str() + 1);
    if (line.starts_with("P")) answer.providers.push_back(line.substr(1));
}

void read_lines(FreshAnswer& answer, std::string& printed) {
    std::size_t begin = 0;
    for (std::size_t end = 0; (end = printed.find('\n', begin)) != std::string::npos; begin = end + 1)
        read_line(answer, printed.substr(begin, end - begin));
    printed.erase(0, begin);
}

// Until it has closed its end.  @return false: its time is over, of which what it stood in line is no part.
bool read_answer(FreshAnswer& answer, int in, pid_t child, std::chrono::milliseconds limit) {
    SpentBy spent(child);
    std::string printed;
    for (;;) {
        // What it says while it is looked at is seen first.
        const bool late = spent.time_is_over(limit);
        pollfd watched = {.fd = in, .events = POLLIN, .revents = 0};
        if (poll(&watched, 1, late ? 0 : kGlance) <= 0) {
            if (late) return false;
            continue;
        }
        char piece[4096];
        const ssize_t n = read(in, piece, sizeof piece);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return true;
        printed.append(piece, static_cast<std::size_t>(n));
        read_lines(answer, printed);
    }
}

}  // namespace

std::optional<FreshAnswer> issue_fresh(const Plan& plan, const std::optional<std::string>& fi_provider,
                                       std::uint64_t flags, std::chrono::milliseconds limit) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) return std::nullopt;
    const pid_t child = fork();
    if (child < 0) {
        close(ends[0]);
        close(ends[1]);
        return std::nullopt;
    }
    if (child == 0) become_tool(plan, fi_provider, flags, ends[1]);
    close(ends[1]);
    FreshAnswer answer;
    answer.hung = !read_answer(answer, ends[0], child, limit);
    close(ends[0]);
    if (answer.hung) kill(child, SIGKILL);
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
    if (WIFEXITED(status) && WEXITSTATUS(status) == 127) return std::nullopt;
    if (!answer.hung && WIFSIGNALED(status)) {
        answer.signal = WTERMSIG(status);
        if (answer.signal == SIGKILL) return std::nullopt;  // from outside: memory is short
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
