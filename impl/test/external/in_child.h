// A test in a process of its own: FI_PROVIDER_PATH is read once for each, and what it names stays loaded.
#pragma once

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <sstream>
#include <string>
#include <vector>

#include "impl/test/external/small_provider.h"

namespace selvage::test {

// The folder, and the file, of a variant of small_provider.c (CMakeLists.txt).
inline std::string folder(const std::string& variant) { return std::string(SELVAGE_VARIANTS) + "/" + variant; }
inline std::string file(const std::string& variant) { return folder(variant) + "/lib" + variant + "-fi.so"; }

// What a variant that is loaded has seen.
inline small_seen& seen(const std::string& variant) {
    static small_seen nothing;
    void* handle = dlopen(file(variant).c_str(), RTLD_NOW | RTLD_NOLOAD);
    auto* found = handle ? static_cast<small_seen*>(dlsym(handle, "small_seen")) : nullptr;
    EXPECT_TRUE(found) << variant << " is not loaded";
    return found ? *found : nothing;
}

// The lines that a child wrote to standard error.
using Lines = std::vector<std::string>;

inline size_t count_lines_with(const Lines& lines, const std::string& text) {
    return static_cast<size_t>(
        std::ranges::count_if(lines, [&](const std::string& line) { return line.find(text) != std::string::npos; }));
}

// Runs `body` in a child of fork with that FI_PROVIDER_PATH. What fails in it fails here. `leave` ends the child.
inline Lines in_child(const std::string& path, const std::function<void()>& body, void (*leave)(int) = _exit) {
    int ends[2];
    EXPECT_EQ(pipe(ends), 0);
    fflush(nullptr);
    const pid_t child = fork();
    if (child == 0) {
        dup2(ends[1], STDERR_FILENO);
        close(ends[0]);
        close(ends[1]);
        setenv("FI_PROVIDER_PATH", path.c_str(), 1);
        body();
        fflush(nullptr);
        leave(testing::Test::HasFailure() ? 1 : 0);
    }
    close(ends[1]);
    std::string text;
    char piece[4096];
    for (ssize_t length; (length = read(ends[0], piece, sizeof piece)) > 0;) {
        text.append(piece, static_cast<size_t>(length));
    }
    close(ends[0]);
    int status = -1;
    EXPECT_EQ(waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status)) << "signal " << WTERMSIG(status) << "\n" << text;
    EXPECT_EQ(WEXITSTATUS(status), 0) << text;
    Lines lines;
    std::istringstream stream(text);
    for (std::string line; std::getline(stream, line);) lines.push_back(line);
    return lines;
}

}  // namespace selvage::test
