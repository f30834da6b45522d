// Shared address vectors while another process of the user writes anything into their file: no crash, no access outside
// of what is mapped (under AddressSanitizer, too), and no call that never returns.
#include <arpa/inet.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <chrono>
#include <filesystem>
#include <random>
#include <string>

#include "impl/av/av.h"
#include "impl/test/queue/place.h"

namespace selvage::impl::test {
namespace {

using std::chrono::steady_clock;

constexpr auto kTime = std::chrono::milliseconds(1500);

std::string file_of(const std::string& name) {
    for (const auto& file : std::filesystem::directory_iterator("/dev/shm")) {
        const std::string found = file.path().filename().string();
        if (found.starts_with("selvage-av-") && found.ends_with(name)) return file.path().string();
    }
    return "";
}

uint64_t nasty(std::mt19937_64& random) {
    const uint64_t values[] = {0,
                               1,
                               2,
                               63,
                               64,
                               65,
                               4096,
                               UINT32_MAX,
                               uint64_t{1} << 31,
                               uint64_t{1} << 40,
                               UINT64_MAX,
                               UINT64_MAX / 2,
                               random() % 100,
                               random() % 5000,
                               random()};
    return values[random() % std::size(values)];
}

// Writes until it is killed: mostly into the header, where the counts are, and into the slots.
[[noreturn]] void scribble(const std::string& file, unsigned seed) {
    const int opened = open(file.c_str(), O_RDWR);
    std::mt19937_64 random(seed);
    for (;;) {
        struct stat status;
        if (opened < 0 || fstat(opened, &status)) _exit(1);
        const auto size = static_cast<size_t>(status.st_size);
        void* mapped = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, opened, 0);
        if (mapped == MAP_FAILED) _exit(2);
        auto* words = static_cast<volatile uint64_t*>(mapped);
        const size_t count = size / sizeof *words;
        const size_t tail = std::min<size_t>(count, 8192);
        for (int i = 0; i < 20000; ++i) {
            const size_t at = random() % 2   ? random() % 24
                              : random() % 4 ? count - 1 - random() % tail
                                             : random() % 512;
            words[at] = nasty(random);
            if (i % 64 == 0) usleep(1);
        }
        munmap(mapped, size);
    }
}

// The address of a number, as the application gives it and as the library holds it.
struct Address {
    Address(AddressKind kind, uint32_t number)
        : text("fi_shm://peer-" + std::to_string(number)), pointer(text.c_str()) {
        socket.sin_family = AF_INET;
        socket.sin_addr.s_addr = htonl(0x7f000001);
        socket.sin_port = htons(static_cast<uint16_t>(number + 1));
        if (kind == AddressKind::Shm) {
            snprintf(entry.text, sizeof entry.text, "%s", pointer);
            given = &pointer;
        } else {
            entry.socket.kind = AddressKind::Inet;
            entry.socket.v4 = socket;
            given = &socket;
        }
    }
    std::string text;
    const char* pointer;
    sockaddr_in socket{};
    const void* given;
    AvEntry entry;
};

// What is found is an address of the domain's kind, whatever is in the file.
void expect_valid(const AvEntry& found, AddressKind kind) {
    if (kind == AddressKind::Shm) {
        ASSERT_TRUE(memchr(found.text, 0, sizeof found.text));
        ASSERT_FALSE(strchr(found.text + kShmScheme.size(), '/')) << found.text;
    } else {
        ASSERT_EQ(found.socket.kind, AddressKind::Inet);
        ASSERT_EQ(found.socket.v4.sin_family, AF_INET);
    }
}

// One call, whatever it answers.
void call(fid_av* av, AddressKind kind, unsigned choice, uint32_t number) {
    Address address(kind, number);
    fi_addr_t given = number;
    char bytes[kAddressBytesMax];
    size_t length = sizeof bytes;
    switch (choice) {
        case 0:
        case 1:
            fi_av_insert(av, address.given, 1, &given, 0, nullptr);
            break;
        case 2:
            fi_av_remove(av, &given, 1, 0);
            break;
        case 3:
            if (fi_av_lookup(av, number, bytes, &length)) break;
            EXPECT_LE(length, sizeof bytes);
            break;
        case 4:
            AddressVector::of(av)->match(address.entry);
            break;
        default:
            if (AddressVector::of(av)->find_address(number, &address.entry)) expect_valid(address.entry, kind);
    }
}

void open_or_close(Place& place, const std::string& name, fid_av** av) {
    if (*av) {
        fi_close(&(*av)->fid);
        *av = nullptr;
        return;
    }
    fi_av_attr attr{};
    attr.name = name.c_str();
    if (domain_open_av(&place.domain.descriptor, &attr, av, nullptr)) *av = nullptr;
}

void use(Place& place, const std::string& name, AddressKind kind, unsigned seed) {
    std::mt19937 random(seed);
    fid_av* vectors[2] = {};
    const auto end = steady_clock::now() + kTime;
    while (steady_clock::now() < end && !testing::Test::HasFailure()) {
        fid_av*& av = vectors[random() % 2];
        if (!av || random() % 500 == 0) open_or_close(place, name, &av);
        if (av) call(av, kind, static_cast<unsigned>(random() % 6), static_cast<uint32_t>(random() % 2000));
    }
    for (fid_av* av : vectors) {
        if (av) fi_close(&av->fid);
    }
}

class HostileVector : public testing::TestWithParam<AddressKind> {};

TEST_P(HostileVector, WhatAnotherProcessWritesIntoTheFileHarmsNobody) {
    const std::string name = "hostile-" + std::to_string(getpid());
    Place place{{.kind = GetParam()}};
    fi_av_attr attr{};
    attr.name = name.c_str();
    fid_av* keeper = nullptr;  // so that the file stays
    ASSERT_EQ(domain_open_av(&place.domain.descriptor, &attr, &keeper, nullptr), 0);
    const std::string file = file_of(name);
    const pid_t scribbler = fork();
    if (scribbler == 0) scribble(file, 1);
    const pid_t user = fork();
    if (user == 0) {
        alarm(60);  // a lock that is never free
        use(place, name, GetParam(), 2);
        _exit(testing::Test::HasFailure() ? 1 : 0);
    }
    int status = -1;
    waitpid(user, &status, 0);
    kill(scribbler, SIGKILL);
    waitpid(scribbler, nullptr, 0);
    unlink(file.c_str());
    EXPECT_EQ(status, 0);
    EXPECT_EQ(fi_close(&keeper->fid), 0);
}
INSTANTIATE_TEST_SUITE_P(, HostileVector, testing::Values(AddressKind::Inet, AddressKind::Shm),
                         [](const auto& kind) { return kind.param == AddressKind::Shm ? "texts" : "sockets"; });

// A child of fork has its parent's file open: its locks are its own all the same, and its close leaves the file.
TEST(SharedVectorAndFork, ParentAndChildExcludeEachOther) {
    const std::string name = "forked-" + std::to_string(getpid());
    Place place;
    fi_av_attr attr{};
    attr.name = name.c_str();
    fid_av* av = nullptr;
    ASSERT_EQ(domain_open_av(&place.domain.descriptor, &attr, &av, nullptr), 0);
    const auto insert = [&](uint32_t first) {
        int wrong = 0;
        for (uint32_t i = 0; i < 3000; ++i) {
            sockaddr_in address{};
            address.sin_family = AF_INET;
            address.sin_addr.s_addr = htonl(0x0a000000 + i / 50000);
            address.sin_port = htons(static_cast<uint16_t>(first + i));
            wrong += fi_av_insert(av, &address, 1, nullptr, 0, nullptr) != 1;
        }
        return wrong;
    };
    const pid_t child = fork();
    if (child == 0) {
        const int wrong = insert(20000);
        _exit(wrong || fi_close(&av->fid) ? 1 : 0);
    }
    EXPECT_EQ(insert(1), 0);
    int status = -1;
    waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
    AvEntry entry;
    for (fi_addr_t i = 0; i < 6000; ++i) ASSERT_TRUE(AddressVector::of(av)->find_address(i, &entry)) << i;
    EXPECT_FALSE(AddressVector::of(av)->find_address(6000, &entry)) << "none was overwritten";
    EXPECT_NE(file_of(name), "");
    EXPECT_EQ(fi_close(&av->fid), 0);
    EXPECT_EQ(file_of(name), "");
}

}  // namespace
}  // namespace selvage::impl::test
