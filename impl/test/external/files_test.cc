// Which files of FI_PROVIDER_PATH become providers, and what the others cost.
#include <rdma/fi_errno.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include <filesystem>
#include <fstream>
#include <thread>

#include "impl/test/external/in_child.h"
#include "impl/test/library/getinfo.h"

namespace selvage::test {
namespace {

namespace fs = std::filesystem;

// A folder of links to variants, and of what else a test puts there.
class Folder {
public:
    Folder() {
        char name[] = "/tmp/selvage-external-XXXXXX";
        path_ = mkdtemp(name);
    }
    ~Folder() { fs::remove_all(path_); }
    Folder(const Folder&) = delete;
    Folder& operator=(const Folder&) = delete;
    void link(const std::string& name, const std::string& target) const { fs::create_symlink(target, path_ / name); }
    std::string path() const { return path_; }
    std::string operator/(const char* name) const { return path_ / name; }

private:
    fs::path path_;
};

// Provider names of the answers to no hints, neighbours of one name as one.
std::vector<std::string> answering() {
    std::vector<std::string> names;
    const Answer answer = getinfo(nullptr);
    for (const fi_info* info = answer.get(); info; info = info->next) {
        const char* name = info->fabric_attr->prov_name;
        if (names.empty() || names.back() != name) names.emplace_back(name);
    }
    return names;
}

size_t entries(const char* provider) { return getinfo(make_hints(provider)).size(); }

uint32_t version_of(const char* provider) {
    const Answer answer = getinfo(make_hints(provider));
    return answer.get() ? answer->fabric_attr->prov_version : 0;
}

struct BadFile {
    const char* name;
    const char* why;  // part of the line in the log
};

class BadFiles : public testing::TestWithParam<BadFile> {};

TEST_P(BadFiles, CostOneWarningAndNothingElse) {
    const std::string variant = GetParam().name;
    const Lines log = in_child(folder(variant) + ":" + folder("good"), [] {
        EXPECT_GT(entries("tcp"), 0U);
        EXPECT_GT(entries("shm"), 0U);
        EXPECT_EQ(entries("small"), 2U);
        EXPECT_EQ(answering().back(), "small");
    });
    EXPECT_EQ(log.size(), 1U);
    EXPECT_EQ(count_lines_with(log, "<warn> " + file(variant)), 1U) << log.at(0);
    EXPECT_EQ(count_lines_with(log, GetParam().why), 1U) << log.at(0);
}

INSTANTIATE_TEST_SUITE_P(External, BadFiles,
                         testing::Values(BadFile{"no_entry", "has no entry fi_prov_ini; remove it"},
                                         BadFile{"entry_null", "fi_prov_ini returned NULL"},
                                         BadFile{"no_getinfo", "no call `getinfo`"},
                                         BadFile{"no_fabric", "no call `fabric`"},
                                         BadFile{"too_new", "built for interface 9.0, and 1.3 to 2.6 are supported"},
                                         BadFile{"too_old", "built for interface 1.2, and 1.3 to 2.6 are supported"},
                                         BadFile{"no_name", "is not made of letters"},
                                         BadFile{"odd_name", "is not made of letters"},
                                         BadFile{"overlong_name", "longer than 63 characters"},
                                         BadFile{"old_tcp", "a provider named tcp is there already"},
                                         BadFile{"layer", "has the name of a layer"}),
                         [](const auto& test) { return std::string(test.param.name); });

// The one line that a folder with one bad file costs.
std::string only_line(const std::string& path) {
    const Lines log = in_child(path, [] {
        EXPECT_GT(entries("tcp"), 0U);
        EXPECT_GT(entries("shm"), 0U);
    });
    EXPECT_EQ(log.size(), 1U);
    return log.empty() ? "" : log.front();
}

TEST(ExternalFiles, ThatAreTextAreNamedInTheLog) {
    const Folder folder;
    std::ofstream(folder / "libx-fi.so") << "nothing to load";
    const std::string line = only_line(folder.path());
    EXPECT_NE(line.find(folder / "libx-fi.so"), std::string::npos) << line;
    EXPECT_NE(line.find("file too short"), std::string::npos) << line;
}

TEST(ExternalFiles, ThatAreLinksToNothingAreNamedInTheLog) {
    const Folder folder;
    folder.link("libx-fi.so", "/nowhere/libx-fi.so");
    const std::string line = only_line(folder.path());
    EXPECT_NE(line.find((folder / "libx-fi.so") + " is not used as a provider: No such file"), std::string::npos)
        << line;
}

TEST(ExternalFiles, ThatAreNoFilesAreNotWaitedFor) {
    const Folder folder;
    ASSERT_EQ(mkfifo((folder / "libx-fi.so").c_str(), 0600), 0);
    EXPECT_NE(only_line(folder.path()).find("no regular file"), std::string::npos);
}

TEST(ExternalFiles, OfFoldersThatAreNotThereAreNamedInTheLog) {
    EXPECT_NE(only_line("/nowhere").find("names the folder /nowhere, which cannot be read"), std::string::npos);
    EXPECT_NE(only_line(std::string(10000, 'x')).find("File name too long"), std::string::npos);
}

TEST(ExternalFiles, OfOtherNamesAreNotLookedAt) {
    const Folder folder;
    std::ofstream(folder / "libx.so") << "nothing to load";
    std::ofstream(folder / "x-fi.so") << "nothing to load";
    std::ofstream(folder / ".libx-fi.so.swp") << "nothing to load";
    EXPECT_TRUE(in_child(folder.path() + "::" + folder.path() + ":", [] { EXPECT_GT(entries("tcp"), 0U); }).empty());
}

TEST(ExternalFiles, AnswerBehindTheLibraryInTheOrderOfFoldersAndNames) {
    const auto expect_last = [](const std::string& path, const std::vector<std::string>& last) {
        const Lines log = in_child(path, [&] {
            const std::vector<std::string> names = answering();
            ASSERT_GT(names.size(), last.size());
            EXPECT_EQ(std::vector<std::string>(names.end() - 2, names.end()), last) << path;
            for (auto own = names.begin(); own != names.end() - 2; ++own) {
                EXPECT_TRUE(*own != "small" && *own != "other") << path;
            }
        });
        EXPECT_TRUE(log.empty());
    };
    const Folder other_first;
    other_first.link("liba-fi.so", file("other"));
    other_first.link("libb-fi.so", file("good"));
    expect_last(other_first.path(), {"other", "small"});
    const Folder small_first;
    small_first.link("libb-fi.so", file("other"));
    small_first.link("libB-fi.so", file("good"));
    expect_last(small_first.path(), {"small", "other"});
    expect_last(folder("other") + ":" + folder("good"), {"other", "small"});
}

TEST(ExternalFiles, AreLoadedOnceByTheFirstCallOfAnyThread) {
    in_child(folder("slow"), [] {
        std::vector<std::thread> threads;
        for (int i = 0; i < 4; ++i) threads.emplace_back([] { EXPECT_EQ(entries("small"), 2U); });
        for (std::thread& thread : threads) thread.join();
        EXPECT_EQ(seen("slow").loads, 1);
    });
}

TEST(ExternalFiles, AreThereInAChildOfAForkDuringTheLoad) {
    in_child(folder("slow"), [] {
        std::thread first([] { EXPECT_EQ(entries("small"), 2U); });
        usleep(100000);
        const pid_t child = fork();
        // Past ThreadSanitizer's _exit, to which the thread of the parent is one that was never joined.
        if (child == 0) syscall(SYS_exit_group, entries("small") == 2 && seen("slow").loads == 1 ? 0 : 1);
        int status = -1;
        waitpid(child, &status, 0);
        EXPECT_EQ(status, 0);
        first.join();
    });
}

TEST(ExternalFiles, MayQueryTheirHostWhileTheyAreLoaded) {
    in_child(folder("queries_host"), [] {
        EXPECT_EQ(entries("small"), 2U);
        EXPECT_EQ(seen("queries_host").result_of_host, 0);
        EXPECT_EQ(seen("queries_host").queries, 1);  // its host's answer had none of its own
    });
}

TEST(ExternalFiles, HaveTheParametersAndTheLogOfTheirHost) {
    setenv("FI_SMALL_NUMBER", "12", 1);
    const Lines log = in_child(folder("uses_host"), [] {
        EXPECT_EQ(entries("small"), 2U);
        EXPECT_EQ(seen("uses_host").result_of_host, 0);
        EXPECT_EQ(seen("uses_host").number, 12);
    });
    EXPECT_EQ(count_lines_with(log, ":small:core:fi_prov_ini():"), 1U);
    setenv("FI_LOG_PROV", "^small", 1);
    EXPECT_TRUE(in_child(folder("uses_host"), [] { EXPECT_EQ(entries("small"), 2U); }).empty());
    unsetenv("FI_LOG_PROV");
    unsetenv("FI_SMALL_NUMBER");
}

TEST(ExternalFiles, OfOneNameAreUsedInTheNewestVersion) {
    const auto used = [](const std::string& path, uint32_t version, size_t lines) {
        const Lines log = in_child(path, [=] {
            EXPECT_EQ(version_of("small"), version);
            EXPECT_EQ(entries("small"), 2U);
        });
        EXPECT_EQ(count_lines_with(log, "a provider named small is there already"), lines) << path;
        EXPECT_EQ(log.size(), lines) << path;
    };
    used(folder("older") + ":" + folder("newer") + ":" + folder("good"), FI_VERSION(3, 2), 1);
    used(folder("newer") + ":" + folder("older"), FI_VERSION(3, 2), 1);
    used(folder("good") + ":" + folder("good"), FI_VERSION(3, 1), 0);  // the same file
    used("@" + folder("older") + ":" + folder("newer"), FI_VERSION(3, 0), 1);
}

TEST(ExternalFiles, TakeThePlaceOfAnOlderProviderOfTheLibrary) {
    in_child(folder("new_tcp"), [] {
        EXPECT_EQ(version_of("tcp"), FI_VERSION(300, 0));
        EXPECT_EQ(entries("tcp"), 2U);
        EXPECT_EQ(entries("tcp;ofi_rxm"), 0U);
        EXPECT_EQ(answering().back(), "tcp");
        EXPECT_EQ(std::ranges::count(answering(), "tcp"), 1);
    });
    in_child("@" + folder("old_tcp"), [] { EXPECT_EQ(version_of("tcp"), FI_VERSION(1, 0)); });
    in_child(folder("old_tcp"), [] { EXPECT_EQ(version_of("tcp"), FI_VERSION(118, 0)); });
}

TEST(ExternalFiles, AreChosenByTheListOfProviders) {
    setenv("FI_PROVIDER", "small", 1);
    EXPECT_TRUE(in_child(folder("other") + ":" + folder("good"), [] {
                    EXPECT_EQ(answering(), std::vector<std::string>{"small"});
                    EXPECT_EQ(seen("other").queries, 0);
                    EXPECT_EQ(seen("other").cleanups, 1);
                }).empty());
    setenv("FI_PROVIDER", "^small", 1);
    EXPECT_TRUE(in_child(folder("other") + ":" + folder("good"), [] {
                    EXPECT_EQ(answering().back(), "other");
                    EXPECT_EQ(entries("small"), 0U);
                }).empty());
    unsetenv("FI_PROVIDER");
}

TEST(ExternalFiles, AreCleanedUpWhenTheProcessEndsThatLoadedThem) {
    setenv("SMALL_SAYS_CLEANUP", "1", 1);
    const Lines log = in_child(
        folder("good") + ":" + folder("other"),
        [] {
            EXPECT_EQ(entries("small"), 2U);
            const pid_t child = fork();
            if (child == 0) exit(0);  // what its parent uses is not the child's
            int status = -1;
            waitpid(child, &status, 0);
            EXPECT_EQ(status, 0);
        },
        exit);
    EXPECT_EQ(log, (Lines{"other is cleaned up", "small is cleaned up"}));
    unsetenv("SMALL_SAYS_CLEANUP");
}

// Another program, as a set-uid program is one whose file says so.
TEST(ExternalFiles, OfTheEnvironmentOfASetUidProgramAreNotLoaded) {
    if (geteuid() != 0) GTEST_SKIP() << "takes root to make such a program";
    constexpr uid_t kNobody = 65534;
    const Folder folder_;
    const std::string program = folder_ / "list";
    fs::copy_file(SELVAGE_LIST_PROGRAM, program);
    ASSERT_EQ(chmod(folder_.path().c_str(), 0755), 0);
    ASSERT_EQ(chown(program.c_str(), kNobody, kNobody), 0);
    ASSERT_EQ(chmod(program.c_str(), 04755), 0);
    const auto lists_small = [&] {
        const std::string command = "FI_PROVIDER_PATH=" + folder("good") + " " + program + " small";
        FILE* pipe = popen(command.c_str(), "r");
        char line[256] = "";
        std::string text;
        while (fgets(line, sizeof line, pipe)) text += line;
        pclose(pipe);
        return text;
    };
    const std::string text = lists_small();
    if (text.find("result") == std::string::npos) GTEST_SKIP() << "nobody cannot run it here: " << text;
    EXPECT_NE(text.find("result -61"), std::string::npos) << text;
    ASSERT_EQ(chmod(program.c_str(), 0755), 0);
    EXPECT_NE(lists_small().find("offer small small-domain"), std::string::npos);
}

}  // namespace
}  // namespace selvage::test
