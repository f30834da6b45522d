// Address vectors: indices, formats, names of hosts and services, asynchronous insertion, sharing between processes.
#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <vector>

#include "impl/test/library/objects.h"

namespace selvage::test {
namespace {

sockaddr_in inet(const char* host, uint16_t port) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    inet_pton(AF_INET, host, &address.sin_addr);
    address.sin_port = htons(port);
    return address;
}

// A tcp domain of the loopback interface, IPv4.
struct Loopback : Network {
    Loopback() : Network("none") {
        InfoPtr hints = make_hints("tcp", FI_EP_RDM);
        Answer answer = getinfo(hints, "127.0.0.1", nullptr, FI_SOURCE);
        info = std::move(answer.list);
        result = answer.result;
        if (!result) result = fi_fabric(info->fabric_attr, fabric.out(), nullptr);
        if (!result) result = fi_domain(fabric.get(), info.get(), domain.out(), nullptr);
    }
};

TEST(AddressVectorTest, IndicesCountUpAndFreeOnesAreUsedAgain) {
    Loopback setup;
    ASSERT_EQ(setup.result, 0);
    fi_av_attr attr{};
    Opened<fid_av> av;
    ASSERT_EQ(fi_av_open(setup.domain.get(), &attr, av.out(), nullptr), 0);
    EXPECT_EQ(attr.type, FI_AV_TABLE);
    std::vector<sockaddr_in> addresses;
    for (uint16_t i = 1; i <= 1000; ++i) addresses.push_back(inet("127.0.0.1", i));
    std::vector<fi_addr_t> given(addresses.size());
    EXPECT_EQ(fi_av_insert(av.get(), addresses.data(), addresses.size(), given.data(), 0, nullptr), 1000);
    for (size_t i = 0; i < given.size(); ++i) EXPECT_EQ(given[i], i);
    sockaddr_in found;
    size_t length = sizeof found;
    EXPECT_EQ(fi_av_lookup(av.get(), 499, &found, &length), 0);
    EXPECT_EQ(length, sizeof found);
    EXPECT_EQ(ntohs(found.sin_port), 500);
    fi_addr_t gone[] = {10, 5};
    EXPECT_EQ(fi_av_remove(av.get(), gone, 2, 0), 0);
    EXPECT_EQ(fi_av_lookup(av.get(), 5, &found, &length), -FI_EINVAL);
    EXPECT_EQ(fi_av_lookup(av.get(), 1000, &found, &length), -FI_EINVAL);
    EXPECT_EQ(fi_av_lookup(av.get(), FI_ADDR_NOTAVAIL, &found, &length), -FI_EINVAL);
    EXPECT_EQ(fi_av_remove(av.get(), gone, 1, 0), -FI_EINVAL);
    fi_addr_t again;
    EXPECT_EQ(fi_av_insert(av.get(), &addresses[5], 1, &again, 0, nullptr), 1);
    EXPECT_EQ(again, 5u);
    EXPECT_EQ(fi_av_insert(av.get(), addresses.data(), 0, &again, 0, nullptr), 0);
    EXPECT_EQ(fi_av_insert(av.get(), addresses.data(), 1, &again, 1, nullptr), -FI_EBADFLAGS);
}

TEST(AddressVectorTest, FailuresAreToldOneByOne) {
    Loopback setup;
    fi_av_attr attr{};
    Opened<fid_av> av;
    ASSERT_EQ(fi_av_open(setup.domain.get(), &attr, av.out(), nullptr), 0);
    sockaddr_in addresses[] = {inet("127.0.0.1", 1), inet("127.0.0.1", 0), inet("127.0.0.1", 3)};
    addresses[2].sin_family = AF_INET6;
    fi_addr_t given[3];
    int errors[3];
    EXPECT_EQ(fi_av_insert(av.get(), addresses, 3, given, FI_SYNC_ERR, errors), 1);
    EXPECT_EQ(given[0], 0u);
    EXPECT_EQ(given[1], FI_ADDR_NOTAVAIL);
    EXPECT_EQ(given[2], FI_ADDR_NOTAVAIL);
    EXPECT_EQ(errors[0], 0);
    EXPECT_NE(errors[1], 0);
}

TEST(AddressVectorTest, ServicesAndSymmetricRanges) {
    Loopback setup;
    fi_av_attr attr{};
    Opened<fid_av> av;
    ASSERT_EQ(fi_av_open(setup.domain.get(), &attr, av.out(), nullptr), 0);
    fi_addr_t given[4];
    EXPECT_EQ(fi_av_insertsvc(av.get(), "127.0.0.1", "77", given, 0, nullptr), 1);
    EXPECT_EQ(fi_av_insertsvc(av.get(), "fi_sockaddr_in://127.0.0.9:78", nullptr, given, 0, nullptr), 1);
    EXPECT_EQ(fi_av_insertsym(av.get(), "127.0.0.1", 2, "5000", 2, given, 0, nullptr), 4);
    const char* expected[] = {"127.0.0.1:5000", "127.0.0.1:5001", "127.0.0.2:5000", "127.0.0.2:5001"};
    for (int i = 0; i < 4; ++i) {
        sockaddr_in found;
        size_t length = sizeof found;
        ASSERT_EQ(fi_av_lookup(av.get(), given[i], &found, &length), 0);
        char text[64];
        size_t room = sizeof text;
        EXPECT_EQ(fi_av_straddr(av.get(), &found, text, &room), text);
        EXPECT_EQ(std::string(text), std::string("fi_sockaddr_in://") + expected[i]);
        EXPECT_EQ(room, strlen(text) + 1);
    }
}

TEST(AddressVectorTest, TextAddressesArePointers) {
    Network setup("shm");
    fi_av_attr attr{};
    attr.type = FI_AV_MAP;
    Opened<fid_av> av;
    ASSERT_EQ(fi_av_open(setup.domain.get(), &attr, av.out(), nullptr), 0);
    const char* names[] = {"fi_shm://one", "fi_shm://:two", "fi_sockaddr_in://127.0.0.1:1"};
    fi_addr_t given[3];
    EXPECT_EQ(fi_av_insert(av.get(), names, 3, given, 0, nullptr), 2);
    char text[64] = "";
    size_t length = 4;
    EXPECT_EQ(fi_av_lookup(av.get(), given[0], text, &length), 0);
    EXPECT_EQ(length, sizeof "fi_shm://one");
    EXPECT_EQ(fi_av_lookup(av.get(), given[0], text, &length), 0);
    EXPECT_STREQ(text, "fi_shm://one");
    EXPECT_EQ(fi_av_insert(av.get(), names, 1, nullptr, 0, nullptr), -FI_EINVAL);
}

TEST(AddressVectorTest, TextsThatStandOneBehindTheOtherAreTakenToo) {
    Network setup("shm");
    fi_av_attr attr{};
    Opened<fid_av> av;
    ASSERT_EQ(fi_av_open(setup.domain.get(), &attr, av.out(), nullptr), 0);
    constexpr char kTexts[] = "fi_shm://one\0fi_shm://two";
    fi_addr_t given[2];
    ASSERT_EQ(fi_av_insert(av.get(), kTexts, 2, given, 0, nullptr), 2);
    char text[64] = "";
    size_t length = sizeof text;
    EXPECT_EQ(fi_av_lookup(av.get(), given[1], text, &length), 0);
    EXPECT_STREQ(text, "fi_shm://two");
}

TEST(AddressVectorTest, AsynchronousInsertion) {
    Loopback setup;
    fi_av_attr attr{};
    attr.flags = FI_EVENT;
    Opened<fid_eq> eq;
    Opened<fid_av> av;
    ASSERT_EQ(fi_eq_open(setup.fabric.get(), nullptr, eq.out(), nullptr), 0);
    ASSERT_EQ(fi_av_open(setup.domain.get(), &attr, av.out(), nullptr), 0);
    const sockaddr_in addresses[] = {inet("127.0.0.1", 1), inet("127.0.0.1", 0), inet("127.0.0.1", 3)};
    fi_addr_t given[3];
    int context;
    EXPECT_EQ(fi_av_insert(av.get(), addresses, 3, given, 0, &context), -FI_ENOEQ);
    ASSERT_EQ(fi_av_bind(av.get(), eq.base(), 0), 0);
    ASSERT_EQ(fi_av_insert(av.get(), addresses, 3, given, 0, &context), 0);
    uint32_t type;
    fi_eq_entry entry;
    EXPECT_EQ(fi_eq_read(eq.get(), &type, &entry, sizeof entry, 0), -FI_EAVAIL);
    fi_eq_err_entry error{};
    ASSERT_EQ(fi_eq_readerr(eq.get(), &error, 0), static_cast<ssize_t>(sizeof error));
    EXPECT_EQ(error.data, 1u);
    EXPECT_EQ(error.context, &context);
    EXPECT_EQ(error.fid, av.base());
    ASSERT_EQ(fi_eq_read(eq.get(), &type, &entry, sizeof entry, 0), static_cast<ssize_t>(sizeof entry));
    EXPECT_EQ(type, static_cast<uint32_t>(FI_AV_COMPLETE));
    EXPECT_EQ(entry.data, 2u);
    EXPECT_EQ(given[1], FI_ADDR_NOTAVAIL);
    EXPECT_EQ(av.close(), 0);
    EXPECT_EQ(eq.close(), 0);
}

// Of this name: others of this machine have theirs.
size_t shared_files(const std::string& name) {
    size_t count = 0;
    for (const auto& file : std::filesystem::directory_iterator("/dev/shm")) {
        const std::string found = file.path().filename().string();
        count += found.starts_with("selvage-av-") && found.ends_with(name);
    }
    return count;
}

TEST(AddressVectorTest, NamedVectorsAreSharedAndRemoved) {
    const std::string name = "test-" + std::to_string(getpid());
    Loopback setup;
    fi_av_attr attr{};
    attr.name = name.c_str();
    attr.flags = FI_READ;
    Opened<fid_av> av;
    EXPECT_EQ(fi_av_open(setup.domain.get(), &attr, av.out(), nullptr), -FI_ENOENT);
    attr.flags = 0;
    ASSERT_EQ(fi_av_open(setup.domain.get(), &attr, av.out(), nullptr), 0);
    ASSERT_TRUE(attr.map_addr);
    EXPECT_EQ(shared_files(name), 1u);
    int ready[2];
    ASSERT_EQ(pipe(ready), 0);
    const pid_t child = fork();
    if (child == 0) {
        int failures = 0;
        fi_av_attr other{};
        other.name = name.c_str();
        fid_av* shared = nullptr;
        failures += fi_av_open(setup.domain.get(), &other, &shared, nullptr) != 0;
        for (uint16_t i = 1; i <= 500; ++i) {
            const sockaddr_in address = inet("127.0.0.1", i);
            failures += fi_av_insert(shared, &address, 1, nullptr, 0, nullptr) != 1;
        }
        // The i-th address, as programs take it.
        const auto* addresses = static_cast<const fi_addr_t*>(other.map_addr);
        for (fi_addr_t i = 0; i < 500; ++i) failures += addresses[i] != i;
        _exit(failures);  // without closing
    }
    int status = -1;
    waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
    sockaddr_in found;
    size_t length = sizeof found;
    EXPECT_EQ(fi_av_lookup(av.get(), 499, &found, &length), 0);
    EXPECT_EQ(ntohs(found.sin_port), 500);
    for (fi_addr_t i = 0; i < 500; ++i) ASSERT_EQ(static_cast<const fi_addr_t*>(attr.map_addr)[i], i);
    fi_av_attr reader{};
    reader.name = name.c_str();
    reader.flags = FI_READ;
    Opened<fid_av> read_only;
    ASSERT_EQ(fi_av_open(setup.domain.get(), &reader, read_only.out(), nullptr), 0);
    const sockaddr_in address = inet("127.0.0.1", 9);
    EXPECT_EQ(fi_av_insert(read_only.get(), &address, 1, nullptr, 0, nullptr), -FI_EACCES);
    EXPECT_EQ(read_only.close(), 0);
    EXPECT_EQ(av.close(), 0);
    EXPECT_EQ(shared_files(name), 0u);
    close(ready[0]);
    close(ready[1]);
}

}  // namespace
}  // namespace selvage::test
