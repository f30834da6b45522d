// Watching allocations, guarded buffers and surviving crashes.
#include <gtest/gtest.h>
#include <malloc.h>
#include <netdb.h>

#include <csignal>
#include <cstdlib>
#include <cstring>

#include "conformance/harness/guard.h"
#include "conformance/test/subject_util.h"

namespace selvage::conformance {
namespace {

#define SKIP_IF_SANITIZED() \
    if (!allocations_available()) GTEST_SKIP() << "the sanitizer has its own allocator"

TEST(Allocations, CountsEveryKind) {
    SKIP_IF_SANITIZED();
    Allocations seen;
    void* volatile blocks[8] = {};
    {
        const InsideSubject scope(&seen);
        blocks[0] = std::malloc(10);
        blocks[1] = std::calloc(2, 10);
        blocks[2] = std::realloc(nullptr, 10);
        void* aligned = nullptr;
        if (posix_memalign(&aligned, 64, 64) == 0) blocks[3] = aligned;
        blocks[4] = std::aligned_alloc(64, 64);
        blocks[5] = memalign(64, 64);
        blocks[6] = strdup("text");
        blocks[7] = new char[100];
        blocks[0] = std::realloc(blocks[0], 1000);
        std::free(nullptr);
    }
    EXPECT_EQ(seen.allocated, 8U);
    EXPECT_EQ(seen.tried, 9U);
    EXPECT_EQ(seen.freed, 0U);
    {
        const InsideSubject scope(&seen);
        for (int i = 0; i < 7; ++i) std::free(blocks[i]);
        delete[] static_cast<char*>(blocks[7]);
    }
    EXPECT_EQ(seen.left(), 0);
    void* volatile outside = std::malloc(1);
    std::free(outside);
    EXPECT_EQ(seen.allocated, 8U);
}

TEST(Allocations, SeeInsideTheCLibrary) {
    SKIP_IF_SANITIZED();
    Allocations seen;
    addrinfo hints = {};
    hints.ai_flags = AI_NUMERICHOST;
    addrinfo* list = nullptr;
    {
        const InsideSubject scope(&seen);
        ASSERT_EQ(getaddrinfo("127.0.0.1", "7", &hints, &list), 0);
    }
    EXPECT_GT(seen.allocated, 0U);
    {
        const InsideSubject scope(&seen);
        freeaddrinfo(list);
    }
    EXPECT_EQ(seen.left(), 0);
}

TEST(Allocations, FailTheOneAskedFor) {
    SKIP_IF_SANITIZED();
    Allocations seen;
    seen.fail_at = 2;
    void* volatile blocks[3] = {};
    {
        const InsideSubject scope(&seen);
        blocks[0] = std::malloc(1);
        errno = 0;
        blocks[1] = std::calloc(1, 1);
        EXPECT_EQ(errno, ENOMEM);
        blocks[2] = std::malloc(1);
    }
    EXPECT_NE(blocks[0], nullptr);
    EXPECT_EQ(blocks[1], nullptr);
    EXPECT_NE(blocks[2], nullptr);
    EXPECT_TRUE(seen.failed);
    std::free(blocks[0]);
    std::free(blocks[2]);
}

/// Blocks left after asking the misbehaving library in a mood 10 times, with its n-th allocation failing; the last
/// return.
std::string left_after(const std::string& node, std::uint64_t fail_at) {
    const Seen seen = in_child([&](Channel& c) {
        std::string error;
        const auto library = Library::open(broken_library("misbehaving"), error);
        Caller caller(*library);
        const model::Query q = mood(node);
        caller.prepare({&q, 1});
        Allocations total;
        int ret = 0;
        for (int i = 0; i < 10; ++i) {
            Allocations once;
            once.fail_at = fail_at;
            caller.watch(&once);
            ret = caller.issue_raw(0);
            total.allocated += once.allocated;
            total.freed += once.freed;
        }
        c.send(std::to_string(total.left()) + " " + std::to_string(ret));
    });
    return seen.records.size() == 1 ? seen.records[0] : "no answer";
}

TEST(Allocations, TellLeaksOfALibrary) {
    SKIP_IF_SANITIZED();
    EXPECT_EQ(left_after("", 0), "0 0");
    EXPECT_EQ(left_after("leak", 0), "10 0");
    for (std::uint64_t n = 1; n <= 14; ++n) EXPECT_EQ(left_after("", n), "0 -12") << n;
    EXPECT_EQ(left_after("", 15), "0 0");
    EXPECT_EQ(left_after("leak when out of memory", 8), "70 -12");
}

TEST(Allocations, AskCountsOnlyTheLibrary) {
    SKIP_IF_SANITIZED();
    const Seen seen = in_child([&](Channel& c) {
        std::string error;
        const auto library = Library::open(broken_library("misbehaving"), error);
        Caller caller(*library);
        Allocations once;
        caller.watch(&once);
        const Issued issued = caller.issue(mood(""));
        c.send(std::to_string(once.allocated) + " " + std::to_string(once.left()) + " " +
               std::to_string(issued.answer.offers.size()));
    });
    ASSERT_EQ(seen.records.size(), 1U);
    EXPECT_EQ(seen.records[0], "14 0 2");
}

TEST(Guard, ViewEndsAtTheGuardPage) {
    GuardedBuffer buffer(100);
    char* const view = buffer.take(100, 'x');
    EXPECT_EQ(view[0], 'x');
    EXPECT_EQ(view[99], 'x');
    EXPECT_TRUE(buffer.guards(view + 100));
    EXPECT_FALSE(buffer.guards(view + 99));
    EXPECT_TRUE(buffer.intact());
    char* volatile before = view - 1;
    *before = 'y';
    EXPECT_FALSE(buffer.intact());
    buffer.take(50);
    EXPECT_TRUE(buffer.intact());
    EXPECT_TRUE(buffer.guards(buffer.take(0)));
    EXPECT_THROW(buffer.take(101), std::length_error);
}

TEST(Guard, AnyCapacity) {
    for (const std::size_t capacity : {0U, 1U, 4095U, 4096U, 4097U, 100'000U}) {
        GuardedBuffer buffer(capacity);
        std::memset(buffer.take(capacity), 1, capacity);
        EXPECT_TRUE(buffer.intact());
    }
}

TEST(Survive, TellsTheSignal) {
    const Seen seen = in_child([](Channel& c) {
        GuardedBuffer buffer(16);
        char* const view = buffer.take(16);
        const auto say = [&](int signal) { c.send(std::to_string(signal)); };
        say(survive([] {}));
        say(survive([&] { std::memset(view, 'x', 16); }));
        for (int i = 0; i < 3; ++i) say(survive([&] { *static_cast<volatile char*>(view + 16) = 1; }));
        say(survive([] { std::abort(); }));
        say(survive([] { std::raise(SIGFPE); }));
        // The innermost one lands.
        say(survive([&] { say(survive([] { std::raise(SIGILL); })); }));
    });
    const auto text = [](int s) { return std::to_string(s); };
    EXPECT_EQ(seen.records, (std::vector<std::string>{"0", "0", text(SIGSEGV), text(SIGSEGV), text(SIGSEGV),
                                                      text(SIGABRT), text(SIGFPE), text(SIGILL), "0"}));
    EXPECT_EQ(seen.ending.kind, Ending::Kind::Done);
}

TEST(Survive, LeavesTheSubject) {
    const Seen seen = in_child([](Channel& c) {
        Allocations seen_inside;
        survive([&] {
            const InsideSubject scope(&seen_inside);
            std::raise(SIGSEGV);
        });
        c.send(subject_allocations() == nullptr ? "outside" : "inside");
    });
    EXPECT_EQ(seen.records, std::vector<std::string>{"outside"});
}

TEST(Survive, CarelessTostrHitsTheGuardPage) {
    const Seen seen = in_child([](Channel& c) {
        std::string error;
        const auto library = Library::open(broken_library("misbehaving"), error);
        GuardedBuffer buffer(64);
        for (const std::size_t length : {std::size_t{64}, std::size_t{25}, std::size_t{24}, std::size_t{0}}) {
            char* const view = buffer.take(length);
            c.send(std::to_string(survive([&] { library->entries().tostr_r(view, length, nullptr, 0); })));
        }
    });
    EXPECT_EQ(seen.records, (std::vector<std::string>{"0", "0", "11", "11"}));
}

}  // namespace
}  // namespace selvage::conformance
