// Logging: which messages the environment lets through, the form of a line, imported loggers, rate limits.
#include "impl/config/log.h"

#include <dirent.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

namespace {

using selvage::impl::kMaxLogLine;
using selvage::impl::log_enabled;
using selvage::impl::log_enabled_for;

fi_provider provider_named(const char* name) {
    fi_provider provider{};
    provider.name = name;
    return provider;
}

// Sets the three variables, nullptr for none, and has them read; puts the default back at the end.
class LogTest : public testing::Test {
protected:
    void TearDown() override {
        selvage::impl::import_logger(nullptr);
        unsetenv("FI_LOG_INTERVAL");
        settings(nullptr, nullptr, nullptr);
    }

    static void settings(const char* level, const char* providers, const char* subsystems) {
        set("FI_LOG_LEVEL", level);
        set("FI_LOG_PROV", providers);
        set("FI_LOG_SUBSYS", subsystems);
        selvage::impl::reload_log_settings();
    }

    static void set(const char* name, const char* value) {
        if (value == nullptr) {
            unsetenv(name);
        } else {
            setenv(name, value, 1);
        }
    }

    static std::string levels_shown() {
        std::string shown;
        for (int level = 0; level < FI_LOG_MAX; ++level) {
            shown += fi_log_enabled(nullptr, static_cast<fi_log_level>(level), FI_LOG_CORE) != 0 ? '1' : '0';
        }
        return shown;
    }

    static std::string subsystems_shown() {
        std::string shown;
        for (int subsys = 0; subsys < FI_LOG_SUBSYS_MAX; ++subsys) {
            shown += log_enabled(FI_LOG_WARN, static_cast<fi_log_subsys>(subsys)) ? '1' : '0';
        }
        return shown;
    }
};

// What happens on standard error, or output, while it lives. Reads a pipe, so that a write is seen as a read.
class StderrPipe {
public:
    explicit StderrPipe(int stream = STDERR_FILENO) : stream_(stream) {
        EXPECT_EQ(pipe(ends_), 0);
        saved_ = dup(stream_);
        dup2(ends_[1], stream_);
    }
    ~StderrPipe() {
        restore();
        close(ends_[0]);
    }
    StderrPipe(const StderrPipe&) = delete;
    StderrPipe& operator=(const StderrPipe&) = delete;

    std::string text() {
        restore();
        std::string all;
        char part[4096];
        for (ssize_t got = 0; (got = read(ends_[0], part, sizeof part)) > 0;)
            all.append(part, static_cast<std::size_t>(got));
        return all;
    }

private:
    void restore() {
        if (saved_ < 0) return;
        dup2(saved_, stream_);
        close(saved_);
        close(ends_[1]);
        saved_ = -1;
    }

    int stream_;
    int ends_[2] = {-1, -1};
    int saved_ = -1;
};

// A directory for log files; sets FI_LOG_LOCATION and has it read.
class LogLocationTest : public LogTest {
protected:
    void SetUp() override {
        std::string name = testing::TempDir() + "selvage-log-XXXXXX";
        ASSERT_NE(mkdtemp(name.data()), nullptr);
        folder_ = name;
    }
    void TearDown() override {
        unsetenv("FI_LOG_LOCATION");
        unsetenv("FI_LOG_LOCATION_MODE");
        LogTest::TearDown();
        std::filesystem::remove_all(folder_);
    }

    static void location(const std::string& value, const char* mode = nullptr) {
        setenv("FI_LOG_LOCATION", value.c_str(), 1);
        set("FI_LOG_LOCATION_MODE", mode);
        settings(nullptr, nullptr, nullptr);
    }
    static void say(const char* text) { fi_log(nullptr, FI_LOG_WARN, FI_LOG_CQ, "f", 1, "%s", text); }
    std::string path(const char* name) const { return folder_ + "/" + name; }
    static std::string read(const std::string& file) {
        std::ostringstream text;
        text << std::ifstream(file).rdbuf();
        return text.str();
    }
    static mode_t mode_of(const std::string& file) {
        struct stat status {};
        EXPECT_EQ(stat(file.c_str(), &status), 0) << file;
        return status.st_mode & 07777;
    }
    // The descriptor of an open file.
    static int descriptor_of(const std::string& file) {
        for (int number = 3; number < 1024; ++number) {
            std::error_code error;
            if (std::filesystem::read_symlink("/proc/self/fd/" + std::to_string(number), error) == file) return number;
        }
        return -1;
    }
    static long lines(const std::string& text) { return std::ranges::count(text, '\n'); }

