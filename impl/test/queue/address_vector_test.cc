// Address vectors as the engine asks them: both ways, generations, identifiers of the user, a million entries.
#include <arpa/inet.h>
#include <malloc.h>
#include <sys/wait.h>
#include <time.h>

#include <algorithm>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "impl/av/av.h"
#include "impl/test/queue/place.h"

namespace selvage::impl::test {
namespace {

sockaddr_in inet(uint32_t number) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(0x0a000000 + number / 50000);
    address.sin_port = htons(static_cast<uint16_t>(1 + number % 50000));
    return address;
}

AvEntry entry_of(const sockaddr_in& address) {
    AvEntry entry;
    entry.socket.kind = AddressKind::Inet;
    entry.socket.v4 = address;
    return entry;
}

AvEntry text_entry(const char* text) {
    AvEntry entry;
    snprintf(entry.text, sizeof entry.text, "%s", text);
    return entry;
}

struct Vector {
    fid_av* fid = nullptr;
    explicit Vector(Place& place, const char* name = nullptr) {
        fi_av_attr attr{};
        attr.name = name;
        EXPECT_EQ(domain_open_av(&place.domain.descriptor, &attr, &fid, nullptr), 0);
    }
    ~Vector() { EXPECT_EQ(fi_close(&fid->fid), 0); }
    Vector(const Vector&) = delete;
    Vector& operator=(const Vector&) = delete;
    AddressVector* operator->() const { return AddressVector::of(fid); }
    fi_addr_t insert(uint32_t number, uint64_t flags = 0, fi_addr_t user = 0) {
        const sockaddr_in address = inet(number);
        EXPECT_EQ(fi_av_insert(fid, &address, 1, &user, flags, nullptr), 1);
        return user;
    }
    int remove(fi_addr_t address) { return fi_av_remove(fid, &address, 1, 0); }
    fi_addr_t reverse(uint32_t number) { return AddressVector::of(fid)->reverse(entry_of(inet(number))); }
};

TEST(AvBothWays, NumbersAndAddresses) {
    Place place;
    Vector av(place);
    for (uint32_t i = 0; i < 1000; ++i) ASSERT_EQ(av.insert(i), i);
    AvEntry found;
    ASSERT_TRUE(av->find_address(7, &found));
    EXPECT_EQ(found.socket.v4.sin_port, inet(7).sin_port);
    EXPECT_FALSE(av->find_address(1000, &found));
    EXPECT_FALSE(av->find_address(FI_ADDR_UNSPEC, &found));
    for (uint32_t i = 0; i < 1000; ++i) ASSERT_EQ(av.reverse(i), i);
    EXPECT_EQ(av.reverse(1000), FI_ADDR_NOTAVAIL);
    EXPECT_EQ(av.remove(3), 0);
    EXPECT_FALSE(av->find_address(3, &found));
    EXPECT_EQ(av.reverse(3), FI_ADDR_NOTAVAIL);
    EXPECT_EQ(av.insert(3), 3u);
    EXPECT_EQ(av.reverse(3), 3u);
}

TEST(AvBothWays, Texts) {
    Place place{{.kind = AddressKind::Shm}};
    Vector av(place);
    const char* names[] = {"fi_shm://one", "fi_shm://two"};
    fi_addr_t given[2];
    ASSERT_EQ(fi_av_insert(av.fid, names, 2, given, 0, nullptr), 2);
    EXPECT_EQ(av->reverse(text_entry("fi_shm://two")), given[1]);
    EXPECT_EQ(av->reverse(text_entry("fi_shm://tw")), FI_ADDR_NOTAVAIL);
    AvEntry full;
    memset(full.text, 'x', sizeof full.text);  // not terminated, as a peer may send it
    EXPECT_EQ(av->reverse(full), FI_ADDR_NOTAVAIL);
    AvEntry found;
    ASSERT_TRUE(av->find_address(given[0], &found));
    EXPECT_STREQ(found.text, "fi_shm://one");
}

TEST(AvBothWays, QueuePairs) {
    Place place({.kind = AddressKind::IbUd});
    place.domain.addr_format = FI_ADDR_IB_UD;
    Vector av(place);
    std::vector<IbAddress> peers(300);
    for (uint32_t i = 0; i < peers.size(); ++i) {
        peers[i].gid[0] = 0xfd;
        peers[i].gid[15] = static_cast<uint8_t>(i % 7);
        peers[i].queue_pair = 1 + i / 7;
    }
    std::vector<fi_addr_t> numbers(peers.size());
    ASSERT_EQ(fi_av_insert(av.fid, peers.data(), peers.size(), numbers.data(), 0, nullptr), 300);
    for (size_t i = 0; i < peers.size(); ++i) {
        AvEntry entry;
        ASSERT_TRUE(av->find_address(numbers[i], &entry));
        EXPECT_EQ(memcmp(&entry.socket.ib, &peers[i], sizeof peers[i]), 0);
        entry.socket.ib.partition_key = 7;  // what tells endpoints apart is port and queue pair
        EXPECT_EQ(av->reverse(entry), numbers[i]);
    }
    const IbAddress nobody{};
    fi_addr_t given;
    EXPECT_EQ(fi_av_insert(av.fid, &nobody, 1, &given, 0, nullptr), 0);
    // No name stands for one.
    EXPECT_EQ(fi_av_insertsvc(av.fid, "127.0.0.1", "7000", &given, 0, nullptr), 0);
    EXPECT_EQ(fi_av_insertsvc(av.fid, nullptr, "7000", &given, 0, nullptr), 0);
}

TEST(AvBothWays, IdentifiersOfTheUserAreReported) {
    Place place;
    Vector av(place);
    const fi_addr_t plain = av.insert(1);
    const fi_addr_t named = av.insert(2, FI_AV_USER_ID, 4711);
    EXPECT_EQ(named, 1u);
    EXPECT_EQ(av.reverse(1), plain);
    EXPECT_EQ(av.reverse(2), 4711u);
    EXPECT_EQ(av->match(entry_of(inet(2))).address, named);
    EXPECT_EQ(av->reported(named), 4711u);
    EXPECT_EQ(av->reported(plain), plain);
    EXPECT_EQ(av->reported(99), FI_ADDR_NOTAVAIL);
}

TEST(AvBothWays, TheScopeOfAnAddressMayBeOpen) {
    Place place{{.kind = AddressKind::Inet6}};
    place.domain.addr_format = FI_SOCKADDR_IN6;
    Vector av(place);
    sockaddr_in6 address{};
    address.sin6_family = AF_INET6;
    address.sin6_addr.s6_addr[0] = 0xfe;
    address.sin6_addr.s6_addr[1] = 0x80;
    address.sin6_addr.s6_addr[15] = 1;
    address.sin6_port = htons(5);
    address.sin6_scope_id = 2;
    fi_addr_t given;
    ASSERT_EQ(fi_av_insert(av.fid, &address, 1, &given, 0, nullptr), 1);
    AvEntry entry;
    entry.socket.kind = AddressKind::Inet6;
    entry.socket.v6 = address;
    entry.socket.v6.sin6_flowinfo = 9;
    entry.socket.v6.sin6_scope_id = 0;
    EXPECT_EQ(av->reverse(entry), given);
    entry.socket.v6.sin6_scope_id = 3;
    EXPECT_EQ(av->reverse(entry), FI_ADDR_NOTAVAIL);
}

TEST(AvBothWays, EveryChangeIsAGeneration) {
    Place place;
    Vector av(place);
    const uint32_t first = av->generation();
    EXPECT_NE(first, UINT32_MAX);
    av.insert(1);
    const uint32_t second = av->generation();
    EXPECT_NE(first, second);
    EXPECT_EQ(av.remove(0), 0);
    EXPECT_NE(av->generation(), second);
}

TEST(AvBothWays, OfEqualAddressesOneIsFound) {
    Place place;
    Vector av(place);
    for (fi_addr_t user = 0; user < 4; ++user) EXPECT_EQ(av.insert(5, FI_AV_USER_ID, user), user);
    av.insert(6);
    for (int left = 4; left > 0; --left) {
        const fi_addr_t found = av.reverse(5);
        ASSERT_LT(found, 4u);
        AvEntry entry;
        ASSERT_TRUE(av->find_address(found, &entry));
        EXPECT_EQ(av.remove(found), 0);
    }
    EXPECT_EQ(av.reverse(5), FI_ADDR_NOTAVAIL);
    EXPECT_EQ(av.reverse(6), 4u);
    EXPECT_EQ(av.insert(5), 0u);
    EXPECT_EQ(av.reverse(5), 0u);
}

TEST(AvBothWays, AnAddressInsertedAgainKeepsItsNumberUntilItIsRemovedAsOften) {
    Place place;
    Vector own(place);
    Vector shared(place, ("twice-" + std::to_string(getpid())).c_str());
    for (Vector* av : {&own, &shared}) {
        EXPECT_EQ(av->insert(5), 0u);
        EXPECT_EQ(av->insert(6), 1u);
        EXPECT_EQ(av->insert(5), 0u);
        const sockaddr_in twice[] = {inet(6), inet(7), inet(7)};
        fi_addr_t given[3];
        EXPECT_EQ(fi_av_insert(av->fid, twice, 3, given, 0, nullptr), 3);
        EXPECT_EQ(given[0], 1u);
        EXPECT_EQ(given[1], 2u);
        EXPECT_EQ(given[2], 2u);
        EXPECT_EQ(av->remove(0), 0);
        EXPECT_EQ(av->reverse(5), 0u);
        EXPECT_EQ(av->remove(0), 0);
        EXPECT_EQ(av->reverse(5), FI_ADDR_NOTAVAIL);
        EXPECT_EQ(av->remove(0), -FI_EINVAL);
        EXPECT_EQ(fi_av_remove(av->fid, &given[1], 2, 0), 0) << "once for each of them";
        EXPECT_EQ(av->reverse(7), FI_ADDR_NOTAVAIL);
        EXPECT_EQ(av->reverse(6), 1u);
    }
}

// Against a plain table of what is in which place, with and without addresses that are there twice, each time with an
// identifier of its own.
void compare_with_table(bool duplicates) {
    Place place;
    Vector av(place);
    std::vector<int64_t> model;  // place -> number, -1 when free
    std::mt19937 random(7);
    for (int step = 0; step < 60000; ++step) {
        const auto number = static_cast<uint32_t>(random() % 300);
        const bool there = std::find(model.begin(), model.end(), number) != model.end();
        if (random() % 2 && (duplicates || !there)) {
            auto free = std::find(model.begin(), model.end(), -1);
            if (free == model.end()) free = model.insert(model.end(), -1);
            *free = number;
            const auto index = static_cast<fi_addr_t>(free - model.begin());
            ASSERT_EQ(duplicates ? av.insert(number, FI_AV_USER_ID, index) : av.insert(number), index);
        } else if (!model.empty()) {
            const size_t index = random() % model.size();
            ASSERT_EQ(av.remove(index), model[index] < 0 ? -FI_EINVAL : 0);
            model[index] = -1;
        }
        const auto requested = static_cast<uint32_t>(random() % 300);
        const fi_addr_t found = av.reverse(requested);
        if (found == FI_ADDR_NOTAVAIL) {
            ASSERT_EQ(std::find(model.begin(), model.end(), requested), model.end()) << step;
        } else {
            ASSERT_EQ(model.at(found), requested) << step;
        }
    }
}

TEST(AvBothWays, AgreeWithASimpleTable) { compare_with_table(false); }
TEST(AvBothWays, AgreeWithASimpleTableOfDuplicates) { compare_with_table(true); }

TEST(AvShared, OtherProcessesChangesAreSeen) {
    const std::string name = "queue-test-" + std::to_string(getpid());
    Place place;
    Vector av(place, name.c_str());
    av.insert(0);
    EXPECT_EQ(av.reverse(0), 0u);
    const uint32_t before = av->generation();
    const pid_t child = fork();
    if (child == 0) {
        Vector mine(place, name.c_str());
        for (uint32_t i = 1; i < 3000; ++i) mine.insert(i);
        bool good = mine.reverse(2999) == 2999;
        good = mine.remove(7) == 0 && good;
        good = mine.insert(9999) == 7 && good;
        good = mine.remove(8) == 0 && good;
        _exit(good ? 0 : 1);
    }
    int status = -1;
    waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
    EXPECT_NE(av->generation(), before);
    for (uint32_t i = 0; i < 3000; ++i) {
        const fi_addr_t expected = i == 7 || i == 8 ? FI_ADDR_NOTAVAIL : i;
        ASSERT_EQ(av.reverse(i), expected) << i;
    }
    EXPECT_EQ(av.reverse(9999), 7u);
    EXPECT_EQ(av.insert(8), 8u);
    EXPECT_EQ(av.insert(3000), 3000u);
    EXPECT_EQ(av.reverse(3000), 3000u);
}

TEST(AvThreads, LookWhileOthersInsert) {
    Place place;
    Vector av(place);
    std::thread writer([&] {
        for (uint32_t i = 0; i < 20000; ++i) av.insert(i);
    });
    AvEntry entry;
    uint32_t seen = 0;
    while (seen < 20000) {
        const uint32_t generation = av->generation();
        while (seen < 20000 && av->find_address(seen, &entry)) {
            ASSERT_EQ(av.reverse(seen), seen);
            ++seen;
        }
        ASSERT_LE(generation, av->generation());
    }
    writer.join();
}

// Of this thread's processor time, since the machine may be busy with other things.
template <typename Action>
double nanoseconds_each(size_t count, Action action) {
    const auto now = [] {
        timespec time;
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
        return static_cast<double>(time.tv_sec) * 1e9 + static_cast<double>(time.tv_nsec);
    };
    const double start = now();
    for (size_t i = 0; i < count; ++i) action(static_cast<uint32_t>(i));
    return (now() - start) / static_cast<double>(count);
}

TEST(AvMillion, EveryOperationTakesLessThanAMicrosecond) {
    constexpr uint32_t kMillion = 1'000'000;
    Place place;
    Vector av(place);
    std::vector<fi_addr_t> given(kMillion);
    std::vector<uint32_t> order(kMillion);
    for (uint32_t i = 0; i < kMillion; ++i) order[i] = i;
    std::shuffle(order.begin(), order.end(), std::mt19937(1));
    const struct mallinfo2 start = mallinfo2();
    const double insert = nanoseconds_each(kMillion, [&](uint32_t i) { given[i] = av.insert(i); });
    const struct mallinfo2 full = mallinfo2();
    const double memory =
        static_cast<double>(full.uordblks + full.hblkhd - start.uordblks - start.hblkhd) / double{kMillion};
    AvEntry entry;
    const double find =
        nanoseconds_each(kMillion, [&](uint32_t i) { ASSERT_TRUE(av->find_address(order[i], &entry)); });
    const double reverse = nanoseconds_each(kMillion, [&](uint32_t i) { ASSERT_EQ(av.reverse(order[i]), order[i]); });
    // Half of them leave, in no order, and come back.
    const double remove = nanoseconds_each(kMillion / 2, [&](uint32_t i) { ASSERT_EQ(av.remove(order[i]), 0); });
    const double again = nanoseconds_each(kMillion / 2, [&](uint32_t i) { av.insert(i + kMillion); });
    printf(
        "per entry of a million: insert %.0f ns, find %.0f ns, reverse %.0f ns, remove %.0f ns, insert again %.0f ns, "
        "%.0f bytes\n",
        insert, find, reverse, remove, again, memory);
#if defined(NDEBUG) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
    EXPECT_LT(insert, 1000);
    EXPECT_LT(again, 1000);
    EXPECT_LT(find, 1000);
    EXPECT_LT(reverse, 1000);
    EXPECT_LT(remove, 1000);
    EXPECT_LT(memory, 128);
#endif
}

}  // namespace
}  // namespace selvage::impl::test
