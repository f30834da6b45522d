// See tool_util.h.
#include "conformance/test/tool_util.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <thread>

#include "conformance/base/starved.h"
#include "conformance/bench/cores.h"

namespace selvage::conformance {
namespace {

using Clock = std::chrono::steady_clock;

// A sanitizer makes the tool slower; the limits of the tests are meant for what people run.
#ifdef SELVAGE_SANITIZED
constexpr int kSlowness = 8;
#else
constexpr int kSlowness = 1;
#endif

int one_processor() {
    const std::vector<int> allowed = bench::cores_allowed();
    EXPECT_FALSE(allowed.empty());
    return allowed.empty() ? 0 : allowed.front();
}

void redirect(const std::string& path, int flags, int to) {
    const int fd = open(path.c_str(), flags, 0600);
    if (fd < 0) _exit(126);
    dup2(fd, to);
    close(fd);
}

void set_environment(const Environment& environment) {
    for (const auto& e : environment) {
        const auto cut = e.find('=');
        if (cut == std::string::npos) {
            unsetenv(e.c_str());
        } else {
            setenv(e.substr(0, cut).c_str(), e.c_str() + cut + 1, 1);
        }
    }
}

[[noreturn]] void become(const std::vector<std::string>& command, const Environment& environment, const Folder& files) {
    setpgid(0, 0);
    redirect(files.path("in"), O_RDONLY, STDIN_FILENO);
    redirect(files.path("out"), O_WRONLY | O_CREAT | O_TRUNC, STDOUT_FILENO);
    redirect(files.path("err"), O_WRONLY | O_CREAT | O_TRUNC, STDERR_FILENO);
    set_environment(environment);
    std::vector<char*> argv;
    for (const auto& a : command) argv.push_back(const_cast<char*>(a.c_str()));
    argv.push_back(nullptr);
    execvp(argv[0], argv.data());
    _exit(127);
}

// Waits for the process; ends its group when the time is over.
int wait_for(pid_t pid, Clock::time_point end, bool& timed_out) {
    int status = 0;
    while (waitpid(pid, &status, WNOHANG) == 0) {
        if (Clock::now() > end) {
            timed_out = true;
            kill(-pid, SIGKILL);
            waitpid(pid, &status, 0);
            break;
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    return status;
}

}  // namespace

Ran run_program(const std::vector<std::string>& command, const Environment& environment, std::string_view input,
                std::chrono::seconds limit) {
    const Folder files;
    static_cast<void>(files.write("in", input));
    Ran ran;
    const auto began = Clock::now();
    const pid_t pid = fork();
    if (pid == 0) become(command, environment, files);
    setpgid(pid, pid);
    const int status = wait_for(pid, began + kSlowness * limit, ran.timed_out);
    ran.seconds = std::chrono::duration<double>(Clock::now() - began).count();
    if (WIFEXITED(status)) ran.status = WEXITSTATUS(status);
    if (WIFSIGNALED(status)) ran.signal = WTERMSIG(status);
    ran.out = slurp(files.path("out"));
    ran.err = slurp(files.path("err"));
    return ran;
}

Ran run_tool(std::vector<std::string> arguments, const Environment& environment, std::string_view input,
             std::chrono::seconds limit) {
    arguments.insert(arguments.begin(), SELVAGE_TOOL);
    return run_program(arguments, environment, input, limit);
}

void pin_to_one_processor() {
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(one_processor(), &one);
    sched_setaffinity(0, sizeof one, &one);
}

BusyProcessor::BusyProcessor() {
    for (pid_t& spinner : spinners_) {
        spinner = fork();
        if (spinner != 0) continue;
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        pin_to_one_processor();
        for (;;) continue;
    }
    for (const pid_t spinner : spinners_) {
        constexpr std::chrono::milliseconds kAlready{1};
        while (spinner > 0 && work_of(spinner) <= kAlready) std::this_thread::sleep_for(kAlready);
    }
}

BusyProcessor::~BusyProcessor() {
    for (const pid_t spinner : spinners_) {
        if (spinner <= 0) continue;
        kill(spinner, SIGKILL);
        waitpid(spinner, nullptr, 0);
    }
}

// The kernel counts how long: work of a fixed length may be over sooner.
std::string BusyProcessor::work_in_line() const {
    return "taskset -c " + std::to_string(one_processor()) +
           " nice -n 19 sh -c 'stood=0; while [ $stood -lt 1500000000 ]; do "
           "read ran stood turns < /proc/self/schedstat || exit; done'";
}

Folder::Folder() {
    std::string name = (std::filesystem::temp_directory_path() / "selvage-test-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("no folder for the test");
    root_ = name;
}

Folder::~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(root_, ignored);
}

std::string Folder::write(std::string_view name, std::string_view content) const {
    std::ofstream(path(name), std::ios::binary) << content;
    return path(name);
}

std::string slurp(const std::string& path) {
    std::ostringstream text;
    text << std::ifstream(path, std::ios::binary).rdbuf();
    return text.str();
}

Report read_report(const std::string& path) {
    Report report;
    std::string error;
    EXPECT_TRUE(read_report_json(slurp(path), report, error)) << path << ": " << error;
    return report;
}

std::size_t lines_of(std::string_view text) {
    return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

bool has_escapes(std::string_view text) {
    return std::any_of(text.begin(), text.end(),
                       [](char c) { return static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\t'; });
}

void expect_refusal(const std::vector<std::string>& arguments, std::string_view says, std::string_view input) {
    std::string command;
    for (const auto& a : arguments) command += a + " ";
    SCOPED_TRACE(command);
    const Ran ran = run_tool(arguments, {}, input);
    EXPECT_EQ(ran.status, 2);
    EXPECT_EQ(lines_of(ran.err), 1U) << ran.err;
    EXPECT_TRUE(contains(ran.err, says)) << ran.err;
    EXPECT_TRUE(ran.err.starts_with("selvage: ")) << ran.err;
    EXPECT_FALSE(has_escapes(ran.err)) << ran.err;
    EXPECT_EQ(ran.out, "");
}

}  // namespace selvage::conformance