    std::string folder_;
};

TEST_F(LogLocationTest, LinesGoToAFileThatOnlyItsOwnerReads) {
    const std::string file = path("log");
    StderrPipe captured;
    location(file);
    say("one");
    say("two");
    EXPECT_EQ(captured.text(), "");
    const std::string text = read(file);
    EXPECT_EQ(lines(text), 2) << text;
    EXPECT_NE(text.find("<warn> one\n"), std::string::npos) << text;
    EXPECT_TRUE(text.ends_with("<warn> two\n")) << text;
    EXPECT_EQ(mode_of(file), 0600U);
}

TEST_F(LogLocationTest, InADirectoryTheFileIsNamedAfterTheProcess) {
    location(folder_);
    say("here");
    const std::string text = read(path(("ofi_" + std::to_string(getpid()) + ".log").c_str()));
    EXPECT_TRUE(text.ends_with("<warn> here\n")) << text;
}

TEST_F(LogLocationTest, TheStandardStreamsAreLocations) {
    {
        StderrPipe errors;
        StderrPipe output(STDOUT_FILENO);
        location("stdout");
        say("to stdout");
        EXPECT_TRUE(output.text().ends_with("<warn> to stdout\n"));
        EXPECT_EQ(errors.text(), "");
    }
    for (const char* name : {"stderr", "STDERR", ""}) {
        StderrPipe errors;
        location(name);
        say("to stderr");
        EXPECT_TRUE(errors.text().ends_with("<warn> to stderr\n")) << name;
    }
    EXPECT_TRUE(std::filesystem::is_empty(folder_));
}

// One warning, however many lines follow.
TEST_F(LogLocationTest, WhatIsThereIsNotWrittenToAndTheLogGoesToStandardError) {
    std::ofstream(path("mine")) << "mine";
    std::filesystem::create_symlink(path("nothing"), path("link"));
    ASSERT_EQ(mkfifo(path("fifo").c_str(), 0600), 0);
    for (const char* name : {"mine", "link", "fifo", "no folder/log"}) {
        StderrPipe captured;
        location(path(name));
        say("a line");
        say("a line");
        const std::string text = captured.text();
        EXPECT_EQ(lines(text), 3) << text;
        EXPECT_NE(text.find("<warn> FI_LOG_LOCATION=" + path(name) + ": "), std::string::npos) << text;
        EXPECT_TRUE(text.ends_with("<warn> a line\n")) << text;
    }
    EXPECT_EQ(read(path("mine")), "mine");
    EXPECT_FALSE(std::filesystem::exists(path("nothing")));
}

TEST_F(LogLocationTest, APathOfAnyLengthAndAnyBytesIsOneLineOfWarning) {
    for (const std::string& name : {std::string(100000, 'x'), std::string("/nowhere/a\nb\x1b[31m")}) {
        StderrPipe captured;
        location(name);
        const std::string text = captured.text();
        EXPECT_EQ(lines(text), 1) << text;
        EXPECT_EQ(text.find('\x1b'), std::string::npos) << text;
        EXPECT_LT(text.size(), 1000U);
    }
}

TEST_F(LogLocationTest, TheModeIsOctal) {
    const mode_t mask = umask(0);
    location(path("open"), "640");
    EXPECT_EQ(mode_of(path("open")), 0640U);
    int number = 0;
    for (const char* wrong : {"", "0888", "rw", "77777", "4755", "-1"}) {
        StderrPipe captured;
        const std::string file = path(std::to_string(number++).c_str());
        location(file, wrong);
        say("a line");
        EXPECT_EQ(captured.text(), "") << wrong;
        EXPECT_EQ(mode_of(file), 0600U) << wrong;
        const std::string text = read(file);
        EXPECT_EQ(lines(text), 2) << text;
        EXPECT_NE(text.find("<warn> FI_LOG_LOCATION_MODE="), std::string::npos) << text;
    }
    umask(mask);
}

// A program that closes all descriptors and opens its own must not find the log in its files.
TEST_F(LogLocationTest, ADescriptorThatTheApplicationUsesAgainIsNotWrittenTo) {
    location(path("log"));
    const int descriptor = descriptor_of(path("log"));
    ASSERT_GE(descriptor, 3);
    const int other = open(path("other").c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    ASSERT_EQ(dup2(other, descriptor), descriptor);
    StderrPipe captured;
    say("a line");
    EXPECT_TRUE(captured.text().ends_with("<warn> a line\n"));
    EXPECT_EQ(read(path("other")), "");
    unsetenv("FI_LOG_LOCATION");
    settings(nullptr, nullptr, nullptr);
    EXPECT_EQ(fcntl(descriptor, F_GETFD), 0) << "not the library's to close";
    close(descriptor);
    close(other);
}

TEST_F(LogLocationTest, AnApplicationWithoutStandardErrorDoesNotWriteIntoTheLog) {
    const int saved = dup(STDERR_FILENO);
    close(STDERR_FILENO);
    location(path("log"));
    const bool free_number = fcntl(STDERR_FILENO, F_GETFD) < 0;
    dup2(saved, STDERR_FILENO);
    close(saved);
    EXPECT_TRUE(free_number);
    EXPECT_GE(descriptor_of(path("log")), 3);
}

TEST_F(LogTest, TheLevelShowsItselfAndAllBeforeIt) {
    settings(nullptr, nullptr, nullptr);
    EXPECT_EQ(levels_shown(), "1000");
    settings("warn", nullptr, nullptr);
    EXPECT_EQ(levels_shown(), "1000");
    settings("trace", nullptr, nullptr);
    EXPECT_EQ(levels_shown(), "1100");
    settings("Info", nullptr, nullptr);
    EXPECT_EQ(levels_shown(), "1110");
    settings("debug", nullptr, nullptr);
    EXPECT_EQ(levels_shown(), "1111");
    settings("bogus", nullptr, nullptr);
    EXPECT_EQ(levels_shown(), "1000");
    settings("", nullptr, nullptr);
    EXPECT_EQ(levels_shown(), "1000");
}

TEST_F(LogTest, SubsystemsAreListedOrExcluded) {
    settings(nullptr, nullptr, nullptr);
    EXPECT_EQ(subsystems_shown(), "1111111111");
    settings(nullptr, nullptr, "av,cq");
    EXPECT_EQ(subsystems_shown(), "0000011000");
    settings(nullptr, nullptr, "^av,cq");
    EXPECT_EQ(subsystems_shown(), "1111100111");
    settings(nullptr, nullptr, "nonsense");
    EXPECT_EQ(subsystems_shown(), "0000000000");
}

TEST_F(LogTest, ProvidersAreListedOrExcluded) {
    const auto shown = [](const char* name) { return log_enabled_for(name, FI_LOG_WARN, FI_LOG_CORE); };
    settings(nullptr, "tcp,shm", nullptr);
    EXPECT_TRUE(shown("tcp"));
    EXPECT_TRUE(shown("shm"));
    EXPECT_TRUE(shown("ofi_rxm;tcp"));
    EXPECT_FALSE(shown("tcpx"));
    EXPECT_FALSE(shown("tc"));
    EXPECT_FALSE(log_enabled(FI_LOG_WARN, FI_LOG_CORE));
    settings(nullptr, "^tcp", nullptr);
    EXPECT_FALSE(shown("tcp"));
    EXPECT_TRUE(shown("shm"));
    EXPECT_TRUE(log_enabled(FI_LOG_WARN, FI_LOG_CORE));
    const std::string endless(2 * kMaxLogLine, 'x');
    settings(nullptr, endless.c_str(), nullptr);
    EXPECT_FALSE(shown("tcp"));
}

TEST_F(LogTest, ValuesOutOfRangeAreNotShown) {
    settings("debug", nullptr, nullptr);
    EXPECT_EQ(fi_log_enabled(nullptr, FI_LOG_MAX, FI_LOG_CORE), 0);
    EXPECT_EQ(fi_log_enabled(nullptr, FI_LOG_WARN, FI_LOG_SUBSYS_MAX), 0);
    EXPECT_EQ(fi_log_enabled(nullptr, std::bit_cast<fi_log_level>(-1), FI_LOG_CORE), 0);
}

TEST_F(LogTest, ALineHasTheUsualForm) {
    settings("info", nullptr, nullptr);
    const fi_provider provider = provider_named("tcp");
    StderrPipe captured;
    fi_log(&provider, FI_LOG_INFO, FI_LOG_AV, "insert", 42, "%d of %s\n", 3, "four");
    std::string line = captured.text();
    const std::string head = "libfabric:" + std::to_string(getpid()) + ":";
    ASSERT_TRUE(line.starts_with(head)) << line;
    line.erase(0, head.size());
    EXPECT_EQ(line.find_first_not_of("0123456789"), line.find(':'));
    EXPECT_EQ(line.substr(line.find(':')), ":tcp:av:insert():42<info> 3 of four\n");
}

TEST_F(LogTest, ALineGetsItsNewlineAndANameForNull) {
    StderrPipe captured;
    fi_log(nullptr, FI_LOG_WARN, FI_LOG_CQ, nullptr, 1, "text");
    fi_log(nullptr, std::bit_cast<fi_log_level>(9), std::bit_cast<fi_log_subsys>(99), "f", 1, "odd");
    fi_log(nullptr, FI_LOG_WARN, FI_LOG_CQ, "f", 1, nullptr);
    const std::string text = captured.text();
    EXPECT_NE(text.find(":core:cq:?():1<warn> text\n"), std::string::npos) << text;
    EXPECT_NE(text.find(":core:Unknown (99):f():1<Unknown (9)> odd\n"), std::string::npos) << text;
}

TEST_F(LogTest, ALongLineIsCutAndSaysSo) {
    StderrPipe captured;
    const std::string endless(3 * kMaxLogLine, 'y');
    fi_log(nullptr, FI_LOG_WARN, FI_LOG_CQ, "f", 1, "%s", endless.c_str());
    const std::string text = captured.text();
    EXPECT_EQ(text.size(), kMaxLogLine);
    EXPECT_TRUE(text.ends_with("y...\n"));
}

TEST_F(LogTest, EveryLengthEndsWithOneNewline) {
    for (std::size_t length = kMaxLogLine - 120; length < kMaxLogLine + 4; ++length) {
        StderrPipe captured;
        const std::string body(length, 'y');
        fi_log(nullptr, FI_LOG_WARN, FI_LOG_CQ, "f", 1, "%s", body.c_str());
        const std::string text = captured.text();
        ASSERT_LE(text.size(), kMaxLogLine);
        ASSERT_EQ(text.find('\n'), text.size() - 1);
        ASSERT_EQ(text.find('\0'), std::string::npos);
    }
}

TEST_F(LogTest, InternalMessagesNameTheirCaller) {
    StderrPipe captured;
    selvage::impl::log(FI_LOG_WARN, FI_LOG_EQ, "%s", "for the core");
    selvage::impl::log_for("shm", FI_LOG_WARN, FI_LOG_EQ, "%s", "for shm");
    selvage::impl::log(FI_LOG_DEBUG, FI_LOG_EQ, "%s", "not shown");
    const std::string text = captured.text();
    EXPECT_NE(text.find(":core:eq:TestBody():"), std::string::npos) << text;
    EXPECT_NE(text.find("<warn> for the core\n"), std::string::npos) << text;
    EXPECT_NE(text.find(":shm:eq:TestBody():"), std::string::npos) << text;
    EXPECT_EQ(text.find("not shown"), std::string::npos) << text;
}

TEST_F(LogTest, ErrnoIsLeftAsItWas) {
    StderrPipe captured;
    errno = EXDEV;
    fi_log(nullptr, FI_LOG_WARN, FI_LOG_CQ, "f", 1, "text");
    selvage::impl::log(FI_LOG_WARN, FI_LOG_EQ, "text");
    EXPECT_TRUE(log_enabled(FI_LOG_WARN, FI_LOG_EQ));
    EXPECT_EQ(errno, EXDEV);
}

TEST_F(LogTest, ThreadsWriteWholeLines) {
    constexpr int kThreads = 4, kLines = 100;
    StderrPipe captured;
    std::vector<std::thread> threads;
    for (int number = 0; number < kThreads; ++number) {
        threads.emplace_back([] {
            for (int line = 0; line < kLines; ++line) fi_log(nullptr, FI_LOG_WARN, FI_LOG_CQ, "f", 1, "one whole line");
        });
    }
    for (std::thread& thread : threads) thread.join();
    const std::string text = captured.text();
    int lines = 0;
    for (std::size_t start = 0; start < text.size(); ++lines) {
        const std::size_t end = text.find('\n', start);
        const std::string line = text.substr(start, end - start);
        ASSERT_TRUE(line.starts_with("libfabric:") && line.ends_with("<warn> one whole line")) << line;
        start = end + 1;
    }
    EXPECT_EQ(lines, kThreads * kLines);
}

TEST_F(LogTest, ReadyOncePerInterval) {
    setenv("FI_LOG_INTERVAL", "30", 1);
    settings("warn", nullptr, nullptr);
    uint64_t showtime = 0;
    EXPECT_EQ(fi_log_ready(nullptr, FI_LOG_WARN, FI_LOG_CQ, &showtime), 1);
    EXPECT_NE(showtime, 0u);
    EXPECT_EQ(fi_log_ready(nullptr, FI_LOG_WARN, FI_LOG_CQ, &showtime), 0);
    usleep(40000);
    EXPECT_EQ(fi_log_ready(nullptr, FI_LOG_WARN, FI_LOG_CQ, &showtime), 1);
    EXPECT_EQ(fi_log_ready(nullptr, FI_LOG_INFO, FI_LOG_CQ, &showtime), 0);
    EXPECT_EQ(fi_log_ready(nullptr, FI_LOG_WARN, FI_LOG_CQ, nullptr), 1);
    EXPECT_EQ(fi_log_ready(nullptr, FI_LOG_MAX, FI_LOG_CQ, &showtime), 0);
}

TEST_F(LogTest, ReadyForOneOfManyThreads) {
    setenv("FI_LOG_INTERVAL", "100000", 1);
    settings("warn", nullptr, nullptr);
    uint64_t showtime = 0;
    std::atomic<int> winners{0};
    std::vector<std::thread> threads;
    for (int number = 0; number < 4; ++number) {
        threads.emplace_back([&] {
            for (int round = 0; round < 1000; ++round)
                winners += fi_log_ready(nullptr, FI_LOG_WARN, FI_LOG_CQ, &showtime);
        });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(winners, 1);
}

std::vector<std::string> imported_lines;

int imported_enabled(const fi_provider* provider, fi_log_level level, fi_log_subsys, uint64_t flags) {
    return level == FI_LOG_DEBUG && std::strcmp(provider->name, "core") == 0 && (flags & FI_LOG_PROV_FILTERED) == 0;
}

int imported_ready(const fi_provider*, fi_log_level level, fi_log_subsys, uint64_t, uint64_t*) {
    return level == FI_LOG_TRACE;
}

void imported_log(const fi_provider* provider, fi_log_level, fi_log_subsys, const char* function, int,
                  const char* text) {
    imported_lines.push_back(std::string(provider->name) + "/" + function + "/" + text);
}

TEST_F(LogTest, AnImportedLoggerDecidesAndWrites) {
    fi_ops_log ops{sizeof(fi_ops_log), imported_enabled, imported_ready, imported_log};
    fid_logging logger{};
    logger.ops = &ops;
    imported_lines.clear();
    selvage::impl::import_logger(&logger);
    EXPECT_TRUE(log_enabled(FI_LOG_DEBUG, FI_LOG_CORE));
    EXPECT_FALSE(log_enabled(FI_LOG_WARN, FI_LOG_CORE));
    EXPECT_EQ(fi_log_ready(nullptr, FI_LOG_TRACE, FI_LOG_CORE, nullptr), 1);
    selvage::impl::log(FI_LOG_DEBUG, FI_LOG_CORE, "%d", 17);
    selvage::impl::log(FI_LOG_WARN, FI_LOG_CORE, "%d", 18);
    EXPECT_EQ(imported_lines, std::vector<std::string>{"core/TestBody/17"});
    settings(nullptr, "tcp", nullptr);
    EXPECT_FALSE(log_enabled(FI_LOG_DEBUG, FI_LOG_CORE));
    selvage::impl::import_logger(nullptr);
    settings(nullptr, nullptr, nullptr);
    EXPECT_EQ(levels_shown(), "1000");
}

}  // namespace
