// Starting the running program again in another role.
#pragma once

#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "impl/test/crowd/station.h"

namespace selvage::impl::test {

inline pid_t start_again(std::vector<std::string> words) {
    words.insert(words.begin(), "/proc/self/exe");
    std::vector<char*> arguments;
    for (std::string& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    pid_t process = 0;
    if (posix_spawn(&process, "/proc/self/exe", nullptr, nullptr, arguments.data(), environ)) {
        give_up("posix_spawn", "cannot start a process");
    }
    return process;
}

// Kills it; it is an error if it has ended by itself.
inline void kill_process(pid_t process) {
    kill(process, SIGKILL);
    int status = 0;
    if (waitpid(process, &status, 0) != process) give_up("waitpid", "no such process");
    if (!WIFSIGNALED(status) || WTERMSIG(status) != SIGKILL) give_up("a process", "ended by itself");
}

}  // namespace selvage::impl::test
