// The file of counters: who can find it, who can change it, how long it is there.
#include "impl/stat/stat_file.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <csignal>
#include <set>

#include "impl/test/engine/stat_view.h"

namespace selvage::impl::test {
namespace {

StatRecord* acquire(const char* name) { return acquire_stat_record(StatType::Endpoint, 1, "fake", name); }

TEST(StatFile, IsThereAsLongAsThereIsARecord) {
    EXPECT_EQ(stat_path(), "");
    StatRecord* first = acquire("first");
    StatRecord* second = acquire("second");
    EXPECT_NE(stat_path(), "");
    release_stat_record(first);
    EXPECT_NE(stat_path(), "");
    release_stat_record(second);
    EXPECT_EQ(stat_path(), "");
}

TEST(StatFile, ARecordIsReadAsItWasWritten) {
    StatRecord* record = acquire_stat_record(StatType::Peer, 7, "fake", "somebody");
    add_stat(record, Stat::Expired, 3);
    set_peer_life(record, PeerLife::Down, 104);
    const auto views = read_stat();
    ASSERT_EQ(views.size(), 1U);
    EXPECT_EQ(views[0].endpoint, 7U);
    EXPECT_EQ(views[0].name, "somebody");
    EXPECT_EQ(views[0].life, PeerLife::Down);
    EXPECT_EQ(views[0].last_error, 104);
    EXPECT_EQ(views[0].at(Stat::Expired), 3U);
    EXPECT_EQ(record->sequence % 2, 0U);
    release_stat_record(record);
}

TEST(StatFile, ARecordThatIsUsedAgainBeginsWithZeros) {
    StatRecord* other = acquire("other");
    StatRecord* record = acquire("a name that is long");
    add_stat(record, Stat::Unexpected, 3);
    release_stat_record(record);
    EXPECT_EQ(read_stat().size(), 1U);
    StatRecord* again = acquire("short");
    EXPECT_EQ(again, record);
    EXPECT_EQ(read_stat()[1].name, "short");
    EXPECT_EQ(read_stat()[1].at(Stat::Unexpected), 0U);
    release_stat_record(again);
    release_stat_record(other);
}

TEST(StatFile, ANameThatIsTooLongIsCut) {
    StatRecord* record = acquire(std::string(500, 'x').c_str());
    EXPECT_EQ(read_stat()[0].name, std::string(kStatNameMax - 1, 'x'));
    release_stat_record(record);
}

TEST(StatFile, MoreRecordsThanItHasRoomForAreAsGoodForTheirOwners) {
    std::vector<StatRecord*> records;
    for (size_t i = 0; i < kStatRecords + 10; ++i) {
        records.push_back(acquire("x"));
        ASSERT_NE(records.back(), nullptr);
        add_stat(records.back(), Stat::Lost);
    }
    EXPECT_EQ(read_stat().size(), kStatRecords);
    EXPECT_EQ(std::set<StatRecord*>(records.begin(), records.end()).size(), records.size());
    for (const StatRecord* record : records) ASSERT_EQ(record->get(Stat::Lost), 1U);
    for (StatRecord* record : records) release_stat_record(record);
    EXPECT_EQ(stat_path(), "");
}

TEST(StatFile, NobodyElseCanWriteOrShortenIt) {
    StatRecord* record = acquire("x");
    const std::string path = stat_path();
    struct stat status {};
    ASSERT_EQ(stat(path.c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 07777, 0600U);
    const int file = open(path.c_str(), O_RDWR | O_CLOEXEC);
    ASSERT_GE(file, 0);
    EXPECT_EQ(ftruncate(file, 0), -1);
    EXPECT_EQ(ftruncate(file, 1 << 30), -1);
    char byte = 1;
    EXPECT_EQ(pwrite(file, &byte, 1, 0), -1);
    EXPECT_EQ(mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0), MAP_FAILED);
    close(file);
    add_stat(record, Stat::Lost);
    EXPECT_EQ(read_stat()[0].at(Stat::Lost), 1U) << "its owner can";
    release_stat_record(record);
}

// Runs in a child of fork(); what it returns is its exit status.
template <typename Act>
int in_child(Act act) {
    const pid_t child = fork();
    if (child == 0) _exit(act());
    int status = 0;
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

TEST(StatFile, AForkedChildTouchesNothingOfItsParent) {
    StatRecord* record = acquire("parent");
    add_stat(record, Stat::Lost, 5);
    EXPECT_EQ(in_child([&] {
                  if (!stat_path().empty()) return 1;
                  add_stat(record, Stat::Lost, 100);
                  set_peer_life(record, PeerLife::Down, 1);
                  StatRecord* own = acquire("child");
                  if (!own || read_stat().size() != 1 || read_stat()[0].name != "child") return 2;
                  release_stat_record(record);
                  if (read_stat().size() != 1) return 3;
                  release_stat_record(own);
                  return stat_path().empty() ? 0 : 4;
              }),
              0);
    ASSERT_EQ(read_stat().size(), 1U);
    EXPECT_EQ(read_stat()[0].name, "parent");
    EXPECT_EQ(read_stat()[0].at(Stat::Lost), 5U);
    release_stat_record(record);
}

TEST(StatFile, NamesTheProcessThatMadeIt) {
    StatRecord* record = acquire("x");
    const int file = open(stat_path().c_str(), O_RDONLY | O_CLOEXEC);
    StatHeader header;
    ASSERT_EQ(pread(file, static_cast<void*>(&header), sizeof header, 0), static_cast<ssize_t>(sizeof header));
    close(file);
    EXPECT_EQ(header.pid, static_cast<uint32_t>(getpid()));
    EXPECT_EQ(memcmp(header.magic, kStatMagic, sizeof kStatMagic), 0);
    release_stat_record(record);
}

TEST(StatFile, WithoutADescriptorForItRecordsAreAsGoodForTheirOwners) {
    EXPECT_EQ(in_child([] {
                  const rlimit none{.rlim_cur = 0, .rlim_max = 0};
                  if (setrlimit(RLIMIT_NOFILE, &none)) return 1;
                  StatRecord* record = acquire("x");
                  if (!record) return 2;
                  add_stat(record, Stat::Lost);
                  const bool counted = record->get(Stat::Lost) == 1;
                  release_stat_record(record);
                  return counted ? 0 : 3;
              }),
              0);
}

// Under a limit of the size of files (ulimit -f) growing one beyond it is answered with SIGXFSZ.
TEST(StatFile, ALimitOfTheSizeOfFilesDoesNoHarm) {
    EXPECT_EQ(in_child([] {
                  const rlimit small{.rlim_cur = 4096, .rlim_max = 4096};
                  if (setrlimit(RLIMIT_FSIZE, &small)) return 1;
                  StatRecord* record = acquire("x");
                  if (!record || !stat_path().empty()) return 2;
                  release_stat_record(record);
                  return 0;
              }),
              0);
}

// The parameter is read once for a process: this is one of its own.
TEST(StatFile, IsNotMadeWhereItIsSwitchedOff) {
    EXPECT_EQ(in_child([] {
                  setenv("FI_SELVAGE_STAT", "0", 1);
                  execl("/proc/self/exe", "impl_test", "--gtest_filter=StatFile.DISABLED_SwitchedOff",
                        "--gtest_also_run_disabled_tests", "--gtest_brief=1", nullptr);
                  return 99;
              }),
              0);
}
TEST(StatFile, DISABLED_SwitchedOff) {
    StatRecord* record = acquire("x");
    EXPECT_EQ(stat_path(), "");
    ASSERT_NE(record, nullptr);
    add_stat(record, Stat::Lost);
    EXPECT_EQ(record->get(Stat::Lost), 1U);
    release_stat_record(record);
}

// Nothing of it outlives a process, however that ends.
TEST(StatFile, GoesWithAProcessThatIsKilled) {
    int ready[2];
    ASSERT_EQ(pipe(ready), 0);
    const pid_t child = fork();
    if (child == 0) {
        acquire("x");
        (void)!write(ready[1], "x", 1);
        for (;;) pause();
    }
    char byte;
    ASSERT_EQ(read(ready[0], &byte, 1), 1);
    const std::string path = stat_path(std::to_string(child));
    EXPECT_EQ(read_stat(path).size(), 1U);
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
    EXPECT_EQ(read_stat(path).size(), 0U);
    for (const auto& entry : std::filesystem::directory_iterator("/dev/shm")) {
        EXPECT_EQ(entry.path().string().find("selvage-stat"), std::string::npos) << entry.path();
    }
    close(ready[0]);
    close(ready[1]);
}

}  // namespace
}  // namespace selvage::impl::test
