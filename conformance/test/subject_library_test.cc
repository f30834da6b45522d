// Library::open finds the system's library, and says in one line why something is none.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <regex>

#include "conformance/test/subject_util.h"
#include "conformance/test/tool_util.h"

namespace selvage::conformance {
namespace {

/// The error that opening `path` gives, "opened" if it opens.
Seen open_in_child(const std::string& path) {
    return in_child([&](Channel& c) {
        std::string error;
        c.send(Library::open(path, error) ? "opened" : error);
    });
}

std::string error_of(const std::string& path) {
    const Seen seen = open_in_child(path);
    return seen.records.size() == 1 ? seen.records[0] : "no answer";
}

TEST(Library, FindsTheSystemsOwn) {
    const Seen seen = in_child([](Channel& c) {
        std::string error;
        const auto library = Library::open("", error);
        if (!library) return c.send(error);
        c.send(library->path());
        c.send(library->build_id());
        c.send(std::to_string(library->entries().version() >> 16));
        c.send(library->entries().strerror(61));
    });
    ASSERT_EQ(seen.records.size(), 4U) << (seen.records.empty() ? "" : seen.records[0]);
    EXPECT_EQ(seen.records[0].front(), '/');
    EXPECT_NE(seen.records[0].find("libfabric.so.1"), std::string::npos);
    EXPECT_EQ(seen.records[1].size(), 40U);
    EXPECT_EQ(seen.records[2], "1");
    EXPECT_NE(seen.records[3], "");
}

TEST(Library, SaysWhyNot) {
    EXPECT_EQ(error_of("/nowhere/libfabric.so"), "/nowhere/libfabric.so: No such file or directory");
    EXPECT_EQ(error_of("/tmp"), "/tmp: is a directory, not a library");
    EXPECT_EQ(error_of(broken_library("not_fabric")),
              broken_library("not_fabric") + ": is not a libfabric: it lacks fi_getinfo");
    EXPECT_NE(error_of("no-such-name.so.9").find("no-such-name.so.9: cannot be loaded"), std::string::npos);
}

TEST(Library, TextFileIsNone) {
    char name[] = "/tmp/selvage_text_XXXXXX";
    const int fd = mkstemp(name);
    ASSERT_GE(fd, 0);
    close(fd);
    EXPECT_NE(error_of(name).find("is not a library that can be loaded"), std::string::npos) << error_of(name);
    std::ofstream(name) << std::string(5000, 'x');
    EXPECT_NE(error_of(name).find("is not a library that can be loaded"), std::string::npos) << error_of(name);
    EXPECT_EQ(error_of(name).find('\n'), std::string::npos);
    unlink(name);
}

// A library's own function of the same name would be called by the tool's.
TEST(Library, FindsNoFunctionOfTheRuntimeInTheTool) {
    const std::string header = slurp(SELVAGE_SOURCE_DIR "/conformance/runtime/runtime.h");
    const std::string exported = run_program({"nm", "-D", "--defined-only", SELVAGE_TOOL}).out;
    EXPECT_NE(exported.find(" malloc\n"), std::string::npos) << "it exports what it is to export";
    static const std::regex kFunction(R"(\n\w[^\n;/]*?(\w+)\()");
    std::size_t functions = 0;
    for (std::sregex_iterator i(header.begin(), header.end(), kFunction), end; i != end; ++i, ++functions)
        EXPECT_EQ(exported.find(" " + (*i)[1].str() + "\n"), std::string::npos) << (*i)[1];
    EXPECT_GT(functions, 15U);
}

TEST(Library, CrashingConstructorIsSeenFromOutside) {
    const Seen seen = open_in_child(broken_library("crash_at_load"));
    EXPECT_EQ(seen.ending.kind, Ending::Kind::Crashed);
    EXPECT_EQ(seen.ending.signal, SIGABRT);
}

}  // namespace
}  // namespace selvage::conformance
